"""The contracts between parts: protocols of a few methods, and the records they pass.

A third party's solver, executor or objective satisfies these by shape; nobody inherits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Array, Selection
from automl_admm.core.subproblems import (
    AtFidelity,
    Observation,
    SelectionSubproblem,
    ThetaSubproblem,
)


class ThetaSolver(Protocol):
    """A minimiser over a box. One instance serves a whole run and may keep its knowledge.

    The same solver may be given boxes of different dimensions, 0 and 1 included. With several
    workers it may begin a sub-problem early, to be asked a few times, and then begin it anew.

    >>> [name for name in vars(ThetaSolver) if name in ("begin", "ask", "tell")]
    ['begin', 'ask', 'tell']
    """

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a sub-problem; its history holds all known observations of this box."""

    def ask(self, count: int, pending: Sequence[Array]) -> Sequence[Array | AtFidelity[Array]]:
        """Propose up to `count` points of [0, 1]^d; `pending` ones are asked for and not yet told.

        An empty answer means a box with nothing left to try: it is a fault if an axis is continuous
        and nothing is pending.
        """

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn. Points may come out of order, failed, or never asked for."""


class ZSolver(Protocol):
    """A minimiser over a table of decisions. Its knowledge may persist over the sub-problems.

    Earlier observations have the prices of their day: each sub-problem brings today's price of all
    of them. With several workers it may begin a sub-problem early, and then anew, as `ThetaSolver`.

    >>> [name for name in vars(ZSolver) if name in ("begin", "ask", "tell")]
    ['begin', 'ask', 'tell']
    """

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a sub-problem: `history` is known in it, `elsewhere` with other parameters."""

    def ask(
        self, count: int, pending: Sequence[Selection]
    ) -> Sequence[Selection | AtFidelity[Selection]]:
        """Propose up to `count` selections, each in the form made by `SearchSpace.complete`.

        An empty answer means a table with nothing left to try: it is a fault in a table of eight
        selections or more with few of them known, if nothing is pending.
        """

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Learn. Points may come out of order, failed, or never asked for."""


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work for an executor: call `method` of its work with `arguments`.

    >>> Task(1, "evaluate", {"x": 0.5}, seconds=10.0).keep
    False
    """

    number: int
    method: str
    arguments: Mapping[str, Any]
    seconds: float | None = None  # time limit
    keep: bool = False  # keep the files of the task


@dataclass(frozen=True, slots=True)
class Finished:
    """The end of a task; `folder` holds the task's files if they were to be kept.

    >>> Finished(1, Status.LOST, message="the worker is gone").seconds
    0.0
    """

    number: int
    status: Status
    result: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    seconds: float = 0.0
    folder: Path | None = None


class Executor(Protocol):
    """A runner of up to `workers` tasks at a time, all on one work.

    The work is any object; a task calls `work.method(folder=…, **arguments)` of it, in a process of
    its own. The contract, which `automl_admm.testing.contracts.ExecutorContract` tests:

    - The work is pickled once, by value where it comes from a script, and loaded where tasks run;
      one that cannot be pickled is a ConfigurationError of the constructor. Its method `prepare()`
      is called there before the first task, if it has one.
    - A result is a mapping that goes through JSON: tuples become lists, NaN and infinity stay, and
      anything else ends as `invalid`. Files in the folder of a task come back if it says `keep`
      and ends as `success`; else nothing of them is left.
    - The executor enforces `seconds` of a task and the memory of its setting, even if nobody calls
      it meanwhile: `timeout`, `memout`. An exception is `error`, a death `crashed`. Neither
      touches other tasks.
    - The run kills by `kill` and `close`; a task so killed ends as `cancelled`. One that the run
      did not kill counts as `lost`.
    - `seconds` of an end are finite and at least 0 (less counts as 0), `status` is a `Status`, and
      `folder` is there. Anything else ends the run with a PluginError.
    - A lost worker costs its tasks only: they end as `lost`, and the run submits them once more.
      With no worker to come, `submit` and `wait` raise AutomlAdmmError.
    - One thread calls it, not that of the constructor. It prints nothing, and leaves no process and
      no file. A call that does not come back is left behind, with the executor.

    An executor that works in this very process says so by an attribute `runs_here`; it is let off
    the promises that need a process for each task. `workers` may change while a run lasts.

    >>> all(hasattr(LocalExecutor, name) for name in ("submit", "wait", "kill", "close"))
    True
    """

    workers: int

    def submit(self, task: Task) -> None:
        """Start a task; there must be a free worker."""

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """Return the tasks ended since the last call: at least one, unless the time ran out.

        If nothing runs it returns at once.
        """

    def kill(self, number: int) -> None:
        """Kill a running task; it ends as `cancelled`. A task not running is left alone."""

    def close(self) -> None:
        """Kill all running tasks and free everything; a second call does nothing."""


class Store(Protocol):
    """The memory of a run; only the core writes it."""

    def begin(self, number: int, key: str, text: str) -> None:
        """Note before an evaluation that it is under way; `append` of its key ends that."""

    def append(self, evaluation: Evaluation) -> None:
        """Keep an evaluation for good before returning.

        A known key is ignored, unless its evaluation was cut off by the search (`cancelled`,
        `lost`): then the later result takes its place.
        """

    def read(self) -> Sequence[Evaluation]:
        """Return all evaluations in the order of their numbers."""

    def close(self) -> None:
        """Let go of the file."""
