"""Adaptive precision: sub-problems are solved roughly at first and better later."""

from __future__ import annotations

from dataclasses import dataclass

from automl_admm.errors import ConfigurationError
from automl_admm.search import Allowance, SearchProblem

LARGEST_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Precision:
    """n_t = min(n_0 + F·t, n_max) evaluations for each sub-problem of iteration t."""

    first: int = 16
    step: int = 16
    last: int = 128

    def __post_init__(self) -> None:
        if not 1 <= self.first <= self.last or self.step < 0:
            raise ConfigurationError("precision needs 1 <= first <= last and step >= 0.")

    def evaluations(self, iteration: int) -> int:
        """n_t."""
        return min(self.first + self.step * iteration, self.last)

    def share(self, iteration: int) -> float:
        """The same idea in time: n_t / n_max of the time that is left, a quarter at most."""
        return min(self.evaluations(iteration) / self.last, LARGEST_SHARE)

    def allowance(self, problem: SearchProblem, iteration: int) -> Allowance:
        """What one sub-problem of iteration t may use up."""
        until = None
        if problem.deadline is not None:
            now = problem.clock()
            until = now + self.share(iteration) * max(problem.deadline - now, 0.0)
        return Allowance(self.evaluations(iteration), until, problem.clock)
