"""What the parts ask of each other: protocols of one to three methods, and the records they pass.

A solver, an executor or an objective of a third party satisfies these by shape; nobody inherits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from automl_admm.core.problem import (
    AtFidelity,
    Evaluation,
    Observation,
    SelectionSubproblem,
    Status,
    ThetaSubproblem,
)
from automl_admm.core.space import Array, Selection


class ThetaSolver(Protocol):
    """Minimises over a box. One instance serves a whole run and may keep what it learns.

    The same solver may be given boxes of different dimensions, 0 and 1 included.
    """

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a sub-problem; its history holds all that is known of this box."""

    def ask(self, count: int, pending: Sequence[Array]) -> Sequence[Array | AtFidelity[Array]]:
        """Propose up to `count` points of [0, 1]^d; `pending` are asked for and not yet told.

        Proposing nothing says that the box has nothing left to try: that is a fault where an axis
        is continuous and nothing is pending.
        """

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn. Points may come out of order, failed, or never asked for."""


class ZSolver(Protocol):
    """Minimises over a table of decisions. What it learns may persist over the sub-problems.

    What it was told before has the prices of that day: each sub-problem says what all of it is
    worth today.
    """

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a sub-problem: `history` is known in it, `elsewhere` with other parameters."""

    def ask(
        self, count: int, pending: Sequence[Selection]
    ) -> Sequence[Selection | AtFidelity[Selection]]:
        """Propose up to `count` selections, each one that `SearchSpace.complete` would make."""

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Learn. Points may come out of order, failed, or never asked for."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work for an executor: call `method` of its work with `arguments`."""

    number: int
    method: str
    arguments: Mapping[str, Any]
    seconds: float | None = None
    keep: bool = False


@dataclass(frozen=True, slots=True)
class Finished:
    """How a task ended; `folder` holds the files that the task wrote, if it was to be kept."""

    number: int
    status: Status
    result: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    seconds: float = 0.0
    folder: Path | None = None


class Executor(Protocol):
    """Runs up to `workers` tasks at a time.

    One that runs them in this very process says so by an attribute `runs_here`.
    """

    workers: int

    def submit(self, task: Task) -> None:
        """Start a task; there must be a free worker."""

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """The tasks that ended since the last call: at least one, unless the time ran out."""

    def kill(self, number: int) -> None:
        """Kill a task that runs; it ends as `cancelled`. One that does not run is left alone."""

    def close(self) -> None:
        """Kill what still runs and free everything."""


class Store(Protocol):
    """The memory of a run; only the core writes it."""

    def begin(self, number: int, key: str, text: str) -> None:
        """Note before an evaluation starts that it is under way; `append` of its key ends that."""

    def append(self, evaluation: Evaluation) -> None:
        """Keep an evaluation for good before returning.

        A key that is known is ignored, unless the search did not let that evaluation end
        (`cancelled`, `lost`): then the later result takes its place.
        """

    def read(self) -> Sequence[Evaluation]:
        """All evaluations in the order of their numbers."""

    def close(self) -> None:
        """Let go of the file."""
