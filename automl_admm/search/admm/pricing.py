"""The log under today's multipliers: what a logged evaluation costs now is arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from automl_admm.core.problem import AdmmState, Evaluation, Limit, Quadratic
from automl_admm.core.ranking import ENOUGH_TO_MEASURE, spread
from automl_admm.core.space import Array, Candidate, SearchSpace, Selection
from automl_admm.search.admm import lagrangian

TOLERANCE = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Scales:
    """What losses and constraints are divided by, so that ρ means the same for all of them.

    They are settled once there was enough to measure them on.
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
        """g − ε in units of the scales."""
        gaps = [
            limit.turned(value) - limit.turned(limit.bound)
            for limit, value in zip(self.limits, evaluation.constraints, strict=True)
        ]
        return np.array(gaps, dtype=float) / self.scales.constraints

    def room(self) -> Array:
        """The largest slack each constraint can have."""
        widths = [limit.room for limit in self.limits]
        return np.array(widths, dtype=float) / self.scales.constraints

    def cost(self, evaluation: Evaluation) -> float:
        """f̃ + ρ/2 Σ (r + μ/ρ)² of an evaluation that succeeded, up to a constant.

        Infinite where a constraint could not be measured: a NaN is neither more nor less.
        """
        loss = evaluation.loss / self.scales.loss
        if not self.limits:
            return loss
        cost = loss + lagrangian.constraint_cost(
            self.excess(evaluation), self.room(), self.constraint_duals, self.rho
        )
        return math.inf if math.isnan(cost) else cost

    def residuals(self, evaluation: Evaluation) -> Array:
        """r_m of an evaluation that succeeded."""
        return lagrangian.constraint_residuals(
            self.excess(evaluation), self.room(), self.constraint_duals, self.rho
        )

    def slack(self, evaluation: Evaluation) -> Array:
        """u_m of an evaluation that succeeded."""
        return lagrangian.slack(
            self.excess(evaluation), self.room(), self.constraint_duals, self.rho
        )


def measure_scales(evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> Scales:
    """Measure the units, so that a usual gain, a clear breach and a way across the box weigh alike.

    Of the loss it is the spread of what was seen; of a constraint a tenth of its limit, or of the
    spread of its values where the limit is not positive.
    """
    succeeded = [evaluation for evaluation in evaluations if evaluation.ok]
    constraints = [
        TOLERANCE
        * (limit.bound if limit.bound > 0 else spread(e.constraints[m] for e in succeeded))
        for m, limit in enumerate(limits)
    ]
    return Scales(
        spread(e.loss for e in succeeded),
        np.array(constraints, dtype=float),
        are_settled=len(succeeded) >= ENOUGH_TO_MEASURE,
    )


@dataclass(frozen=True, eq=False)
class ThetaSubspace:
    """The parameters that one selection makes active, as a box."""

    space: SearchSpace
    selection: Selection
    prices: Prices
    known_cost: Quadratic

    def candidate(self, point: Array) -> Candidate:
        """A point of the box as a candidate; a point outside is put on the edge."""
        return Candidate(self.selection, tuple(float(x) for x in np.clip(point, 0.0, 1.0)))

    def locate(self, candidate: Candidate) -> Array | None:
        """The active parameters, if it is a candidate of this selection."""
        return np.array(candidate.theta) if candidate.selection == self.selection else None

    def price(self, evaluation: Evaluation, point: Array) -> float:
        """f̃ + ρ/2 ‖θ̃ᵈ − b‖² + ρ/2 Σ (r + μ/ρ)²."""
        return self.prices.cost(evaluation) + float(self.known_cost(point)[0])


@dataclass(frozen=True, eq=False)
class SelectionSubspace:
    """All selections, with every component's parameters fixed at their latest values.

    `project` is the space's projection; the loop hands in one that remembers, because the whole
    log is looked through at every sub-problem.
    """

    space: SearchSpace
    theta: Array
    prices: Prices
    project: Callable[[Candidate], Candidate]
    _here: dict[Selection, Candidate] = field(default_factory=dict, init=False)

    def candidate(self, point: Selection) -> Candidate:
        """The selection with the parameters that it makes active."""
        if point not in self._here:
            self._here[point] = self.space.candidate(point, self.theta)
        return self._here[point]

    def locate(self, candidate: Candidate) -> Selection | None:
        """The selection, if the candidate's parameters project to the fixed ones."""
        candidate = replace(candidate, fidelity=1.0)
        here = self.candidate(candidate.selection)
        if candidate == here or self.project(candidate) == self.project(here):
            return candidate.selection
        return None

    def price(self, evaluation: Evaluation, point: Selection) -> float:  # noqa: ARG002 - of the protocol
        """f̃ + ρ/2 Σ (r + μ/ρ)²."""
        return self.prices.cost(evaluation)


@dataclass(frozen=True, slots=True, eq=False)
class OtherParameters:
    """All selections with any parameters but the fixed ones."""

    fixed: SelectionSubspace

    def candidate(self, point: Selection) -> Candidate:
        """The selection with the fixed parameters."""
        return self.fixed.candidate(point)

    def locate(self, candidate: Candidate) -> Selection | None:
        """The selection, if the candidate's parameters are others."""
        return None if self.fixed.locate(candidate) is not None else candidate.selection

    def price(self, evaluation: Evaluation, point: Selection) -> float:
        """The same as with the fixed ones."""
        return self.fixed.price(evaluation, point)


def prices_of(state: AdmmState, limits: tuple[Limit, ...], scales: Scales) -> Prices:
    """Today's prices."""
    return Prices(limits, scales, state.constraint_duals, state.rho)
