"""The choice between an ensemble and the single best pipeline, on out-of-fold predictions.

An ensemble selected on some rows looks better on them than it is. So the selection is repeated
without each part of the rows, and measured on that part against the single pipeline that would
have been the best without it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import Counts, Losses, Purse, blend, select
from automl_admm.pipelines.ensembles.rated import Part, Rated
from automl_admm.pipelines.ensembles.within import Found, Within


@dataclass(frozen=True, eq=False)
class Choice:
    """An ensemble as counts of the members, its mean gain over single pipelines, and its error.

    Losses are compared, so that a gain is positive where the ensemble is better. It counts from
    so many `errors` on, which are below 0 where even a small loss may be taken. On rows that had no
    say ensembles are outside of limits by `excess`, and single pipelines by `single_excess`. An
    ensemble `is_first_within` if no pipeline alone keeps the limits.
    """

    counts: Counts
    gain: float = math.nan
    error: float = math.nan
    errors: float = 1.0
    excess: float = 0.0
    single_excess: float = 0.0
    is_first_within: bool = False

    @property
    def is_better(self) -> bool:
        """True for several members with a gain above `noise`, or alone within the limits."""
        return self.has_several and (self.is_first_within or self.gain > self.noise)

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

    def best(self, predictions: Array, parts: Sequence[Part], within: Within | None) -> int:
        """Return the place of the best single pipeline within the limits."""

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
    found = Choice(trial.counts(rated.parts))
    if not found.has_several:
        return found
    compared = [trial.compare(part, rated.others(part)) for part in rated.parts]
    found = replace(trial.told_of_limits(found, rated.parts, compared), errors=trial.judge.errors)
    gains = np.array([one.gain for one in compared])
    if len(gains) < 2 or not np.isfinite(gains).all():
        return found
    error = float(np.std(gains, ddof=1)) / math.sqrt(rated.independent)
    return replace(found, gain=float(np.mean(gains)), error=error)


@dataclass(frozen=True, eq=False)
class _Compared:
    """The gain on a part that had no say, and the evidence of limits of both."""

    gain: float
    of_ensemble: Found = ()
    of_single: Found = ()


@dataclass(frozen=True, eq=False)
class _Trial:
    """Chooses an ensemble and a single pipeline on some parts, to be compared on another one."""

    predictions: Array
    purse: Purse
    judge: Judge
    within: Within | None

    def counts(self, parts: Sequence[Part]) -> Counts:
        """Return the members of the best ensemble on these parts, within the limits if one is.

        Where the best of all is within, none has to be chosen for the limits.
        """
        losses = self.judge.losses(parts)
        counts = select(self.predictions, losses, self.purse)
        if self.within is None or not counts.any():
            return counts
        excess = self.within.on(parts)
        if excess(blend(self.predictions, counts)) == 0.0:
            return counts
        return select(self.predictions, losses, self.purse, excess)

    def compare(self, part: Part, others: Sequence[Part]) -> _Compared:
        """Return the gain on a part by a choice on the others; NaN without any to choose on."""
        counts = self.counts(others) if others else None
        if counts is None or not counts.any():
            return _Compared(math.nan)
        single = self.judge.best(self.predictions, others, self.within)
        pair = np.stack([self.predictions[single], blend(self.predictions, counts)])
        of_single, of_ensemble = self.judge.losses_on(part, others, pair)
        gain = float(of_single - of_ensemble)
        if self.within is None:
            return _Compared(gain)
        return _Compared(gain, self.within.seen(pair[1], part), self.within.seen(pair[0], part))

    def told_of_limits(
        self, found: Choice, parts: Sequence[Part], compared: Sequence[_Compared]
    ) -> Choice:
        """Return the choice with what is known of the limits: it, and pipelines alone."""
        if self.within is None or not all(one.of_single for one in compared):
            return found
        excess, alone = self.within.on(parts), self.judge.best(self.predictions, parts, self.within)
        is_within = excess(blend(self.predictions, found.counts)) == 0.0
        return replace(
            found,
            excess=self.within.excess([one.of_ensemble for one in compared]),
            single_excess=self.within.excess([one.of_single for one in compared]),
            is_first_within=is_within and excess(self.predictions[alone]) > 0.0,
        )
