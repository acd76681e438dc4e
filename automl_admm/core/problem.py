"""What crosses every boundary: limits, evaluations, observations, sub-problems, the state.

All records are frozen; the spaces that they speak of are in `automl_admm.core.space`.
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

# In the details of an evaluation: the class that all rows are called, where it is one alone.
ONE_CLASS = "one_class"


class Status(StrEnum):
    """How an evaluation ended. Being outside the limits is a result, not a failure."""

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

    `extreme` is the best g there can be, if that is known: a latency is never below 0, a recall
    never above 1. It bounds the slack u.
    """

    name: str
    bound: float
    at_least: bool = False
    extreme: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound):
            raise ConfigurationError(f"the limit '{self}' needs a finite number.")
        if self.room < 0:
            side = "above" if self.at_least else "below"
            reason = f"'{self.name}' is never {side} {self.extreme:g}."
            raise ConfigurationError(f"the limit '{self}' can never hold:", hint=reason)

    @property
    def room(self) -> float:
        """The largest slack there can be: from the bound to the extreme."""
        if self.extreme is None:
            return math.inf
        return self.turned(self.bound) - self.turned(self.extreme)

    def turned(self, value: float) -> float:
        """The value turned so that smaller is better."""
        return -value if self.at_least else value

    def holds(self, value: float) -> bool:
        """Whether the value is within the limit; NaN never is."""
        return self.turned(value) <= self.turned(self.bound)

    def __str__(self) -> str:
        return f"{self.name} {'>=' if self.at_least else '<='} {self.bound:g}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One line of the log: what was evaluated, how it ended, and everything that was measured."""

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
        """Whether there is a loss to learn from."""
        return self.status is Status.SUCCESS

    @property
    def is_whole(self) -> bool:
        """Whether it had all the rows: only whole evaluations are compared with each other."""
        return self.candidate.fidelity == 1.0

    @property
    def one_class(self) -> str | None:
        """The class that it decides for all rows; None if there are several, or no classes."""
        found = self.details.get(ONE_CLASS)
        return None if found is None else str(found)


def is_feasible(evaluation: Evaluation, limits: Sequence[Limit]) -> bool:
    """Whether an evaluation succeeded and is within every limit.

    One that decides one class for all rows is not: it keeps limits on decisions by saying nothing.
    """
    if not evaluation.ok or evaluation.one_class is not None:
        return False
    pairs = zip(limits, evaluation.constraints, strict=True)
    return all(limit.holds(value) for limit, value in pairs)


@dataclass(frozen=True, slots=True)
class Observation(Generic[PointT]):
    """What a solver learns of one point: the loss it is to minimise, and the raw measurements.

    `loss` includes everything the solver is to minimise. That of a failed point is worse than the
    worst success known by then, and 1 where there is none: what models losses looks at `failed`.
    A failure that is `refused` was excluded by a limit whose value needs no evaluation: nothing was
    spent on it, and its constraints are what is known, NaN for the others.
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
        """Whether no loss counts: the point failed, or its loss is no finite number."""
        return self.failed or not math.isfinite(self.loss)


@dataclass(frozen=True, slots=True)
class AtFidelity(Generic[PointT]):
    """What a solver proposes instead of a bare point where a share of a whole evaluation will do.

    `fidelity` lies between the sub-problem's `lowest_fidelity` and 1.
    """

    point: PointT
    fidelity: float


@dataclass(frozen=True, slots=True, eq=False)
class Quadratic:
    """A part of the loss that is known without an evaluation: ½ Σ_i weight_i (x_i − center_i)²."""

    center: Array
    weight: Array

    def __call__(self, points: Array) -> Array:
        """The value at each row of `points`."""
        squares = self.weight * (np.atleast_2d(points) - self.center) ** 2
        return 0.5 * np.asarray(squares.sum(axis=1), dtype=float)


@dataclass(frozen=True, slots=True, eq=False)
class ThetaSubproblem:
    """A box to search: minimise the loss over [0, 1]^d, one axis a parameter.

    `known_cost` is the part of every loss that needs no evaluation; a model may leave it out of
    what it learns and add it exactly. The rest of a loss is the raw objective divided by
    `objective_unit`, and what the limits add to it. `cheap` has, for each limit whose value needs
    no evaluation, the function from a point to it; it is empty if there is none.

    The budget is in `evaluations`, in `seconds`, or in both. Where `lowest_fidelity` is below 1 a
    solver may ask for cheaper evaluations, by `AtFidelity`; only the one that asked is told of
    them.
    """

    parameters: tuple[Parameter, ...]
    start: Array
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

    `history` is what is known with these parameters, and would be answered from the log.
    `elsewhere` has, of every selection that was evaluated with others, the latest: to learn from,
    at the same prices, and perhaps worth evaluating again. Budget and fidelity are as in
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
    """All that one outer iteration leaves behind; arrays follow the space's parameters.

    `rho` is the penalty of the constraints, `integer_rho` that of ‖θ̃ᵈ − δ‖².
    """

    iteration: int
    selection: Selection
    theta: Array
    delta: Array
    dual: Array
    constraint_duals: Array
    slack: Array
    residuals: Array
    rho: float
    integer_rho: float
    primal_residual: float = math.inf
    dual_residual: float = math.inf
    incumbent: Evaluation | None = None
    evaluations: int = 0
    seconds: float = 0.0
    scales: Array = field(default_factory=lambda: np.ones(0))
