"""The splitting of ADMMBO: a copy of the point for each constraint, and the score of a copy."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.builtin.theta.gaussian.acquisition import WithinLimit
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Quadratic

# Residual balancing (Boyd et al. 2011, 3.4.1): with one residual ten times the other, ρ is doubled
# or halved. It stays within 16 times its first value: copies move among few known points, so a
# dual residual of 0 may be chance.
UNBALANCED, STEP, SPAN = 10.0, 2.0, 16.0
# Below this room for improvement the logarithm is continued by its tangent.
LEAST = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Splitting:
    """The state of ADMM: min f(x) + Σ_i 1[c_i(z_i) > 0] so that x = z_i for each constraint i.

    `x` is the point, the rows of `copies` are the z_i and those of `duals` the y_i. ρ is in
    standard deviations of the objective, on the unit box.
    """

    x: Array
    copies: Array
    duals: Array
    rho: float
    first_rho: float

    @classmethod
    def at(cls, x: Array, count: int, rho: float) -> Splitting:
        """Begin with all copies at the point and without duals."""
        return cls(x, np.tile(x, (count, 1)), np.zeros((count, len(x))), rho, rho)

    def pull(self) -> Quadratic:
        """Return Σ_i ρ/2 ‖x − z_i + y_i/ρ‖² less a constant: N ρ/2 ‖x − z̄ + ȳ/ρ‖²."""
        center = (self.copies - self.duals / self.rho).mean(axis=0)
        return Quadratic(center, np.full(len(self.x), len(self.copies) * self.rho))

    def target(self, place: int) -> Array:
        """Return x + y_i/ρ, the point that the copy of a constraint is drawn to."""
        return np.asarray(self.x + self.duals[place] / self.rho)

    def moved(self, place: int, copy: Array) -> Splitting:
        """Return the state with another copy for a constraint."""
        copies = self.copies.copy()
        copies[place] = copy
        return replace(self, copies=copies)

    def updated(self, former: Array) -> Splitting:
        """Return the state after y_i ← y_i + ρ (x − z_i), and with ρ balanced.

        The residuals are r = mean_i ‖x − z_i‖ and s = mean_i ρ ‖z_i − z_i'‖ with the `former`
        copies z_i'. If r > 10 s, ρ is doubled; if s > 10 r, it is halved.
        """
        apart = self.x - self.copies
        primal = float(np.linalg.norm(apart, axis=1).mean())
        dual = self.rho * float(np.linalg.norm(self.copies - former, axis=1).mean())
        rho = self.rho
        if primal > UNBALANCED * dual:
            rho = min(rho * STEP, self.first_rho * SPAN)
        elif dual > UNBALANCED * primal:
            rho = max(rho / STEP, self.first_rho / SPAN)
        return replace(self, duals=self.duals + self.rho * apart, rho=rho)


@dataclass(frozen=True, slots=True, eq=False)
class FeasibilityImprovement:
    """log EI of h(z) = 1[c(z) > 0] + w ‖z − t‖² below `best`, w = ρ / (2M) and t = x + y/ρ.

    The indicator is a Bernoulli variable, 0 with p = P(c(z) ≤ 0). With the room q = `best` −
    w ‖z − t‖² the expected improvement is 0 for q ≤ 0, p q for 0 < q < 1, and q − (1 − p) for
    q ≥ 1.
    """

    within: WithinLimit
    target: Array
    weight: float
    best: float

    def room(self, points: Array) -> Array:
        """Return q at each row."""
        return np.asarray(self.best - self.weight * ((points - self.target) ** 2).sum(axis=1))

    def __call__(self, points: Array, projected: Array) -> Array:
        """Return the value at each row, with the copy on its grids."""
        return score(self.room(projected), self.within(points, projected))[0]

    def with_slopes(self, points: Array) -> tuple[Array, Array]:
        """Return the value at each row and its gradient, integers taken as real."""
        logged, logged_slope = self.within.with_slopes(points)
        value, by_room, by_logged = score(self.room(points), logged)
        room_slope = -2.0 * self.weight * (points - self.target)
        return value, by_room[:, None] * room_slope + by_logged[:, None] * logged_slope


def score(room: Array, logged: Array) -> tuple[Array, Array, Array]:
    """Return log EI, and its derivatives in q and in log p.

    Where there is no room, a tangent takes the place of log q = −∞: a climb needs a slope.
    """
    little, safe = room < LEAST, np.maximum(room, LEAST)
    part = np.where(little, np.log(LEAST) + room / LEAST - 1.0, np.log(safe)) + logged
    # log(q − 1 + p), also where p underflows
    whole = np.logaddexp(np.log(np.maximum(room - 1.0, 1e-300)), logged)
    beyond = room > 1.0
    return (
        np.where(beyond, whole, part),
        np.where(beyond, np.exp(np.minimum(-whole, 700.0)), 1.0 / safe),
        np.where(beyond, np.exp(np.minimum(logged - whole, 0.0)), 1.0),
    )


def copy_costs(points: Array, outside: Mask, target: Array, weight: float) -> Array:
    """Return h(z) = 1[c(z) > 0] + w ‖z − t‖² at each row, told which are `outside`."""
    return np.asarray(outside + weight * ((points - target) ** 2).sum(axis=1))


def together(one: Quadratic, other: Quadratic) -> tuple[Quadratic, float]:
    """Return a quadratic and a constant: the sum of two quadratics."""
    weight = one.weight + other.weight
    weighted = one.weight * one.center + other.weight * other.center
    # An axis that neither weighs has no center of its own.
    center = np.divide(weighted, weight, out=np.zeros_like(weight), where=weight > 0.0)
    whole = Quadratic(center, weight)
    return whole, float((one(center) + other(center) - whole(center))[0])
