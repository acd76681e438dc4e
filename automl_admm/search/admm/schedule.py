"""Adaptive precision: sub-problems are solved roughly at first and better later."""

from __future__ import annotations

import math
from dataclasses import dataclass

from automl_admm.core.errors import ConfigurationError
from automl_admm.search.protocol import Allowance, SearchProblem

# One sub-problem may not use up all the time that is left.
LARGEST_SHARE = 0.25
LAST = 128
# n_0 is an eighth of all evaluations, F a sixteenth.
SHARE_OF_FIRST, SHARE_OF_STEP = 8, 16
# Bounds of n_0 and F; the papers use 16 for both.
LEAST_FIRST, LEAST_STEP, MOST = 4, 1, 16


@dataclass(frozen=True, slots=True)
class Precision:
    """n_t = min(n_0 + F·t, n_max) evaluations for each sub-problem of iteration t."""

    first: int = 16
    step: int = 16
    last: int = LAST

    @classmethod
    def within(
        cls, budget: int | None, first: int | None, step: int | None, last: int = LAST
    ) -> Precision:
        """Return the papers' n_t = 16 + 16 t, or less if the whole search has few evaluations.

        Then n_0 is an eighth of them and F a sixteenth: with 16 + 16 t a search of 60 would have
        one sub-problem of each kind, and its multipliers would never move.
        """
        if budget is None:
            budget = SHARE_OF_STEP * MOST
        some = min(max(math.ceil(budget / SHARE_OF_FIRST), LEAST_FIRST), MOST, last)
        more = min(max(math.ceil(budget / SHARE_OF_STEP), LEAST_STEP), MOST)
        return cls(some if first is None else first, more if step is None else step, last)

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last or self.step < 0:
            raise ConfigurationError("precision needs 1 <= first <= last and step >= 0.")

    def evaluations(self, iteration: int) -> int:
        """Return n_t."""
        return min(self.first + self.step * iteration, self.last)

    def share(self, iteration: int) -> float:
        """Return the same idea in time: n_t / n_max of the time left, a quarter at most."""
        return min(self.evaluations(iteration) / self.last, LARGEST_SHARE)

    def allowance(self, problem: SearchProblem, iteration: int) -> Allowance:
        """Return the evaluations and the time of one sub-problem of iteration t."""
        until = None
        if problem.deadline is not None:
            now = problem.clock()
            until = now + self.share(iteration) * max(problem.deadline - now, 0.0)
        return Allowance(self.evaluations(iteration), until, problem.clock)
