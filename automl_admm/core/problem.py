"""Records shared by all parts: limits, evaluations, observations, sub-problems, the state.

All records are frozen; the spaces they refer to are in `automl_admm.core.space`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Array, Candidate, Parameter, SearchSpace, Selection

PointT = TypeVar("PointT")

# The key, in the details of an evaluation, of the class given to all rows, if there is only one.
ONE_CLASS = "one_class"


class Status(StrEnum):
    """The end of an evaluation. Being outside the limits is a result, not a failure."""

    # Run folders store these texts: never rename one.
    SUCCESS = "success"
    TIMEOUT = "timeout"
    MEMOUT = "memout"
    CRASHED = "crashed"
    ERROR = "error"
    INVALID = "invalid"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Limit:
    """A constraint g ≤ bound, or g ≥ bound if `at_least`.

    `extreme` is the best possible g, if known: a latency is never below 0, a recall never above 1.
    It bounds the slack u.
    """

    name: str
    bound: float
    at_least: bool = False
    extreme: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise ConfigurationError(f"the limit '{self}' needs a finite number.")
        # The bound lies beyond anything possible.
        if self.room < 0:
            side = "above" if self.at_least else "below"
            reason = f"'{self.name}' is never {side} {self.extreme:g}."
            raise ConfigurationError(f"the limit '{self}' can never hold:", hint=reason)

    @property
    def room(self) -> float:
        """Largest possible slack, from the bound to the extreme."""
        if self.extreme is None:
            return math.inf
        return self.turned(self.bound) - self.turned(self.extreme)

    def turned(self, value: float) -> float:
        """Return the value turned so that smaller is better."""
        return -value if self.at_least else value

    def holds(self, value: float) -> bool:
        """Return True if the value is within the limit; NaN never is."""
        return self.turned(value) <= self.turned(self.bound)

    def __str__(self) -> str:
        return f"{self.name} {'>=' if self.at_least else '<='} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One line of the log: the candidate, its status, and all measurements."""

    number: int
    key: str
    candidate: Candidate
    status: Status
    loss: float = math.nan
    constraints: tuple[float, ...] = ()
    seconds: float = 0.0
    text: str = ""
    message: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """True if there is a loss to learn from."""
        return self.status is Status.SUCCESS

    @property
    def is_whole(self) -> bool:
        """True if it used all the rows: only whole evaluations are compared with each other."""
        return self.candidate.fidelity == 1.0

    @property
    def one_class(self) -> str | None:
        """Class given to all rows; None if there are several, or no classes."""
        found = self.details.get(ONE_CLASS)
        return None if found is None else str(found)


def is_feasible(evaluation: Evaluation, limits: Sequence[Limit]) -> bool:
    """Return True if an evaluation succeeded and is within every limit.

    Predicting one class for all rows is never feasible: it would keep limits on decisions by
    deciding nothing.
    """
    if not evaluation.ok or evaluation.one_class is not None:
        return False
    pairs = zip(limits, evaluation.constraints, strict=True)
    return all(limit.holds(value) for limit, value in pairs)


@dataclass(frozen=True, slots=True)
class Observation(Generic[PointT]):
    """A solver's knowledge of one point: the loss to minimise, and the raw measurements.

    `loss` includes everything to be minimised. A failed point costs more than the worst success
    known by then, or 1 if there is none; models of losses should look at `failed`. A `refused`
    failure was excluded by a limit with a value computed without an evaluation: it cost nothing,
    and its constraints hold the known values, NaN for the others.
    """

    point: PointT
    loss: float
    objective: float = math.nan
    constraints: tuple[float, ...] = ()
    seconds: float = 0.0
    failed: bool = False
    fidelity: float = 1.0
    refused: bool = False

    @property
    def is_lost(self) -> bool:
        """True if no loss counts: the point failed, or its loss is no finite number."""
        return self.failed or not math.isfinite(self.loss)


@dataclass(frozen=True, slots=True)
class AtFidelity(Generic[PointT]):
    """A solver's proposal of a point with less than a whole evaluation.

    `fidelity` lies between the sub-problem's `lowest_fidelity` and 1.
    """

    point: PointT
    fidelity: float


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """A part of the loss known without an evaluation: ½ Σ_i weight_i (x_i − center_i)²."""

    center: Array
    weight: Array

    def __call__(self, points: Array) -> Array:
        """Return the value at each row of `points`."""
        # A single point counts as one row.
        squares = self.weight * (np.atleast_2d(points) - self.center) ** 2
        return 0.5 * np.asarray(squares.sum(axis=1), dtype=float)


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
    them.
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


@dataclass(frozen=True, slots=True, eq=False)
class SelectionSubproblem:
    """A table of decisions to search, with the parameters of every alternative fixed.

    `history` is known with these parameters, and would be answered from the log. `elsewhere` has
    the latest observation of every selection evaluated with other parameters: to learn from, at the
    same prices, and perhaps worth evaluating again. Budget and fidelity are as in
    `ThetaSubproblem`.
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


@dataclass(frozen=True, slots=True, eq=False)
class AdmmState:
    """The result of one outer iteration; arrays follow the space's parameters.

    `rho` is the penalty of the constraints, `integer_rho` that of ‖θ̃ᵈ − δ‖².
    """

    iteration: int
    selection: Selection
    theta: Array  # θ of all alternatives, integers relaxed
    delta: Array  # δ; a continuous parameter is its own
    dual: Array  # λ
    constraint_duals: Array  # μ
    slack: Array  # u
    residuals: Array  # r = g − ε + u
    rho: float
    integer_rho: float
    primal_residual: float = math.inf  # ‖θ̃ − δ‖ + Σ |r|
    dual_residual: float = math.inf  # ρ_t ‖δ(t+1) − δ(t)‖
    incumbent: Evaluation | None = None
    evaluations: int = 0
    seconds: float = 0.0
    scales: Array = field(default_factory=lambda: np.ones(0))
