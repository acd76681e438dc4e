"""The settings of ADMM; sub-problems are solved roughly at first and better later."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from automl_admm.core.errors import ConfigurationError
from automl_admm.search.protocol import Allowance, SearchProblem

# Within these the squares of a penalty, and of its quotient by another, are finite.
LEAST_PENALTY, MOST_PENALTY = 1e-20, 1e20
# One sub-problem may not use up all the time that is left.
LARGEST_SHARE = 0.25
LAST = 128
# n_0 is an eighth of all evaluations, F a sixteenth.
SHARE_OF_FIRST, SHARE_OF_STEP = 8, 16
# Bounds of n_0 and F; the papers use 16 for both.
LEAST_FIRST, LEAST_STEP, MOST = 4, 1, 16


def check_penalty(name: str, value: float) -> None:
    """Raise unless the weight of a quadratic term can be computed with.

    >>> check_penalty("rho", 1.0)
    """
    if not LEAST_PENALTY <= value <= MOST_PENALTY:
        raise ValueError(f"{name} must be a number from {LEAST_PENALTY:g} to {MOST_PENALTY:g}")


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


@dataclass(frozen=True, slots=True)
class AdmmSettings:
    """The penalty ρ, the precision of the sub-problems, and the rules for stopping.

    `dual_cap` bounds the multipliers. `patience` is a number of outer iterations in a row without a
    new evaluation, excursions not counted: after so many the space counts as used up. The papers
    know no `drought` and no `excursions`, and their penalty does not fade.
    """

    rho: float = 1.0
    precision: Precision = field(default_factory=Precision)
    max_iterations: int | None = None
    patience: int = 5
    dual_cap: float = 100.0
    drought: bool = True
    excursions: bool = True
    fades: bool = True

    def integer_rho(self, iteration: int) -> float:
        """Return ρ_t = ρ / (1 + t), the penalty of ‖θ̃ᵈ − δ‖² in iteration t.

        f̃ is evaluated at the projection of θ̃ᵈ, so pipelines are always trained with whole numbers
        and the term is merely proximal: it keeps integers near their last values. With a constant ρ
        they move less and less as the search converges, because its gains shrink and ρ does not.
        The steps 1/ρ_t of a proximal point method may grow (Rockafellar 1976). If it does not fade,
        as in the papers, it is ρ.
        """
        return self.rho / (1.0 + iteration) if self.fades else self.rho
