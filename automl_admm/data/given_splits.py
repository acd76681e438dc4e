"""Splits by a splitter of scikit-learn, or by pairs of row numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import ConfigurationError, DataError, Remedy
from automl_admm.core.messages import say_count, say_value
from automl_admm.data.row_roles import NO_ROLES, Roles

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]


def given_splits(cv: Any, y: Any, roles: Roles = NO_ROLES) -> tuple[Split, ...]:
    """Return the pairs of a splitter or of a list; raise if they are no pairs of row numbers.

    A splitter is given the rows in the order of time, and their groups.
    """
    pairs: Iterable[Any] = _split(cv, y, roles) if hasattr(cv, "split") else cv
    splits = tuple(_checked(pair, len(y)) for pair in pairs)
    if not splits:
        raise ConfigurationError("cv holds no splits.", hint="Give at least one pair.")
    return splits


def refuse_row_numbers(cv: Any, left_out: int, *, sets_aside: bool, is_part: bool) -> None:
    """Raise if cv names rows by their numbers, and the rows of the search have other numbers."""
    if not (isinstance(cv, Sequence | Iterator) or hasattr(cv, "test_fold")) or isinstance(cv, str):
        return
    if left_out:
        rows_are = "1 row of weight 0 is" if left_out == 1 else f"{left_out} rows of weight 0 are"
        reason = f"{rows_are} left out"
    elif sets_aside:
        reason = "rows are set aside for a certificate"
    elif is_part:
        reason = "only a part of the rows is taken in this time"
    else:
        return
    raise ConfigurationError(
        f"cv names rows by their numbers, but {reason}: the others have other numbers.",
        hint="Give a number of folds, or a splitter that deals the rows it is given.",
    )


def _split(cv: Any, y: Any, roles: Roles) -> list[Any]:
    rows = len(y)
    order = np.arange(rows)
    if roles.times is not None:
        order = np.argsort(roles.times, kind="stable")
    more = {}
    if roles.clusters is not None and _takes_groups(cv):
        more = {"groups": roles.clusters[order]}
    try:
        pairs = cv.split(np.zeros((rows, 1)), np.asarray(y)[order], **more)
        return [tuple(order[part] for part in pair) for pair in pairs]
    except (ValueError, IndexError) as problem:
        if not more and "groups" in str(problem):
            raise ConfigurationError(
                f"the splitter {cv} needs the group of every row.",
                hint=Remedy("Name their column in {groups}.", python="Give fit(…, groups=…)."),
            ) from problem
        raise DataError(f"the splitter {cv} does not fit the data: {problem}") from problem


def _takes_groups(cv: Any) -> bool:
    """Return True unless a splitter of scikit-learn ignores groups: it would warn of them."""
    if hasattr(cv, "get_metadata_routing"):
        return bool(cv.get_metadata_routing().split.requests.get("groups"))
    return "groups" in signature(cv.split).parameters


def _checked(pair: Any, rows: int) -> Split:
    try:
        train, valid = (np.asarray(part) for part in pair)
    except (TypeError, ValueError) as problem:
        raise ConfigurationError(
            "cv must hold pairs of row numbers: (to train on, to validate on)."
        ) from problem
    for part in (train, valid):
        if part.ndim != 1 or part.size == 0 or part.dtype.kind not in "iu":
            raise ConfigurationError("a part of a split in cv is no list of row numbers, or empty.")
        if part.min() < 0 or part.max() >= rows:
            raise DataError(f"a split in cv names a row outside 0 to {rows - 1}.")
    return train.astype(np.intp), valid.astype(np.intp)


def doubts_of_splits(splits: Sequence[Split]) -> list[str]:
    """Return a warning of the first split that validates on rows that it learned from."""
    for number, (train, valid) in enumerate(splits, start=1):
        if both := len(np.intersect1d(train, valid)):
            line = (
                f"split {number} of {len(splits)} by cv learns from {both} of the "
                f"{len(np.unique(valid))} rows that it is measured on: its score is too good"
            )
            return [line]
    return []


def check_sides(splits: Sequence[Split], roles: Roles, cv: Any) -> None:
    """Raise if a group is on both sides of a split, or if it learns from later rows."""
    for number, (train, valid) in enumerate(splits, start=1):
        where = f"split {number} of {len(splits)} by cv={say_value(cv)}"
        if roles.clusters is not None and len(
            both := np.intersect1d(roles.clusters[train], roles.clusters[valid])
        ):
            raise ConfigurationError(
                f"{where} has {say_count(len(both), 'group')} on both sides.",
                hint=Remedy("Give {cv} a number of folds.", python="Use GroupKFold or its like."),
            )
        if roles.times is not None and roles.times[train].max() > roles.times[valid].min():
            raise ConfigurationError(
                f"{where} learns from rows that are later than some it is measured on.",
                hint=Remedy("Give {cv} a number of folds.", python="Use TimeSeriesSplit."),
            )
