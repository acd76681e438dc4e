"""What scikit-learn looks up of a class or a function again and again, looked up once.

Each copy and each fit of an estimator reads the signature of its class anew, each measure its own,
and each check of a table asks all classes of it and of its parts if they are frames of another
library: a fourth of the time of a search on a small table, which tests make by the hundred.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from inspect import signature
from typing import Any

import pytest
from sklearn.base import BaseEstimator

FRAMES = "narwhals._utils"  # newer versions of scikit-learn ask it
LOOK = "_hasattr_static"
KINDS = "narwhals.stable.v2.dependencies"
CHECKS = "sklearn.utils._param_validation.signature"
ARRAYS = "sklearn.externals.array_api_compat.common._aliases"


@contextmanager
def known_parameters() -> Iterator[None]:
    """Remember the names of the parameters of a class, and if it is a frame: they do not change."""
    with pytest.MonkeyPatch.context() as patch:
        remember_names(patch)
        if hasattr(sys.modules.get(FRAMES), LOOK):
            remember_frames(patch, sys.modules[FRAMES])
        if KINDS in sys.modules:
            remember_kinds(patch, sys.modules[KINDS])
        remember_signatures(patch)
        yield


def remember_names(patch: pytest.MonkeyPatch) -> None:
    """Remember the names of the parameters of each class of estimators."""
    look = BaseEstimator.__dict__["_get_param_names"].__func__
    known: dict[type, list[str]] = {}

    def names(kind: type) -> list[str]:
        if kind not in known:
            known[kind] = look(kind)
        return list(known[kind])

    patch.setattr(BaseEstimator, "_get_param_names", classmethod(names))


def remember_frames(patch: pytest.MonkeyPatch, frames: Any) -> None:
    """Remember which classes have the marks of frames; an object has them from its class."""
    look = getattr(frames, LOOK)
    known: dict[tuple[type, str], bool] = {}

    def has(given: object, mark: str) -> bool:
        if isinstance(given, type):
            return bool(look(given, mark))
        place = type(given), mark
        if place not in known:
            known[place] = look(given, mark)
        return known[place]

    patch.setattr(frames, LOOK, has)


def remember_kinds(patch: pytest.MonkeyPatch, frames: Any) -> None:
    """Remember which classes are those of frames and of columns."""
    for name in ("is_into_dataframe", "is_into_series"):
        patch.setattr(frames, name, by_class(getattr(frames, name)))


def by_class(look: Callable[[object], bool]) -> Callable[[object], bool]:
    """Return a question whose answer for a class is remembered."""
    known: dict[type, bool] = {}

    def ask(given: object) -> bool:
        kind = type(given)
        if kind not in known:
            known[kind] = look(given)
        return known[kind]

    return ask


def remember_signatures(patch: pytest.MonkeyPatch) -> None:
    """Remember the signatures of measures, and if the arrays of numpy tell gaps apart."""
    if CHECKS.rpartition(".")[0] in sys.modules:
        patch.setattr(CHECKS, cache(signature))
    look = getattr(sys.modules.get(ARRAYS), "_unique_kwargs", None)
    if look is not None:
        known = cache(look)
        patch.setattr(f"{ARRAYS}._unique_kwargs", lambda arrays: dict(known(arrays)))
