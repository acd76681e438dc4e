"""Rows held out by chance: the share that was asked for, of all and of each stratum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import DataError, Remedy
from automl_admm.core.messages import say_count

Rows = NDArray[np.intp]
Marks = NDArray[np.bool_]

# The share of fewer rows, rounded, would be far from the one that was asked for.
LEAST = 5


def stratified_holdout(
    kinds: Sequence[Rows], strata: Rows, fraction: float, seed: int
) -> tuple[Rows, Rows]:
    """Return the rows that stay and those held out.

    `kinds` are the classes and, for each grouping, the groups within each class; `strata` are all
    of them together. Strata of few rows share their part, and each of their rows has the same
    chance: if rare combinations of several groupings were held out less often than all others,
    the rows held out would not be like new ones.
    """
    order = shuffled(np.arange(len(strata)), strata, seed)
    aside = np.zeros(len(strata), dtype=bool)
    # By their class alone, each class has its own share.
    few = _few(strata, fraction) if len(kinds) > 1 else np.zeros(len(strata), dtype=bool)
    for rows in _by_stratum(order[~few[order]], strata):
        aside[rows[: round(fraction * len(rows))]] = True
    together = order[few[order]]
    aside[together[_in_turn(len(together), fraction, seed)]] = True
    for kind in kinds[1:]:
        share = np.bincount(kind) * fraction
        _bring_to_both_sides(aside, kind, order, share >= 1, np.bincount(kind) - share >= 1)
    rows_of = np.bincount(kinds[0])
    # A class of one row stays with the search: no model would know it.
    _bring_to_both_sides(aside, kinds[0], order, rows_of > 1, rows_of > 0)
    if not aside.any():
        raise DataError(
            "no row can be held out: each is alone in its class.",
            hint="Is the target an identifier, or a number to predict by regression?",
        )
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def holdout_by_chance(classes: Rows, strata: Rows, fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Return the rows that stay and those held out: each row has the same chance.

    For a certificate: a row kept on one side for the sake of its class or group would make the rows
    set aside others than those to come. The rows lie on a line, stratum by stratum, and of those
    from place a to place b

        ⌊fraction · b + start⌋ − ⌊fraction · a + start⌋

    are held out, with a `start` by chance in [0, 1). So a stratum has its share to less than one
    row, and a rare class may be on one side alone.
    """
    order = shuffled(np.arange(len(strata)), strata, seed)
    begin, aside = _start(len(order), seed), np.zeros(len(strata), dtype=bool)
    place = 0
    for rows in _by_stratum(order, strata):
        reached = np.floor(fraction * np.array([place, place + len(rows)]) + begin)
        aside[rows[: int(reached[1] - reached[0])]] = True
        place += len(rows)
    stays, held_out = np.flatnonzero(~aside), np.flatnonzero(aside)
    is_one_sided = not len(stays) or not len(held_out)
    if is_one_sided or len(np.unique(classes[stays])) < min(2, len(np.unique(classes))):
        raise DataError(
            f"there can be no certificate: {say_count(len(strata), 'row')} cannot be parted by "
            "chance so that the search has two classes.",
            hint=Remedy("Leave out {certify}, or give more rows."),
        )
    return stays, held_out


def shuffled(rows: Rows, strata: Rows, seed: int) -> Rows:
    """Sort rows by their stratum; within it they are mixed."""
    mixed = np.random.default_rng(seed).permutation(rows)
    # Numbers of few bytes are sorted by counting them, many times as fast.
    narrow = strata.astype(np.min_scalar_type(int(strata.max(initial=0))), copy=False)
    # Stable, so that rows stay mixed within their stratum.
    return mixed[np.argsort(narrow[mixed], kind="stable")]


def _few(strata: Rows, fraction: float) -> Marks:
    """Mark the rows of strata whose smaller side would have fewer than `LEAST` rows."""
    return (np.bincount(strata) * min(fraction, 1 - fraction) < LEAST)[strata]


def _by_stratum(order: Rows, strata: Rows) -> Sequence[Rows]:
    return np.split(order, np.flatnonzero(np.diff(strata[order])) + 1) if len(order) else ()


def _in_turn(rows: int, fraction: float, seed: int) -> Marks:
    """Mark a share of rows at even distances, from a start by chance (systematic sampling)."""
    reached = np.floor(np.arange(rows + 1) * fraction + _start(rows, seed)).astype(np.intp)
    chosen: Marks = np.diff(reached) > 0
    return chosen


def _start(rows: int, seed: int) -> float:
    return float(np.random.default_rng([seed, rows]).random())


def _bring_to_both_sides(
    aside: Marks, kind: Rows, order: Rows, held_out: Marks, left: Marks
) -> None:
    """Hold out one row of each kind marked `held_out`, and leave one of those marked `left`."""
    present, places = np.unique(kind[order], return_index=True)
    first = np.zeros(len(held_out), dtype=np.intp)
    first[present] = order[places]
    count, held = np.bincount(kind), np.bincount(kind, weights=aside)
    aside[first[held_out & (held == 0)]] = True
    aside[first[left & (held == count)]] = False
