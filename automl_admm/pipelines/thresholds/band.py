"""Two thresholds in place of one: rows with a score between them are left undecided.

A limit such as `abstain <= 5 %` allows it. Decisions are then fewer and better: all measures of
them are of the decided rows. The band is chosen on the out-of-fold scores of all folds together, as
a threshold is, and trains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.core.fold_means import means_over_folds
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.thresholds.by_class import decide_by_weights, mean_recall, top_shares
from automl_admm.pipelines.thresholds.cuts import Band, has_both
from automl_admm.pipelines.thresholds.single import (
    COARSE,
    FINE,
    Aimed,
    Fold,
    Standing,
    are_flat,
    balanced_accuracy,
    between,
    decide,
    mean_values,
    standing,
    violation,
)
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

# Parts of the rows that may be left undecided.
PARTS = (0.25, 0.5, 0.75, 1.0)
CLOSER = 2

WORST: Standing = (True, True, math.inf)

OneCut = float | Band
Rank = tuple[Standing, float, int]


def choose_band(
    parts: Sequence[EvaluatedPipeline],
    aimed: Sequence[Aimed],
    single: float,
    most: float,
    merit: Callable[[OneCut], float] | None = None,
) -> OneCut:
    """Return a band that is better than the `single` threshold, or else that one.

    At most the share `most` of the rows lies in it. Better means less violation of the limits, then
    more merit, as in `choose_threshold`; without a merit it is the balanced accuracy of the decided
    rows. Bands of a quarter, half, three quarters and all of that share are tried, each at 17
    quantiles of the scores and around the single threshold; then the best one is moved, twice. On
    either side of a band some rows are decided.
    """
    scores = [np.asarray(part.scores, dtype=float) for part in parts]
    if are_flat(scores) or not math.isfinite(single):
        return single
    folds, ordered = tuple(Fold.of(part, aimed) for part in parts), np.sort(np.concatenate(scores))
    trial, rows = _Trial(folds, tuple(aimed), ordered, merit, single), len(ordered)
    own = int(np.searchsorted(ordered, single))
    for part in PARTS:
        width = int(part * most * rows)
        around = (own, own + width // 2, own + width)
        trial.look(width, [*around, *(round(share * rows) for share in COARSE)])
    for _ in range(CLOSER):
        trial.look_closer()
    return trial.best


def choose_least_share(
    parts: Sequence[EvaluatedPipeline],
    aimed: Sequence[Aimed],
    weights: Sequence[float],
    most: float,
    merit: Callable[[float], float] | None = None,
) -> float:
    """Return the least share of its probabilities that decides a row of several classes.

    It is 0 if all rows are decided best. Those that leave a quarter, half, three quarters and all
    of the share `most` undecided are compared as bands are; without a `merit` by the mean recall.
    """
    folds = tuple(Fold.of(part, aimed) for part in parts)
    ordered = np.sort(np.concatenate([top_shares(part.predictions, weights) for part in parts]))

    def rank(least: float) -> Rank:
        decided = [decide_by_weights(part.predictions, weights, None, least) for part in parts]
        pairs = zip(folds, decided, strict=True)
        values = means_over_folds([fold.evidence(one) for fold, one in pairs])
        broken, numbers = violation(aimed, values), np.concatenate(decided)
        is_one = len(np.unique(numbers[numbers != UNDECIDED])) < 2
        worth = mean_recall(folds, decided) if merit is None else merit(least)
        undecided = int((numbers == UNDECIDED).sum())
        return (
            standing(broken, is_one_sided=is_one),
            math.inf if math.isnan(worth) else -worth,
            undecided,
        )

    widths = {int(part * most * len(ordered)) for part in PARTS}
    inside = (width for width in widths if 0 < width < len(ordered))
    return min((0.0, *(between(ordered, width) for width in inside)), key=rank)


@dataclass(eq=False)
class _Trial:
    """The best cut so far; `places` are those of upper ends among the sorted scores, by width."""

    folds: tuple[Fold, ...]
    aimed: tuple[Aimed, ...]
    ordered: Array
    merit: Callable[[OneCut], float] | None
    best: OneCut
    rank: Rank = (WORST, math.inf, 0)
    place: int = 0
    width: int = 0
    places: dict[int, set[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.rank = self._rank(self.best, 0)

    def look(self, width: int, places: Sequence[int]) -> None:
        """Try bands of so many rows with their upper ends at these places."""
        known = self.places.setdefault(width, set())
        for place in sorted(set(places) - known):
            known.add(place)
            if not 0 < place - width < place < len(self.ordered):
                continue
            band = Band(between(self.ordered, place - width), between(self.ordered, place))
            if band.lower < band.upper and (rank := self._rank(band, width)) < self.rank:
                self.best, self.rank, self.place, self.width = band, rank, place, width

    def look_closer(self) -> None:
        """Try four more places between the neighbours of the best band."""
        if not self.width:
            return
        known = self.places[self.width]
        lower = max((one for one in known if one < self.place), default=self.place)
        upper = min((one for one in known if one > self.place), default=self.place)
        self.look(self.width, [int(one) for one in np.linspace(lower, upper, FINE + 2)])

    def _rank(self, cut: OneCut, width: int) -> Rank:
        """Return (standing, −merit, width); compute the merit only if it can matter."""
        cuts = [cut] * len(self.folds)
        decided = [decide(fold.part, cut).decisions for fold in self.folds]
        broken = violation(self.aimed, mean_values(self.folds, cuts))
        found = standing(broken, is_one_sided=not has_both(np.concatenate(decided)))
        if found > self.rank[0] or not math.isfinite(broken):
            return found, math.inf, width
        merit = balanced_accuracy(self.folds, cuts) if self.merit is None else self.merit(cut)
        return found, math.inf if math.isnan(merit) else -merit, width
