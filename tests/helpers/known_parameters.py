"""What scikit-learn looks up of a class or a function again and again, looked up once.

Each copy and each fit of an estimator reads the signature of its class anew, each measure its own,
each check of a table asks all classes of it and of its parts if they are frames of another library,
and tags are copied as if they could hold anything: a fourth of the time of a search on a small
table, which tests make by the hundred.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import fields, is_dataclass
from functools import cache
from inspect import signature
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

FRAMES = "narwhals._utils"  # newer versions of scikit-learn ask it
LOOK = "_hasattr_static"
KINDS = "narwhals.stable.v2.dependencies"
CHECKS = "sklearn.utils._param_validation.signature"
ARRAYS = "sklearn.externals.array_api_compat.common._aliases"
TAGGED = "sklearn.frozen._frozen"


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
        if hasattr(sys.modules.get(TAGGED), "deepcopy"):
            patch.setattr(f"{TAGGED}.deepcopy", copied)
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


def copied(given: Any) -> Any:
    """Return a deep copy; tags are plain records, and records in them, of truths and texts."""
    if type(given) is not Tags:
        return deepcopy(given)
    return Tags(**{one.name: copied_part(getattr(given, one.name)) for one in fields(Tags)})


def copied_part(part: Any) -> Any:
    """Return a copy of a part of tags."""
    if not is_dataclass(part):
        return part
    copied_one = copy(part)
    for name in (one.name for one in fields(part) if type(getattr(part, one.name)) is list):
        setattr(copied_one, name, list(getattr(part, name)))
    return copied_one
