"""Prices of logged evaluations under today's multipliers: arithmetic, no new evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import ENOUGH_TO_MEASURE, spread
from automl_admm.core.space import Array, Candidate, SearchSpace, Selection
from automl_admm.core.subproblems import Quadratic
from automl_admm.search.admm import lagrangian

# A clear breach: this share of a constraint's limit, or of its spread.
TOLERANCE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """Divisors of losses and constraints, so that one ρ means the same for all of them.

    They are settled once enough evaluations were there to measure them.
    """

    loss: float
    constraints: Array
    are_settled: bool


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """f̃ and the constraints' part of the augmented Lagrangian at given multipliers."""

    limits: tuple[Limit, ...]
    scales: Scales
    constraint_duals: Array
    rho: float

    def excess(self, evaluation: Evaluation) -> Array:
        """Return g − ε in units of the scales."""
        gaps = [
            limit.turned(value) - limit.turned(limit.bound)
            for limit, value in zip(self.limits, evaluation.constraints, strict=True)
        ]
        return np.array(gaps, dtype=float) / self.scales.constraints

    def room(self) -> Array:
        """Return the largest slack of each constraint."""
        widths = [limit.room for limit in self.limits]
        return np.array(widths, dtype=float) / self.scales.constraints

    def cost(self, evaluation: Evaluation) -> float:
        """Return f̃ + ρ/2 Σ (r + μ/ρ)² of a successful evaluation, up to a constant.

        It is infinite if a constraint was not measured, because NaN would compare with nothing.
        """
        loss = evaluation.loss / self.scales.loss
        if not self.limits:
            return loss
        cost = loss + lagrangian.constraint_cost(
            self.excess(evaluation), self.room(), self.constraint_duals, self.rho
        )
        return math.inf if math.isnan(cost) else cost

    def residuals(self, evaluation: Evaluation) -> Array:
        """Return r_m of a successful evaluation."""
        return lagrangian.constraint_residuals(
            self.excess(evaluation), self.room(), self.constraint_duals, self.rho
        )

    def slack(self, evaluation: Evaluation) -> Array:
        """Return u_m of a successful evaluation."""
        return lagrangian.slack(
            self.excess(evaluation), self.room(), self.constraint_duals, self.rho
        )


def measure_scales(evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> Scales:
    """Measure the units, so that a usual gain, a clear breach and a way across the box weigh alike.

    The unit of losses is the spread of those seen. That of a constraint is the spread of its values
    or a tenth of its limit, whichever is less; of a limit that is not positive, a tenth of the
    spread.
    """
    succeeded = [evaluation for evaluation in evaluations if evaluation.ok]
    constraints = [
        _constraint_unit(limit, [e.constraints[m] for e in succeeded])
        for m, limit in enumerate(limits)
    ]
    return Scales(
        spread(e.loss for e in succeeded),
        np.array(constraints, dtype=float),
        are_settled=len(succeeded) >= ENOUGH_TO_MEASURE,
    )


def _constraint_unit(limit: Limit, values: Sequence[float]) -> float:
    """Return the unit of one constraint.

    Where all values are within a few per cent of the limit, as those of `accuracy >= 0.95` may be,
    a tenth of it is more than any breach, which would cost next to nothing.
    """
    width = spread(values)
    # A limit of 0 gives no unit, and a negative one may be anywhere.
    return TOLERANCE * width if limit.bound <= 0 else min(TOLERANCE * limit.bound, width)


@dataclass(frozen=True, eq=False)
class ThetaSubspace:
    """The parameters made active by one selection, as a box."""

    space: SearchSpace
    selection: Selection
    prices: Prices
    known_cost: Quadratic

    def candidate(self, point: Array) -> Candidate:
        """Return the candidate at a point of the box; a point outside moves to the edge."""
        return Candidate(self.selection, tuple(float(x) for x in np.clip(point, 0.0, 1.0)))

    def locate(self, candidate: Candidate) -> Array | None:
        """Return the active parameters of a candidate of this selection, else None."""
        return np.array(candidate.theta) if candidate.selection == self.selection else None

    def price(self, evaluation: Evaluation, point: Array) -> float:
        """Return f̃ + ρ/2 ‖θ̃ᵈ − b‖² + ρ/2 Σ (r + μ/ρ)²."""
        return self.prices.cost(evaluation) + float(self.known_cost(point)[0])


@dataclass(frozen=True, eq=False)
class SelectionSubspace:
    """All selections, with every component's parameters fixed at their latest values.

    `project` is the space's projection. The loop passes a cached one, because every sub-problem
    looks through the whole log.
    """

    space: SearchSpace
    theta: Array
    prices: Prices
    project: Callable[[Candidate], Candidate]
    _here: dict[Selection, Candidate] = field(default_factory=dict, init=False)

    def candidate(self, point: Selection) -> Candidate:
        """Return the selection with its active parameters."""
        if point not in self._here:
            self._here[point] = self.space.candidate(point, self.theta)
        return self._here[point]

    def locate(self, candidate: Candidate) -> Selection | None:
        """Return the selection if the candidate's parameters project to the fixed ones."""
        # A fixed candidate is whole; without this, one with fewer rows would never be found equal.
        candidate = replace(candidate, fidelity=1.0)
        here = self.candidate(candidate.selection)
        # Comparing comes first: it is far cheaper than two projections.
        if candidate == here or self.project(candidate) == self.project(here):
            return candidate.selection
        return None

    def price(self, evaluation: Evaluation, point: Selection) -> float:  # noqa: ARG002 - of the protocol
        """Return f̃ + ρ/2 Σ (r + μ/ρ)²."""
        return self.prices.cost(evaluation)


@dataclass(frozen=True, slots=True, eq=False)
class OtherParameters:
    """All selections with any parameters but the fixed ones."""

    fixed: SelectionSubspace

    def candidate(self, point: Selection) -> Candidate:
        """Return the selection with the fixed parameters."""
        return self.fixed.candidate(point)

    def locate(self, candidate: Candidate) -> Selection | None:
        """Return the selection if the candidate's parameters differ from the fixed ones."""
        return None if self.fixed.locate(candidate) is not None else candidate.selection

    def price(self, evaluation: Evaluation, point: Selection) -> float:
        """Return the same price as with the fixed ones."""
        return self.fixed.price(evaluation, point)


def prices_of(state: AdmmState, limits: tuple[Limit, ...], scales: Scales) -> Prices:
    """Return the prices at the multipliers of a state."""
    return Prices(limits, scales, state.constraint_duals, state.rho)
