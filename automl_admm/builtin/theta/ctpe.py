"""The rule of the θ-solver `ctpe`: raw objective and raw constraints, parted one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.builtin.theta.parzen import Split
from automl_admm.builtin.theta.tpe import Mask, Told, first_ranked, group_size
from automl_admm.search import spread
from automl_admm.space import Array


class ConstrainedRule:
    """c-TPE: a split for the objective and one for each constraint, their ratios multiplied.

    `by_feasible` counts the objective's good group in feasible points (B.3.1), else in points;
    `relative` takes relative density ratios and gives a constraint that nothing satisfies the
    point nearest to it (B.3.2). The naive extension of B.2 has neither.
    """

    def __init__(self, *, by_feasible: bool, relative: bool) -> None:
        self._by_feasible = by_feasible
        self._relative = relative

    def part(self, told: Told) -> list[Mask]:
        """Which are good: for the objective, then for each constraint."""
        values = ranked_by(told)
        succeeded = np.isfinite(values)
        feasible = np.asarray((told.excess <= 0.0).all(axis=1))
        counted = feasible if self._by_feasible else succeeded
        objective = first_ranked(values, counted, group_size(len(values))) & succeeded
        return [objective, *(self._within(column) for column in told.excess.T)]

    def _within(self, excess: Array) -> Mask:
        """Who satisfies a constraint; with nobody, the one that violates it least."""
        good = excess <= 0.0
        if self._relative and not good.any() and np.isfinite(excess).any():
            good[int(excess.argmin())] = True
        return good

    def score(self, splits: Sequence[Split], points: Array) -> Array:
        """Σ_i log r_rel,i, or Σ_i log r_i of the naive extension."""
        if self._relative:
            terms = [split.log_relative_ratio(points) for split in splits]
        else:
            terms = [split.log_ratio(points) for split in splits]
        return np.asarray(np.sum(terms, axis=0))


def ranked_by(told: Told) -> Array:
    """f in units of its spread, plus ADMM's known cost; infinite for failures.

    The known cost is in the units of the loss, which are those of the spread. Without limits the
    loss is exactly this sum.
    """
    if not told.excess.shape[1]:
        return told.losses
    if not told.known.any():
        return told.objectives
    return told.objectives / spread(told.objectives) + told.known
