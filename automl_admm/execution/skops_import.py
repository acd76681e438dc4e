"""Save a fitted pipeline with skops, imported without its optional dependencies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED

# To list its estimators scikit-learn imports all that is in it, and so these, which import torch
# and dask where they are installed: two seconds and 200 MB for nothing.
HEAVY = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask", "cupy"))
SKOPS = "skops.io"


def import_skops() -> Any:
    """The module `skops.io`."""
    with _absent(HEAVY):
        return import_module(SKOPS)


def import_in_steps() -> Iterator[None]:
    """Import skops, which imports all of scikit-learn, one package of it after another."""
    import sklearn

    with _absent(HEAVY):
        for package in sklearn.__all__:
            with suppress(ImportError):
                import_module(f"sklearn.{package}")
            yield
    import_skops()
    yield


def save_pipeline(pipeline: Any, path: Path) -> tuple[str, ...]:
    """Write the shipped file, and return the types in it that skops does not trust by itself."""
    skops = import_skops()
    skops.dump(pipeline, path, compression=ZIP_DEFLATED)
    return tuple(sorted(skops.get_untrusted_types(file=path)))


def count_bytes(pipeline: Any) -> int:
    """Return the size of the shipped file."""
    return len(import_skops().dumps(pipeline, compression=ZIP_DEFLATED))


@contextmanager
def _absent(names: tuple[str, ...]) -> Iterator[None]:
    """Make modules appear uninstalled, unless they are imported already."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # what the language says
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
