"""The default way to split the rows, and any way in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from automl_admm.data.row_roles import Roles

# Of few rows one deal into folds ranks pipelines by chance: below so many rows they are dealt so
# many times. benchmarks/split_ranking.py compares the ways.
REPEATS = ((100, 3), (400, 2))


def repeats_for(rows: int) -> int:
    """Return how many times so many rows are dealt into folds."""
    return next((times for below, times in REPEATS if rows < below), 1)


def count_repeats(splits: Sequence[Any]) -> float:
    """Return how often a row is validated, on average over the rows that are."""
    rows = np.concatenate([valid for _, valid in splits])
    return len(rows) / len(np.unique(rows))


def first_deal(splits: Sequence[Any], cv: Any) -> Sequence[Any]:
    """Return the folds of the first deal: those of the next have as many rows of each kind."""
    return splits if cv is not None else splits[: round(len(splits) / count_repeats(splits))]


def say_splits(splits: Sequence[Any], cv: Any, roles: Roles, rows: int) -> str:
    """Describe the splits of a run in a line."""
    number, times = len(splits), count_repeats(splits)
    if cv is not None and not isinstance(cv, int | float | np.number):
        said = f"{number} splits of your own"
    elif number == 1:
        said = f"{len(splits[0][1])} of {rows} rows held out"
    elif times >= 2:
        said = f"{round(number / times)} folds, {round(times)} times: of {rows} rows one deal into "
        said += "folds ranks pipelines by chance"
    else:
        said = f"{number} folds"
    if roles.clusters is not None:
        said += "; no group is on both sides"
    if roles.times is not None:
        said += "; learned from earlier rows, measured on later ones"
    return said
