"""Splits of rows into training and validation parts.

Written here because scikit-learn's stratified splitters refuse, or warn about, classes with
fewer rows than folds; here such a class stays in every training part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import ConfigurationError, DataError, Remedy
from automl_admm.core.messages import say_count, say_value
from automl_admm.data.cluster_splits import (
    Clustered,
    cluster_folds,
    cluster_holdout,
    fold_limit,
    random_holdout,
)
from automl_admm.data.given_splits import check_sides, given_splits
from automl_admm.data.row_roles import NO_ROLES, Roles
from automl_admm.data.split_choice import repeats_for
from automl_admm.data.stratified_holdout import holdout_by_chance, shuffled, stratified_holdout
from automl_admm.data.time_splits import forward_folds, latest
from automl_admm.plugins.records import LearningTask

Rows = NDArray[np.intp]
Split = tuple[Rows, Rows]

FOLDS = 4
HOLDOUT = 0.25
# From here on a quarter is rows enough to rank pipelines, for a quarter of the fits.
ROWS_FOR_HOLDOUT = 4000
# Within limits the same rows choose the thresholds and tell the values: by a quarter of so few rows
# a model is within them by luck, and outside on the next rows.
ROWS_FOR_HOLDOUT_IN_LIMITS = 20_000


def make_splits(
    y: Any,
    task: LearningTask,
    cv: Any = None,
    seed: int = 0,
    groups: Sequence[Any] = (),
    roles: Roles = NO_ROLES,
    *,
    in_limits: bool = False,
) -> tuple[Split, ...]:
    """Make pairs of training and validation rows.

    `cv` is a number of folds, a share of rows to hold out, a splitter of scikit-learn, or pairs
    of row numbers. None stands for 4 folds (fewer if a class has fewer rows) below 4 000 rows, of
    few rows dealt several times, and for a quarter held out from there on; from 20 000 rows on if
    limits are measured on these rows, `in_limits`. Classes keep their shares, and one of a single
    row is always learned from. So do classes within groups, of which every entry of `groups` names
    one for each row; a part without any could not be measured.

    By their `roles`, rows that belong together are on one side, and later ones are validated.
    """
    kinds = _Kinds.of(_classes(y, task), groups, roles)
    if cv is None:
        most = ROWS_FOR_HOLDOUT_IN_LIMITS if in_limits else ROWS_FOR_HOLDOUT
        return kinds.by_default(seed, most)
    # True is an integer to Python, a text an iterable, and a class has the methods of its objects.
    if isinstance(cv, bool | str | type):
        raise _unusable(cv)
    if isinstance(cv, int | np.integer):
        splits = kinds.folds(int(cv), seed)
    elif isinstance(cv, float | np.floating):
        splits = (kinds.held_out(float(cv), seed),)
    elif isinstance(cv, Iterable) or hasattr(cv, "split"):
        splits = given_splits(cv, y, roles)
        check_sides(splits, roles, cv)
    else:
        raise _unusable(cv)
    _check_learnable(splits, kinds.classes, roles)
    return splits


def hold_out(
    y: Any,
    task: LearningTask,
    fraction: float,
    seed: int = 0,
    groups: Sequence[Any] = (),
    roles: Roles = NO_ROLES,
    *,
    at_random: bool = False,
) -> Split:
    """Set a share of the rows aside, before anything sees them: (rows to search on, rows to test).

    Classes, also within `groups`, keep their shares; of every one at least one row stays to search
    on. By their `roles`, rows that belong together stay so, and of rows in the order of time the
    latest are set aside. If rows or such groups are chosen `at_random`, all have the same chance,
    and nothing is kept on one side for the sake of its class.
    """
    classes = _classes(y, task)
    if at_random and roles.clusters is not None:
        _check_fraction(fraction)
        return random_holdout(roles.clusters, classes, fraction, seed)
    kinds = _Kinds.of(classes, groups, roles)
    if at_random and roles.times is None:
        _check_fraction(fraction)
        return holdout_by_chance(classes, kinds.strata, fraction, seed)
    split = kinds.held_out(fraction, seed)
    _check_learnable([split], kinds.classes, roles)
    return split


@dataclass(frozen=True, eq=False)
class _Kinds:
    """The rows by their class, by it and each grouping, by all of these, and their roles."""

    kinds: Sequence[Rows]
    strata: Rows
    roles: Roles
    clustered: Clustered | None

    @classmethod
    def of(cls, classes: Rows, groups: Sequence[Any], roles: Roles) -> _Kinds:
        groupings, clustered = [_strata(classes, [names]) for names in groups], None
        if roles.clusters is not None:
            clustered = Clustered.of(roles.clusters, classes, groupings)
        return cls((classes, *groupings), _strata(classes, groups), roles, clustered)

    @property
    def classes(self) -> Rows:
        return self.kinds[0]

    def by_default(self, seed: int, most: int) -> tuple[Split, ...]:
        if len(self.classes) >= most:
            splits: tuple[Split, ...] = (self.held_out(HOLDOUT, seed),)
        else:
            # Only one order of time goes forward.
            times = 1 if self.roles.times is not None else repeats_for(len(self.classes))
            folds = self.default_folds()
            dealt = (self.folds(folds, seed + deal) for deal in range(times))
            # Of two or three rows all deals are one.
            different = {frozenset(valid.tobytes() for _, valid in deal): deal for deal in dealt}
            splits = tuple(split for deal in different.values() for split in deal)
        _check_learnable(splits, self.classes, self.roles)
        return splits

    def default_folds(self) -> int:
        if self.roles.times is not None:
            return int(np.clip(len(np.unique(self.roles.times)) - 1, 2, FOLDS))
        if self.clustered is not None:
            return int(np.clip(fold_limit(self.clustered), 2, FOLDS))
        return _default_folds(self.kinds)

    def folds(self, count: int, seed: int) -> tuple[Split, ...]:
        if count < 2:
            raise _unusable(count)
        if self.roles.times is not None:
            return forward_folds(self.roles.times, count)
        if self.clustered is not None:
            return cluster_folds(self.clustered, count, seed)
        return _folds(self.classes, self.strata, count, seed)

    def held_out(self, fraction: float, seed: int) -> Split:
        _check_fraction(fraction)
        if self.roles.times is not None:
            return latest(self.roles.times, fraction)
        if self.clustered is not None:
            return cluster_holdout(self.clustered, fraction, seed)
        return stratified_holdout(self.kinds, self.strata, fraction, seed)


def _check_learnable(splits: Sequence[Split], classes: Rows, roles: Roles) -> None:
    """Raise if a part to learn from has one class only: groups and times may part them so."""
    if (roles.clusters is None and roles.times is None) or not classes.any():
        return
    for number, (train, _) in enumerate(splits, start=1):
        if (classes[train] == classes[train[0]]).all():
            raise DataError(
                f"all rows to learn from in part {number} of {len(splits)} are of one class.",
                hint=Remedy("Ask for fewer folds in {cv}, or a smaller share to hold out."),
            )


def _classes(y: Any, task: LearningTask) -> Rows:
    """Number the classes; in a regression all rows are alike."""
    import pandas as pd

    if len(y) < 2:
        more = "; if others are held out, hold out fewer (--test-size)."
        hint = Remedy(f"At least 2 are needed{more}", python="At least 2 are needed.")
        raise DataError(f"{say_count(len(y), 'row')} to search on cannot be split.", hint=hint)
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


def _default_folds(kinds: Sequence[Rows]) -> int:
    """As many as the least of the classes, and of those within each kind of group, has rows."""
    counts = np.concatenate([np.bincount(kind) for kind in kinds])
    several = counts[counts > 1]
    return int(np.clip(several.min(), 2, FOLDS)) if several.size else 2


def _folds(classes: Rows, strata: Rows, count: int, seed: int) -> tuple[Split, ...]:
    """Deal the rows, sorted by stratum, to the folds in turn: each fold gets its share of each."""
    # Validated, such a row would be of a class that no model has seen.
    alone = np.bincount(classes)[classes] == 1
    dealt = shuffled(np.flatnonzero(~alone), strata, seed)
    if len(dealt) < count:
        more_are = "1 more is" if alone.sum() == 1 else f"{alone.sum()} more are"
        alone_too = f" ({more_are} alone in a class, to be learned from always)"
        more = alone_too if alone.any() else ""
        fewer = "Ask for fewer folds in {cv}, or give" if count > 2 else "Give"
        raise DataError(
            f"{say_count(len(dealt), 'row')} to search on cannot fill {count} folds{more}.",
            hint=Remedy(
                f"{fewer} more rows: hold out fewer (--test-size).", python=f"{fewer} more rows."
            ),
        )
    fold = np.full(len(classes), -1)
    fold[dealt] = np.arange(len(dealt)) % count
    return tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count))


def _check_fraction(fraction: float) -> None:
    if not 0 < fraction < 1:
        raise ConfigurationError(
            f"a share of {fraction:g} of the rows cannot be held out.",
            hint="Give a number between 0 and 1.",
        )


def _unusable(cv: Any) -> ConfigurationError:
    return ConfigurationError(
        f"{say_value(cv)} is no way to split the rows.",
        hint=Remedy(
            "Give {cv} a number of folds from 2, or a share between 0 and 1.",
            python="Give {cv} a number of folds from 2, a share between 0 and 1, a splitter, or "
            "pairs.",
        ),
    )
