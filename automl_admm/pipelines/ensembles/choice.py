"""The choice between an ensemble and the single best pipeline, on out-of-fold predictions.

An ensemble selected on some rows looks better on them than it is. So the selection is repeated
without each part of the rows, and measured on that part against the single pipeline that would
have been the best without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import Counts, Losses, Purse, blend, select
from automl_admm.pipelines.ensembles.rated import Part, Rated


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

    def best(self, predictions: Array, parts: Sequence[Part]) -> int:
        """Return the place of the best single pipeline."""

    def losses_on(self, part: Part, others: Sequence[Part], predictions: Array) -> Array:
        """Return the losses on a part; what is chosen for predictions is chosen on the others."""


def choose(predictions: Array, rated: Rated, purse: Purse, judge: Judge | None = None) -> Choice:
    """Select an ensemble on all parts, and estimate its gain on parts that had no say.

    For each part k an ensemble E_k and a single pipeline b_k are chosen on the parts without a row
    of k. The gain is the mean of L_k(b_k) − L_k(E_k), and its standard error is their deviation
    over √n, where n counts parts with rows of their own. Members learned from some of the rows on
    which they are chosen, in other folds; as in stacking this is left out of account. Without a
    `judge` the metric alone rates.
    """
    judge = judge or rated
    counts = select(predictions, judge.losses(rated.parts), purse)
    if not Choice(counts).has_several:
        return Choice(counts)
    gains = np.array(list(_gains(predictions, rated, purse, judge)))
    if len(gains) < 2 or not np.isfinite(gains).all():
        return Choice(counts)
    error = float(np.std(gains, ddof=1)) / math.sqrt(rated.independent)
    return Choice(counts, float(np.mean(gains)), error, judge.errors)


def _gains(predictions: Array, rated: Rated, purse: Purse, judge: Judge) -> Iterable[float]:
    for part in rated.parts:
        yield _gain_on(part, rated.others(part), predictions, judge, purse)


def _gain_on(
    part: Part, others: Sequence[Part], predictions: Array, judge: Judge, purse: Purse
) -> float:
    """Return the gain on a part by a choice on the others; NaN if there is none to choose on."""
    if not others:
        return math.nan
    counts = select(predictions, judge.losses(others), purse)
    if not counts.any():
        return math.nan
    single = judge.best(predictions, others)
    pair = np.stack([predictions[single], blend(predictions, counts)])
    of_single, of_ensemble = judge.losses_on(part, others, pair)
    return float(of_single - of_ensemble)
