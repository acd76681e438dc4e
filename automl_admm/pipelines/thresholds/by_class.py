"""A weight for each class of several, for limits that the plain decisions break.

The class with the largest probability decides; if decisions have a cost, the one with the smallest
expected cost. If that breaks the limits that a search aims at, the probabilities are weighed: a
class with a weight above 1 is decided for more often. Weights are chosen on the out-of-fold
probabilities of all folds together, and train nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from automl_admm.core.fold_means import means_over_folds
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.thresholds.class_costs import ClassCosts, tempered
from automl_admm.pipelines.thresholds.single import Aimed, Fold, Standing, standing, violation
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

# The weight of one class is multiplied by 2 to these powers while the others stay.
STEPS = (3.0, 1.5, 0.75, 0.35, 0.15, 0.07)
PASSES = 2  # a class moved later may leave room to one moved before
# Settings: each measures every limit on all folds.
MOST_MEASURED = 150

Weights = tuple[float, ...]
Rank = tuple[Standing, float, float]


def choose_class_weights(
    parts: Sequence[EvaluatedPipeline],
    aimed: Sequence[Aimed],
    merit: Callable[[Weights], float] | None = None,
    cost: ClassCosts | None = None,
) -> Weights | None:
    """Return weights that break the limits less than none do; None if no weights do.

    Weights are the best of at most 150 by the violation of the limits, as in `choose_threshold`;
    then by the `merit`, without one by the mean recall of the classes; then by their nearness to 1.
    Within all limits the plain decisions stay: they are right for most metrics, and for
    tempered probabilities they have about the smallest expected `cost`.
    """
    folds = tuple(Fold.of(part, aimed) for part in parts)
    trial = _Trial(folds, tuple(aimed), merit, parts[0].predictions.shape[1], cost)
    plain = trial.look(trial.best)
    if plain[0] == (False, False, 0.0):
        return None
    for _ in range(PASSES):
        for place in range(len(trial.best)):
            trial.move(place)
    return trial.best if trial.rank[0] < plain[0] else None


@dataclass(eq=False)
class _Trial:
    """The best weights so far, and what is needed to try others."""

    folds: tuple[Fold, ...]
    aimed: tuple[Aimed, ...]
    merit: Callable[[Weights], float] | None
    classes: int
    cost: ClassCosts | None
    best: Weights = field(init=False)
    rank: Rank = field(init=False)
    tried: dict[Weights, Rank] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.best, self.rank = (1.0,) * self.classes, ((True, True, math.inf), math.inf, math.inf)

    def move(self, place: int) -> None:
        """Try other weights of one class, from far to near."""
        for step in STEPS:
            for power in (step, -step):
                moved = list(self.best)
                moved[place] *= 2.0**power
                # Only quotients count: of equal ones there is one form.
                middle = math.exp(float(np.mean(np.log(moved))))
                self.look(tuple(float(f"{weight / middle:.4g}") for weight in moved))

    def look(self, weights: Weights) -> Rank:
        """Measure weights, once, and keep them if they are the best."""
        if weights not in self.tried and len(self.tried) < MOST_MEASURED:
            found = self.tried[weights] = self._rank(weights)
            if found < self.rank:
                self.best, self.rank = weights, found
        return self.tried.get(weights, self.rank)

    def _rank(self, weights: Weights) -> Rank:
        decided = [
            decide_by_weights(fold.part.predictions, weights, self.cost) for fold in self.folds
        ]
        pairs = zip(self.folds, decided, strict=True)
        values = means_over_folds([fold.evidence(one) for fold, one in pairs])
        broken = violation(self.aimed, values)
        is_one = len(np.unique(np.concatenate(decided))) == 1
        found = standing(broken, is_one_sided=is_one)
        distance = float(np.abs(np.log(weights)).sum())
        # Merit breaks ties only, and may cost a call of the user's metric.
        if found > self.rank[0] or not math.isfinite(broken):
            return found, math.inf, distance
        merit = mean_recall(self.folds, decided) if self.merit is None else self.merit(weights)
        return found, math.inf if math.isnan(merit) else -merit, distance


def mean_recall(folds: Sequence[Fold], decided: Sequence[Any]) -> float:
    """Return the mean recall of the classes on the decided rows, without classes that have none."""
    numbers, y = np.concatenate(decided), np.concatenate([fold.part.y for fold in folds])
    known = [fold.part.weights for fold in folds]
    weights = np.ones(len(y)) if known[0] is None else np.concatenate(known)
    hits, is_decided = numbers == y, numbers != UNDECIDED
    rows = [(y == label) & is_decided for label in np.unique(y)]
    shares = [float(np.average(hits[one], weights=weights[one])) for one in rows if one.any()]
    return float(np.mean(shares)) if shares else math.nan


def decide_by_weights(
    probabilities: Any,
    weights: Sequence[float] | Array,
    cost: ClassCosts | None = None,
    least_share: float = 0.0,
) -> Any:
    """Return the number of the class of the best decision, for every row.

    It is argmax_k w_k p_k, and with a cost argmin_k Σ_i w_i q_i c(i, k) for the tempered
    probabilities q. Without a cost a row is UNDECIDED if max_k w_k p_k / Σ_k w_k p_k is below the
    `least_share`.
    """
    by_class = np.asarray(weights, dtype=float)
    if cost is None:
        decided = np.argmax(np.asarray(probabilities) * by_class, axis=1)
        if least_share == 0.0:
            return decided
        return np.where(top_shares(probabilities, weights) < least_share, UNDECIDED, decided)
    weighed = tempered(probabilities, cost.temperature) * by_class
    return np.argmin(weighed @ np.asarray(cost.table, dtype=float), axis=1)


def top_shares(probabilities: Any, weights: Sequence[float] | Array) -> Array:
    """Return max_k w_k p_k / Σ_k w_k p_k of every row; 0 where all products are 0."""
    weighed = np.asarray(probabilities, dtype=float) * np.asarray(weights, dtype=float)
    total = weighed.sum(axis=1)
    shares: Array = np.divide(weighed.max(axis=1), total, out=np.zeros_like(total), where=total > 0)
    return shares
