"""Importing skops, without what it would drag along."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

# To list its estimators scikit-learn imports all that is in it, and so these, which import torch
# and dask where they are installed: two seconds and 200 MB for nothing.
HEAVY = tuple(f"sklearn.externals.array_api_compat.{name}" for name in ("torch", "dask", "cupy"))


def import_skops() -> Any:
    """The module `skops.io`."""
    with _absent(HEAVY):
        return import_module("skops.io")


@contextmanager
def _absent(names: tuple[str, ...]) -> Iterator[None]:
    """Let modules that are not imported yet be as if they were not installed."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # what the language says
    try:
        yield
    finally:
        for name in hidden:
            sys.modules.pop(name, None)
