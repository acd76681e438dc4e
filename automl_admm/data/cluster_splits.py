"""Splits that keep the rows of a group together: visits of a patient are never on both sides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import DataError, Remedy
from automl_admm.core.messages import say_count
from automl_admm.core.space import Array

Rows = NDArray[np.intp]
# The largest groups are weighed against each other; of more than these, each hardly matters.
WEIGHED = 1000
ONE_GROUP = "Is it the right column? Leave out {groups} if there are none"
GOLDEN = (5**0.5 - 1) / 2  # multiples of it, modulo 1, fill every interval evenly


@dataclass(frozen=True, eq=False)
class Clustered:
    """The groups of rows: `counts` has a row for each group and a column for each stratum.

    Strata are classes, or the groups of each grouping within each class: of all groupings together
    most would have no row to spare. `by_class` has a column for each class. Groups in `fixed` are
    always learned from: without one of them a class would be unknown.
    """

    clusters: Rows
    counts: Array
    by_class: Array
    fixed: NDArray[np.bool_]

    @classmethod
    def of(cls, clusters: Any, classes: Any, groupings: Sequence[Any] = ()) -> Clustered:
        """Count the rows of each stratum in each group; raise if there is but one group."""
        groups = int(clusters.max()) + 1
        if (clusters == clusters[0]).all():
            raise DataError(
                "all rows are in one group: no pipeline can be measured on another.",
                hint=Remedy(
                    f"{ONE_GROUP}; if rows of others are held out, hold out fewer (--test-size).",
                    python=f"{ONE_GROUP}.",
                ),
            )
        fixed = np.zeros(groups, dtype=bool)
        by_class = _table(clusters, classes, groups)
        if by_class.shape[1] > 1:
            alone = (by_class > 0).sum(axis=0) == 1
            fixed[(by_class[:, alone] > 0).any(axis=1)] = True
        tables = [_table(clusters, strata, groups) for strata in groupings]
        return cls(clusters, np.hstack(tables) if tables else by_class, by_class, fixed)

    @property
    def free(self) -> Rows:
        """The groups that may be validated on; those of rows held out have none here."""
        return np.flatnonzero(~self.fixed & self.counts.any(axis=1))

    def deal(self, shares: Sequence[float], seed: int) -> Rows:
        """Return the part of every group: parts get their share of all strata, −1 are `fixed`.

        Large groups come first, each to the part p where it adds least to

            Σ_s (n_ps − share_p N_s)² / (share_p N_s),

        the squared distance to the share due of each stratum s. Small ones fill what is left.
        """
        wanted, part = np.asarray(shares, dtype=float), np.full(len(self.counts), -1)
        order, counts = self._order(seed), self._balanced(min(shares))
        total = np.maximum(counts[self.free].sum(axis=0), 1.0)
        due = wanted[:, None] * total
        got = np.zeros_like(due)
        for group in order[:WEIGHED]:
            rows = counts[group]
            added = ((got - due + rows) ** 2 - (got - due) ** 2) / due
            part[group] = int(np.argmin(added.sum(axis=1)))
            got[part[group]] += rows
        rest = order[WEIGHED:]
        rest = rest[np.argsort(counts[rest].argmax(axis=1), kind="stable")]
        turns = (GOLDEN * np.arange(1, len(rest) + 1)) % 1.0
        missing = np.maximum((due - got).sum(axis=1), 1e-9)
        reach = np.cumsum(missing / missing.sum())[:-1]
        part[rest] = np.searchsorted(reach, turns, side="right")
        return part

    def _balanced(self, share: float) -> Array:
        """Return the counts to deal by: strata without one row for each part are one stratum.

        Each of them is nearest to its shares if the largest part has all its rows: the other parts
        would have none of the rare groups, and be unlike new rows.
        """
        few = self.counts[self.free].sum(axis=0) * share < 1
        if self.counts is self.by_class or not few.any():
            return self.counts
        together = self.counts[:, few].sum(axis=1, keepdims=True)
        return np.hstack([self.counts[:, ~few], together, self.by_class])

    def complete(self, part: Rows, shares: Sequence[float]) -> None:
        """Move a small group to each part without a row of a stratum that is due one there.

        Such a part could not be measured: a large group fills it, and its rows are of few strata.
        """
        if self.counts is self.by_class:
            return
        total = self.counts[self.free].sum(axis=0)
        for stratum in np.argsort(total, kind="stable"):
            holders = self.free[self.counts[self.free, stratum] > 0]
            for number in np.flatnonzero(np.asarray(shares) * total[stratum] >= 1):
                others = Counter(part[holders].tolist())
                if others[number]:
                    continue
                spare = [one for one in holders if others[part[one]] > 1]
                if spare:
                    part[self.smallest(spare)] = number

    def smallest(self, groups: Any) -> int:
        """Return the one of these groups with the fewest rows."""
        sizes = self.counts.sum(axis=1)
        return min(map(int, groups), key=lambda group: float(sizes[group]))

    def spread(self, part: Rows, crowded: Sequence[int], count: int) -> None:
        """Move a group of each class with all its groups in one of the `crowded` parts."""
        for holders in (np.flatnonzero(rows) for rows in self.by_class.T > 0):
            number = int(part[holders[0]])
            if number in crowded and len(holders) > 1 and (part[holders] == number).all():
                part[self.smallest(holders)] = (number + 1) % count

    def _order(self, seed: int) -> Rows:
        """Return the free groups, the largest first, equal ones mixed."""
        # With those of rows held out, so that equal groups come in one order with or without them.
        mixed = np.random.default_rng(seed).permutation(np.flatnonzero(~self.fixed))
        mixed = mixed[np.isin(mixed, self.free)]
        return np.asarray(mixed[np.argsort(-self.counts[mixed].sum(axis=1), kind="stable")])


def cluster_folds(grouped: Clustered, count: int, seed: int) -> tuple[tuple[Rows, Rows], ...]:
    """Return folds with every group on one side."""
    free = len(grouped.free)
    if free < count:
        fixed = int(grouped.fixed.sum())
        more_hold = "1 more holds" if fixed == 1 else f"{fixed} more hold"
        more = f" ({more_hold} all rows of a class, to be learned from always)"
        fewer = "Ask for fewer folds in {cv}, or leave" if count > 2 else "Leave"
        raise DataError(
            f"{say_count(free, 'group')} to search on cannot fill {count} folds"
            f"{more if fixed else ''}.",
            hint=Remedy(
                f"{fewer} out {{groups}}, or hold out fewer rows (--test-size).",
                python=f"{fewer} out {{groups}}.",
            ),
        )
    shares = [1 / count] * count
    part = grouped.deal(shares, seed)
    grouped.complete(part, shares)
    for number in range(count):
        _fill(part, grouped, number)
    if grouped.by_class.shape[1] > 1:
        grouped.spread(part, range(count), count)
    fold = part[grouped.clusters]
    return tuple((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(count))


def cluster_holdout(grouped: Clustered, fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Return about this share of the rows as the second part, in whole groups."""
    if len(grouped.free) - (0 if grouped.fixed.any() else 1) < 1:
        raise DataError(
            f"{say_count(len(grouped.counts), 'group')} cannot be parted: none can be held out.",
            hint=Remedy("Every group is on one side. Leave out {groups}, or give more of them."),
        )
    shares = [1 - fraction, fraction]
    part = grouped.deal(shares, seed)
    grouped.complete(part, shares)
    grouped.spread(part, [1], 2)
    for number in (1,) if grouped.fixed.any() else (0, 1):
        _fill(part, grouped, number)
    aside = part[grouped.clusters] == 1
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def random_holdout(clusters: Any, classes: Any, fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Return about this share of the groups, chosen by chance alone, as the second part.

    For a certificate: a choice by sizes or classes would make the rows set aside others than those
    to come. So a class may be lost to the search; then there is none.
    """
    groups = int(clusters.max()) + 1
    count = min(max(round(fraction * groups), 1), groups - 1)
    aside = np.isin(clusters, np.random.default_rng(seed).permutation(groups)[:count])
    if groups < 2 or len(np.unique(classes[~aside])) < len(np.unique(classes)):
        raise DataError(
            f"there can be no certificate: {say_count(groups, 'group')} cannot be parted by chance "
            "so that the search has all classes.",
            hint=Remedy("Leave out {certify}, or {groups} if rows are independent."),
        )
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def _fill(part: Rows, grouped: Clustered, number: int) -> None:
    """Give a part without a group the smallest of a part that has several."""
    if (part == number).any():
        return
    may_empty = grouped.fixed.any()
    several = [one for one in grouped.free if may_empty or (part == part[one]).sum() > 1]
    part[grouped.smallest(several)] = number


def fold_limit(grouped: Clustered) -> int:
    """Return the most folds that leave each of them some of every class found in two groups."""
    holders = (grouped.by_class[grouped.free] > 0).sum(axis=0)
    several = holders[holders > 1]
    return min(len(grouped.free), int(several.min()) if several.size else len(grouped.free))


def _table(clusters: Any, kinds: Any, groups: int) -> Array:
    kinds = np.asarray(kinds)
    width = int(kinds.max()) + 1
    flat = np.bincount(clusters * width + kinds, minlength=groups * width)
    return np.asarray(flat.reshape(groups, width), dtype=float)
