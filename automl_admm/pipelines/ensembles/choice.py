"""The choice between an ensemble and the single best pipeline, on out-of-fold predictions.

An ensemble selected on some rows looks better on them than it is. So the selection is repeated
without each part of the rows, and measured on that part against the single pipeline that would
have been the best without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import Counts, Losses, Purse, blend, select
from automl_admm.pipelines.ensembles.rated import Part, Rated
from automl_admm.pipelines.ensembles.within import Within


@dataclass(frozen=True, eq=False)
class Choice:
    """An ensemble as counts of the members, its mean gain over single pipelines, and its error.

    Losses are compared, so that a gain is positive where the ensemble is better. It counts from
    so many `errors` on, which are below 0 where even a small loss may be taken.
    """

    counts: Counts
    gain: float = math.nan
    error: float = math.nan
    errors: float = 1.0

    @property
    def is_better(self) -> bool:
        """True for several members with a gain above `noise`."""
        return self.has_several and self.gain > self.noise

    @property
    def noise(self) -> float:
        """The gain that may come by chance; below 0, the loss that may be taken."""
        return self.errors * self.error

    @property
    def has_several(self) -> bool:
        """True for several members."""
        return int((self.counts > 0).sum()) > 1


class Judge(Protocol):
    """Rates predictions on parts of the rows."""

    @property
    def errors(self) -> float:
        """The standard errors from which on a gain counts."""

    def losses(self, parts: Sequence[Part]) -> Losses:
        """Return the function by which members are selected."""

    def best(
        self,
        predictions: Array,
        parts: Sequence[Part],
        within: Within | None,
        may_ship: NDArray[np.bool_],
    ) -> int:
        """Return the place of the best single pipeline within the limits that may ship."""

    def losses_on(self, part: Part, others: Sequence[Part], predictions: Array) -> Array:
        """Return the losses on a part; what is chosen for predictions is chosen on the others."""


def choose(
    predictions: Array,
    rated: Rated,
    purse: Purse,
    judge: Judge | None = None,
    within: Within | None = None,
) -> Choice:
    """Select an ensemble on all parts, and estimate its gain on parts that had no say.

    For each part k an ensemble E_k and a single pipeline b_k are chosen on the parts without a row
    of k. The gain is the mean of L_k(b_k) − L_k(E_k), and its standard error is their deviation
    over √n, where n counts parts with rows of their own. Members learned from some of the rows on
    which they are chosen, in other folds; as in stacking this is left out of account. Without a
    `judge` the metric alone rates. Both are chosen `within` limits, if there are any to keep.
    """
    trial = _Trial(predictions, purse, judge or rated, within)
    counts = trial.counts(rated.parts)
    if not Choice(counts).has_several:
        return Choice(counts)
    gains = np.array([trial.gain(part, rated.others(part)) for part in rated.parts])
    if len(gains) < 2 or not np.isfinite(gains).all():
        return Choice(counts)
    error = float(np.std(gains, ddof=1)) / math.sqrt(rated.independent)
    return Choice(counts, float(np.mean(gains)), error, trial.judge.errors)


@dataclass(frozen=True, eq=False)
class _Trial:
    """Chooses an ensemble and a single pipeline on some parts, to be compared on another one."""

    predictions: Array
    purse: Purse
    judge: Judge
    within: Within | None

    def counts(self, parts: Sequence[Part]) -> Counts:
        """Return the members of the best ensemble on these parts, within the limits if one is.

        Where the best of all is within, or no pipeline is, none has to be chosen for the limits.
        """
        losses = self.judge.losses(parts)
        counts = select(self.predictions, losses, self.purse)
        if self.within is None or not counts.any():
            return counts
        holds = self.within.on(parts)
        if holds(blend(self.predictions, counts)):
            return counts
        inside = select(self.predictions, losses, self.purse, holds)
        return inside if inside.any() else counts

    def gain(self, part: Part, others: Sequence[Part]) -> float:
        """Return the gain on a part by a choice on the others; NaN without any to choose on."""
        counts = self.counts(others) if others else None
        if counts is None or not counts.any():
            return math.nan
        single = self.judge.best(self.predictions, others, self.within, self.purse.singles)
        pair = np.stack([self.predictions[single], blend(self.predictions, counts)])
        of_single, of_ensemble = self.judge.losses_on(part, others, pair)
        return float(of_single - of_ensemble)
