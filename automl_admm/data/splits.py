"""Splits of rows into training and validation parts.

Written here because scikit-learn's stratified splitters refuse, or warn about, classes with
fewer rows than folds; here such a class stays in every training part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import ConfigurationError, DataError, Remedy
from automl_admm.core.messages import say_value
from automl_admm.plugins.records import LearningTask

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

FOLDS = 4
HOLDOUT = 0.25
# From here on a quarter is rows enough to rank pipelines, for a quarter of the fits.
ROWS_FOR_HOLDOUT = 4000


def make_splits(
    y: Any, task: LearningTask, cv: Any = None, seed: int = 0, groups: Sequence[Any] = ()
) -> tuple[Split, ...]:
    """Make pairs of training and validation rows.

    `cv` is a number of folds, a share of rows to hold out, a splitter of scikit-learn, or pairs
    of row numbers. None stands for 4 folds (fewer if a class has fewer rows) below 4 000 rows,
    and for a quarter held out from there on. Classes keep their shares, and one of a single row
    is always learned from. So do classes within groups, of which every entry of `groups` names
    one for each row; a part without any of them could not be measured.
    """
    classes = _classes(y, task)
    strata = _strata(classes, groups)
    if cv is None:
        cv = _default_folds(classes, groups) if len(classes) < ROWS_FOR_HOLDOUT else HOLDOUT
    # True is an integer to Python, and a text an iterable.
    if isinstance(cv, bool | str):
        raise _unusable(cv)
    if isinstance(cv, int | np.integer):
        return _folds(classes, strata, int(cv), seed)
    if isinstance(cv, float | np.floating):
        return (_held_out(strata, float(cv), seed),)
    return _given(cv, y)


def hold_out(
    y: Any, task: LearningTask, fraction: float, seed: int = 0, groups: Sequence[Any] = ()
) -> Split:
    """Set a share of the rows aside, before anything sees them: (rows to search on, rows to test).

    Classes, also within `groups`, keep their shares; of every one at least one row stays to search
    on.
    """
    return _held_out(_strata(_classes(y, task), groups), fraction, seed)


def _classes(y: Any, task: LearningTask) -> Rows:
    """Number the classes; in a regression all rows are alike."""
    import pandas as pd

    if len(y) < 2:
        raise DataError(f"{len(y)} rows cannot be split.", hint="At least 2 are needed.")
    if task == "regression":
        return np.zeros(len(y), dtype=np.intp)
    return np.asarray(pd.factorize(np.asarray(y), use_na_sentinel=False)[0], dtype=np.intp)


def _strata(classes: Rows, groups: Sequence[Any]) -> Rows:
    """Number the strata of rows: their class and, within it, their groups."""
    import pandas as pd

    strata = classes
    for names in groups:
        places, distinct = pd.factorize(np.asarray(names, dtype=object))
        # Renumbered each time, or many groupings would overflow.
        together = strata * len(distinct) + places
        strata = np.unique(together, return_inverse=True)[1]
    return strata


def _default_folds(classes: Rows, groups: Sequence[Any]) -> int:
    """As many as the least of the classes, and of those within each kind of group, has rows."""
    kinds = [classes, *(_strata(classes, [names]) for names in groups)]
    counts = np.concatenate([np.bincount(kind) for kind in kinds])
    several = counts[counts > 1]
    return int(np.clip(several.min(), 2, FOLDS)) if several.size else 2


def _folds(classes: Rows, strata: Rows, count: int, seed: int) -> tuple[Split, ...]:
    """Deal the rows, sorted by stratum, to the folds in turn: each fold gets its share of each."""
    if count < 2:
        raise _unusable(count)
    # Validated, such a row would be of a class that no model has seen.
    alone = np.bincount(classes)[classes] == 1
    dealt = _shuffled(np.flatnonzero(~alone), strata, seed)
    if len(dealt) < count:
        raise DataError(
            f"{len(dealt)} rows do not fill {count} folds.",
            hint=Remedy(
                "Ask for fewer folds in {cv} (rows that are alone in their class do not count)."
            ),
        )
    fold = np.full(len(classes), -1)
    fold[dealt] = np.arange(len(dealt)) % count
    return tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count))


def _held_out(strata: Rows, fraction: float, seed: int) -> Split:
    if not 0 < fraction < 1:
        raise ConfigurationError(
            f"a share of {fraction:g} of the rows cannot be held out.",
            hint="Give a number between 0 and 1.",
        )
    order = _shuffled(np.arange(len(strata)), strata, seed)
    starts = np.flatnonzero(np.diff(strata[order], prepend=-1))
    aside = np.zeros(len(strata), dtype=bool)
    for rows in np.split(order, starts[1:]):
        # At least one row on either side; a stratum of one row stays with the search.
        share = min(max(round(fraction * len(rows)), 1), len(rows) - 1)
        aside[rows[:share]] = True
    if not aside.any():
        raise DataError(
            "no row can be held out: each is alone in its class.",
            hint="Is the target an identifier, or a number to predict by regression?",
        )
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def _shuffled(rows: Rows, strata: Rows, seed: int) -> Rows:
    # Stable, so that rows stay mixed within their stratum.
    mixed = np.random.default_rng(seed).permutation(rows)
    return mixed[np.argsort(strata[mixed], kind="stable")]


def _given(cv: Any, y: Any) -> tuple[Split, ...]:
    rows = len(y)
    if hasattr(cv, "split"):
        try:
            pairs: Iterable[Any] = list(cv.split(np.zeros((rows, 1)), np.asarray(y)))
        except ValueError as problem:
            raise DataError(f"the splitter {cv} does not fit the data: {problem}") from problem
    elif isinstance(cv, Iterable):
        pairs = cv
    else:
        raise _unusable(cv)
    splits = tuple(_checked(pair, rows) for pair in pairs)
    if not splits:
        raise ConfigurationError("cv holds no splits.", hint="Give at least one pair.")
    return splits


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


def _unusable(cv: Any) -> ConfigurationError:
    return ConfigurationError(
        f"{say_value(cv)} is no way to split the rows.",
        hint=Remedy(
            "Give {cv} a number of folds from 2, or a share between 0 and 1.",
            python="Give {cv} a number of folds from 2, a share between 0 and 1, a splitter, or "
            "pairs.",
        ),
    )
