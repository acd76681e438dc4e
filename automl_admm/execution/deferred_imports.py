"""Load some modules at their first use, not at their import: a quarter of what scikit-learn costs.

scikit-learn, SciPy and joblib import them for functions that a first pipeline never calls. It is
for programs of our own: the modules of anybody else's process are not ours to delay.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import spec_from_loader
from inspect import currentframe
from threading import RLock
from types import FrameType, ModuleType
from typing import Any

# Modules, and the importers that take a name from them and use it only within their functions.
# Whoever else takes a name loads the module and gets the object itself: an importer that is
# missing here, as of another version of scikit-learn, only costs the time.
DEFERRED: Mapping[str, frozenset[str]] = {
    "asyncio": frozenset(),
    "numpy.f2py": frozenset(),
    "numpy.testing": frozenset(),
    "scipy.fft": frozenset({"sklearn.kernel_approximation"}),
    "scipy.interpolate": frozenset({"sklearn.preprocessing._polynomial"}),
    "scipy.linalg.interpolative": frozenset({"scipy.optimize._remove_redundancy"}),
    "scipy.ndimage": frozenset(),
    "scipy.spatial.transform": frozenset(),
    "scipy.stats": frozenset(
        {
            "sklearn._loss.link",
            "sklearn.covariance._robust_covariance",
            "sklearn.isotonic",
            "sklearn.metrics._ranking",
            "sklearn.model_selection._search",
        }
    ),
}

DEFERRING = "__deferring__"


def defer_imports(deferred: Mapping[str, frozenset[str]] = DEFERRED) -> None:
    """From now on, load these modules at the first use of something in them."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder(deferred))


def load_deferred() -> None:
    """Load all that is deferred still."""
    for module in list(sys.modules.values()):
        if isinstance(module, DeferredModule):
            _load(module)


class DeferredModule(ModuleType):
    """A module that is found and not yet loaded; then it is a plain one."""

    def __getattr__(self, name: str) -> Any:
        deferring: _DeferringLoader | None = vars(self).get(DEFERRING)
        if deferring is not None and deferring.is_for_later(_importer()):
            return _Later(self, name)
        return _attribute(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if not _is_set_by_import(name):
            _load(self)
        ModuleType.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        _load(self)
        return list(ModuleType.__dir__(self))


class _Later:
    """An object of a deferred module, for an importer that only uses it within its functions."""

    def __init__(self, module: ModuleType, name: str) -> None:
        self._find = partial(_attribute, module, name)

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        return self._find()(*arguments, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._find(), name)


class _Finder(MetaPathFinder):
    """Finds the deferred modules, and the modules within them."""

    def __init__(self, deferred: Mapping[str, frozenset[str]]) -> None:
        self._deferred = deferred

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a deferred module; load a package before the modules within it."""
        parent = sys.modules.get(name.rpartition(".")[0])
        if isinstance(parent, DeferredModule):
            _load(parent)
            if name in sys.modules:  # the package has imported it
                return _spec_of_present(sys.modules[name])
        if name not in self._deferred or name in sys.modules:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _DeferringLoader(spec.loader, self._deferred[name])
        return spec


class _DeferringLoader(Loader):
    """Makes a deferred module, and keeps its own loader for later."""

    def __init__(self, loader: Loader, importers: frozenset[str]) -> None:
        self.loader, self.importers = loader, importers
        self.lock, self.is_loading = RLock(), False

    def is_for_later(self, importer: str) -> bool:
        """Return True for an importer that can wait; the module's own code gets what is there."""
        return importer in self.importers and not self.is_loading

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Load nothing yet."""
        vars(module)[DEFERRING] = self
        module.__class__ = DeferredModule


class _PresentLoader(Loader):
    """Hands out a module that was imported while it was looked for."""

    def __init__(self, module: ModuleType, spec: ModuleSpec | None) -> None:
        self._module, self._spec = module, spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module that is there."""
        del spec
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Load nothing again; the module keeps the place it was found at."""
        module.__spec__ = self._spec


def _spec_of_present(module: ModuleType) -> ModuleSpec | None:
    # The import system prefers the module's own: with that it would run the module again.
    own = module.__spec__
    module.__spec__ = spec_from_loader(module.__name__, _PresentLoader(module, own))
    return module.__spec__


def _attribute(module: ModuleType, name: str) -> Any:
    _load(module)
    return ModuleType.__getattribute__(module, name)


def _load(module: ModuleType) -> None:
    """Load a module once; another thread waits until it is complete."""
    deferring: _DeferringLoader | None = vars(module).get(DEFERRING)
    if deferring is None:
        return
    with deferring.lock:
        if deferring.is_loading or DEFERRING not in vars(module):
            return
        deferring.is_loading = True
        try:
            _execute(module, deferring.loader)
        finally:
            deferring.is_loading = False


def _execute(module: ModuleType, loader: Loader) -> None:
    """Run the code of a module in it; from then on it is like any other."""
    module.__loader__ = loader
    if module.__spec__ is not None:
        module.__spec__.loader = loader
    loader.exec_module(module)
    module.__class__ = ModuleType
    del vars(module)[DEFERRING]


def _importer() -> str:
    """Return the name of the module that asks for an attribute, also through the import system."""
    frame = currentframe()
    while frame is not None and frame.f_globals is globals():
        frame = frame.f_back
    while frame is not None and _name_of(frame).startswith("importlib."):
        frame = frame.f_back
    return "" if frame is None else _name_of(frame)


def _name_of(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _is_set_by_import(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
