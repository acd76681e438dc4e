"""What scikit-learn looks up of a class again and again, looked up once.

Each copy and each fit of an estimator reads the signature of its class anew, and each check of a
table asks all classes of it and of its parts if they are frames of another library: a fifth of the
time of a search on a small table, which tests make by the hundred.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sklearn.base import BaseEstimator

FRAMES = "narwhals._utils"  # newer versions of scikit-learn ask it
LOOK = "_hasattr_static"


@contextmanager
def known_parameters() -> Iterator[None]:
    """Remember the names of the parameters of a class, and if it is a frame: they do not change."""
    with pytest.MonkeyPatch.context() as patch:
        remember_names(patch)
        if hasattr(sys.modules.get(FRAMES), LOOK):
            remember_frames(patch, sys.modules[FRAMES])
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
