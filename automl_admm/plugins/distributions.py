"""The distributions behind a model or a run: its plugins, and the libraries below them.

The requirements of the core are behind everything, and not told here.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from automl_admm.plugins.entries import module_of
from automl_admm.plugins.loading import OURS
from automl_admm.plugins.specs import PROJECT

NAME = re.compile(r"[\w.-]+")
INIT = "__init__.py"
UNKNOWN = (metadata.PackageNotFoundError, ValueError)


def behind_types(types: Iterable[str]) -> dict[str, str]:
    """Return the distributions behind the types of a model, by name, with their versions.

    They bring the types. Of a plugin's requirements only those are told from which the modules of
    the types import; if the source shows none, all are.

    >>> behind_types(["sklearn.pipeline.Pipeline", "numpy.dtype"])  # the core has them anyway
    {}
    """
    found = set[str]()
    for module in {path.rpartition(".")[0] for path in types}:
        package = module.partition(".")[0]
        owner = package and distribution_of(package)
        if owner and owner not in _core():
            found.add(owner)
            if package in _plugins():
                found.update(_imported(module, owner))
    return _installed(found)


class Behind(NamedTuple):
    """The distributions behind the parts of a run: plugins, and libraries below them."""

    plugins: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()

    @classmethod
    def of(cls, providers: Iterable[str], types: Iterable[str]) -> Behind:
        """Return those of providers, and of the types of models.

        >>> Behind.of(["automl-admm 0.1.0"], ["sklearn.pipeline.Pipeline"])
        Behind(plugins=(), libraries=())
        """
        plugins = _installed({one.partition(" ")[0] for one in providers} - _core())
        return cls(tuple(plugins), tuple(sorted(behind_types(types).keys() - plugins.keys())))


NOTHING = Behind()


def behind_providers(providers: Iterable[str]) -> dict[str, str]:
    """Return the distributions of providers, and their requirements, as far as installed."""
    names = {provider.partition(" ")[0] for provider in providers} - _core()
    below = (one for name in names for one, _ in _required(name))
    return _installed({*names, *below} - _core())


def required(distribution: str) -> tuple[str, ...]:
    """Return the names of the requirements of a distribution."""
    return tuple(name for name, _ in _required(distribution))


@cache
def version_of(name: str) -> str:
    """Return the version of an installed distribution; empty for any other."""
    return next((text for key, text in _headers(name) if key == "Version"), "")


@cache
def distribution_of(package: str) -> str | None:
    """Return the name of the distribution of a top-level package; None without one."""
    if package in sys.stdlib_module_names:
        return None
    if package in _plugins():
        return _plugins()[package]
    asking = dict.fromkeys((OURS, *_plugins().values()))
    below = (name for one in asking for name in required(one))
    for name in chain((package,), below):
        if package in _packages(name):
            return name
    # Slow: it reads the lists of the files of all distributions.
    return next(iter(metadata.packages_distributions().get(package, ())), None)


def _installed(names: Iterable[str]) -> dict[str, str]:
    return {name: version for name in sorted(names) if (version := version_of(name))}


@cache
def _core() -> frozenset[str]:
    """Return the core with its requirements, without its extras."""
    return frozenset({OURS, *(name for name, is_extra in _required(OURS) if not is_extra)})


@cache
def _plugins() -> dict[str, str]:
    """Return the distribution of each top-level package with a plugin.

    An editable one does not list its packages, and so is found by its entry point alone.
    """
    return {
        module_of(entry).partition(".")[0]: entry.dist.name
        for entry in metadata.entry_points(group=PROJECT)
        if entry.dist is not None
    }


@cache
def _required(distribution: str) -> tuple[tuple[str, bool], ...]:
    """Return the requirements of a distribution, each with True if it is of an extra."""
    asked = [text for key, text in _headers(distribution) if key == "Requires-Dist"]
    return tuple(
        (found[0], "extra ==" in one) for one in asked if (found := NAME.match(one)) is not None
    )


@cache
def _packages(distribution: str) -> frozenset[str]:
    """Return the top-level packages and modules of an installed distribution."""
    with suppress(*UNKNOWN):
        found = metadata.distribution(distribution)
        # By itself `files` looks at the disk for each of a thousand files.
        record = (found.read_text("RECORD") or "").splitlines()
        paths = [line.lstrip('"') for line in record] or map(str, found.files or ())
        return frozenset(
            re.split("[/,]", path, maxsplit=1)[0].removesuffix(".py") for path in paths
        )
    return frozenset()


def _headers(distribution: str) -> tuple[tuple[str, str], ...]:
    """Return the fields at the head of the metadata of a distribution; none if it is unknown.

    Below them stands a whole README. A run asks for the versions of all libraries behind its
    plugins, and to parse the metadata of fifty takes longer than a small fit.
    """
    with suppress(*UNKNOWN):
        found = metadata.distribution(distribution)
        text = found.read_text("METADATA")
        if text is None:  # another form, such as that of an egg
            asked = [("Requires-Dist", one) for one in found.requires or ()]
            return (("Version", found.version), *asked)
        # A line of blanks goes on with a field, such as a long licence.
        lines = re.split(r"\r?\n\r?\n", text, maxsplit=1)[0].splitlines()
        pairs = [line.partition(":") for line in lines]
        return tuple((key, value.strip()) for key, _, value in pairs)
    return ()


@cache
def _imported(module: str, owner: str) -> frozenset[str]:
    """Return the requirements of a plugin imported by a module, itself or through its own."""
    asked = [pair for pair in _required(owner) if pair[0] not in _core() and version_of(pair[0])]
    tops = {path.partition(".")[0] for path in _reached(module)}
    found = frozenset(name for name, _ in asked if tops & _packages(name))
    return found or frozenset(name for name, is_extra in asked if not is_extra)


def _reached(module: str) -> set[str]:
    """Return the modules imported by one, and by those of its package in turn."""
    package = module.partition(".")[0]
    reached, waiting = set[str](), [module]
    while waiting:
        for path in _imports_of(waiting.pop()):
            if path not in reached:
                reached.add(path)
                if path.startswith(f"{package}."):
                    waiting.append(path)
    return reached


def _imports_of(module: str) -> Iterator[str]:
    """Yield the modules, and the names in them, imported in the source of a module.

    It is read and not run: to import a library may take seconds.
    """
    for path in _sources_of(module):
        with suppress(OSError, SyntaxError, ValueError):
            for node in ast.walk(ast.parse(path.read_bytes())):
                if isinstance(node, ast.Import):
                    yield from (one.name for one in node.names)
                elif isinstance(node, ast.ImportFrom):
                    base = _base_of(node, module, is_package=path.name == INIT)
                    yield from (base, *(f"{base}.{one.name}" for one in node.names))


def _base_of(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    """Return the module named by a statement, of relative ones the whole name."""
    parts = module.split(".")
    above = parts[: len(parts) - node.level + is_package] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _sources_of(module: str) -> Iterator[Path]:
    """Yield the source file of a module; nothing for any other name."""
    package, *inner = module.split(".")
    spec = None
    with suppress(ImportError, ValueError):
        spec = find_spec(package)
    if spec is None or (not inner and spec.origin is None):
        return
    if spec.submodule_search_locations is None:
        yield from () if inner else (Path(str(spec.origin)),)
        return
    for folder in spec.submodule_search_locations:
        place = Path(folder, *inner)
        whole = place / INIT
        yield from (one for one in (place.with_suffix(".py"), whole) if one.is_file())
