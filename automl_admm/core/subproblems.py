"""The two sub-problems given to solvers, and the records that solvers exchange about points."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from automl_admm.core.limits import Limit
from automl_admm.core.priors import Arms, PriorPoints
from automl_admm.core.space import Array, Parameter, SearchSpace, Selection

PointT = TypeVar("PointT")


@dataclass(frozen=True, slots=True, eq=False)
class ThetaSubproblem:
    """A box to search: minimise the loss over [0, 1]^d, one axis a parameter.

    `known_cost` is the part of every loss known without an evaluation; a model may leave it out of
    its values and add it exactly. The rest of a loss is the raw objective divided by
    `objective_unit`, plus the price of the limits. `cheap` has for each limit a function from a
    point to its value, or None if the value needs an evaluation; it is empty if there is no such
    function.

    The budget is in `evaluations`, in `seconds`, or in both. If `lowest_fidelity` is below 1, a
    solver may ask for cheaper evaluations by `AtFidelity`; only the solver that asked hears of
    them. `prior` has good settings of other tables for a solver that `takes_priors`.

    >>> known_cost = Quadratic(np.zeros(1), np.zeros(1))
    >>> ThetaSubproblem((Parameter("x", 0, 1),), np.array([0.5]), known_cost).history
    ()
    """

    parameters: tuple[Parameter, ...]
    start: Array
    # Terms of equation (16) of Ram et al. 2020 in ADMM, zero in the joint search.
    known_cost: Quadratic
    history: tuple[Observation[Array], ...] = ()
    limits: tuple[Limit, ...] = ()
    cheap: tuple[Callable[[Array], float] | None, ...] = ()
    objective_unit: float = 1.0
    evaluations: int | None = None
    seconds: float | None = None
    lowest_fidelity: float = 1.0
    iteration: int = 0
    seed: int = 0
    prior: tuple[PriorPoints, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SelectionSubproblem:
    """A table of decisions to search, with the parameters of every alternative fixed.

    `history` is known with these parameters, and would be answered from the log. `elsewhere` has
    the latest observation of every selection evaluated with other parameters: to learn from, at the
    same prices, and perhaps worth evaluating again. Budget and fidelity are as in
    `ThetaSubproblem`. `prior` has pseudo-counts of other tables for a solver that `takes_priors`,
    by decision and alternative; what is not in it is unknown there.

    >>> SelectionSubproblem(SearchSpace(), start={}).lowest_fidelity
    1.0
    """

    space: SearchSpace
    start: Selection
    history: tuple[Observation[Selection], ...] = ()
    limits: tuple[Limit, ...] = ()
    evaluations: int | None = None
    seconds: float | None = None
    lowest_fidelity: float = 1.0
    iteration: int = 0
    seed: int = 0
    elsewhere: tuple[Observation[Selection], ...] = ()
    prior: Arms = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Observation(Generic[PointT]):
    """A solver's knowledge of one point: the loss to minimise, and the raw measurements.

    `loss` includes everything to be minimised. A failed point costs more than the worst success
    known by then, or 1 if there is none; models of losses should look at `failed`. A `refused`
    failure was excluded by a limit with a value computed without an evaluation: it cost nothing,
    and its constraints hold the known values, NaN for the others. One that was `stopped` was
    clearly worse than the best on the first folds: its loss is a forecast for all of them.

    >>> Observation(np.zeros(1), loss=1.0, failed=True).is_lost
    True
    """

    point: PointT
    loss: float
    objective: float = math.nan
    constraints: tuple[float, ...] = ()
    seconds: float = 0.0
    failed: bool = False
    fidelity: float = 1.0
    refused: bool = False
    stopped: bool = False

    @property
    def is_lost(self) -> bool:
        """True if no loss counts: the point failed, or its loss is no finite number."""
        return self.failed or not math.isfinite(self.loss)


@dataclass(frozen=True, slots=True)
class AtFidelity(Generic[PointT]):
    """A solver's proposal of a point with less than a whole evaluation.

    `fidelity` lies between the sub-problem's `lowest_fidelity` and 1.

    >>> AtFidelity(np.zeros(1), 0.25).fidelity
    0.25
    """

    point: PointT
    fidelity: float


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """A part of the loss known without an evaluation: ½ Σ_i weight_i (x_i − center_i)².

    >>> Quadratic(center=np.zeros(1), weight=np.ones(1))(np.array([[2.0]]))
    array([2.])
    """

    center: Array
    weight: Array

    def __call__(self, points: Array) -> Array:
        """Return the value at each row of `points`."""
        # A single point counts as one row.
        squares = self.weight * (np.atleast_2d(points) - self.center) ** 2
        return 0.5 * np.asarray(squares.sum(axis=1), dtype=float)
