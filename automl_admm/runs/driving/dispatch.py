"""Tasks of a run on their way to its executor, each under a number of its own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from functools import partial
from itertools import count
from numbers import Real
from typing import Any, TypeVar

from automl_admm.core.errors import (
    FREE_ROOM,
    AutomlAdmmError,
    DiskFullError,
    EvaluatorLostError,
    PluginError,
    is_full_disk,
    is_own_error,
)
from automl_admm.core.messages import say_error, say_value
from automl_admm.core.protocols import Executor, Finished, Task
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.driving.patience import PatientCaller
from automl_admm.runs.driving.told_ends import as_agreed, fault_of

logger = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

# Waits are cut into slices of so many seconds: neither an interrupt nor a plugin that wants to
# stop wakes an executor.
SLICE = 0.25


class TaskKind(StrEnum):
    """The kinds of tasks; the executor calls the method of this name on the run's work."""

    EVALUATE = "evaluate"
    FALL_BACK = "fall_back"
    REFIT = "refit"
    FIT_FOLDS = "fit_folds"
    SETTLE = "settle"
    RELOAD = "reload"
    CHOOSE_ENSEMBLE = "choose_ensemble"
    ASSEMBLE = "assemble"


class Dispatcher:
    """Own the executor of a run and the numbers of its tasks.

    No number is given twice in a run. So the late end of an abandoned task is never taken for the
    end of another. After a call without an end the executor is left behind, unless it works
    in this very process. One that `has_failed` is to be asked for nothing more. A final fit has
    a value of each of the run's `limits`, of which this is the number.
    """

    def __init__(
        self,
        executor: Executor,
        title: str = "the executor",
        interrupts: Deferral | None = None,
        *,
        limits: int = 0,
    ) -> None:
        self._executor, self.title, self._limits = executor, title, limits
        self.has_failed = False
        self._numbers = count(1)
        self._tasks: dict[int, Task] = {}
        self._killed: set[int] = set()
        self._fault: PluginError | None = None
        self._caller = PatientCaller(title, interrupts or Deferral(enabled=False))

    @property
    def workers(self) -> int:
        """Number of tasks at a time."""
        with self._naming_it():
            found: object = self._executor.workers
            if not isinstance(found, Real) or not float(found).is_integer():
                raise PluginError(
                    f"{self.title} failed: it says that its workers are {say_value(found)}, "
                    "which is not a whole number."
                )
            return int(float(found))

    @property
    def runs_here(self) -> bool:
        """True if tasks run in this very process."""
        return bool(getattr(self._executor, "runs_here", False))

    @property
    def is_remote(self) -> bool:
        """True if tasks run on other machines: their files travel."""
        return bool(getattr(self._executor, "is_remote", False))

    def make(
        self,
        kind: TaskKind,
        arguments: Mapping[str, Any],
        seconds: float | None,
        *,
        keep: bool = False,
    ) -> Task:
        """Make a task of the next number; with `keep` its files stay."""
        return Task(next(self._numbers), kind.value, arguments, seconds, keep=keep)

    def submit(self, task: Task) -> None:
        """Hand out a task to a free worker; a lost one may be handed out again."""
        self._tasks[task.number] = task
        with self._naming_it():
            self._call("submit", partial(self._executor.submit, task))

    def wait(self, timeout: float) -> Sequence[Finished]:
        """Return the tasks ended by now; wait for one `timeout` seconds at most.

        An end against the contract raises, but not before the sound ones beside it are returned:
        then the next call does.
        """
        with self._naming_it():
            ended = self._call("wait", lambda: tuple(self._executor.wait(timeout)), timeout)
            sound = tuple(one for told in ended if (one := self._checked(told)) is not None)
            if not sound:
                self._raise_fault()
            return sound

    def _checked(self, told: Finished) -> Finished | None:
        """Return an end as the run may use it; None, and note it, if it breaks the contract."""
        fault = fault_of(told, self._tasks, self._limits)
        if fault is not None:
            self._fault = self._fault or PluginError(f"{self.title} failed: {fault}.")
            return None
        agreed = as_agreed(told, self._killed)
        self._tasks.pop(agreed.number, None)
        return agreed

    def _raise_fault(self) -> None:
        if self._fault is not None:
            raise self._fault

    def wait_for(self, task: Task) -> Finished | None:
        """Wait a slice of time for one task alone; None if it has not ended by then."""
        ended = self.wait(SLICE)
        return next((one for one in ended if one.number == task.number), None)

    def kill(self, task: Task) -> None:
        """Kill a running task; it ends as cancelled."""
        self._killed.add(task.number)
        with self._naming_it():
            self._call("kill", partial(self._executor.kill, task.number))

    def close(self) -> None:
        """Close the executor: the work is done, so its failure is told and spoils nothing."""
        try:
            if self.runs_here:
                self._executor.close()
            else:
                self._caller.close(self._executor.close)
        except KeyboardInterrupt:
            raise
        except PluginError as problem:
            logger.warning("%s", problem)
        except BaseException as problem:  # noqa: BLE001 - no plugin ends the program
            logger.warning("%s failed to close: %s", self.title, say_error(problem))

    def _is_of_system(self, problem: BaseException) -> bool:
        """Return True for what the system refuses to an executor of ours."""
        is_ours = type(self._executor).__module__.partition(".")[0] == __name__.partition(".")[0]
        return is_ours and isinstance(problem, OSError)

    def _call(self, name: str, function: Callable[[], ResultT], seconds: float = 0.0) -> ResultT:
        """Call the executor, with limited patience if it works elsewhere."""
        self._raise_fault()
        return function() if self.runs_here else self._caller.call(name, function, seconds)

    @contextmanager
    def _naming_it(self) -> Iterator[None]:
        """Tell errors of the executor by its title, and note that it has failed."""
        try:
            yield
        except BaseException as problem:
            # The driver may go on without an evaluator, and after an interrupt.
            self.has_failed |= not isinstance(problem, KeyboardInterrupt | EvaluatorLostError)
            named = self._named(problem)
            if named is None:
                raise
            raise named from problem

    def _named(self, problem: BaseException) -> AutomlAdmmError | None:
        """Return an error by the executor's title; None for one that passes as it is."""
        said = f"{self.title} failed: {say_error(problem)}."
        if is_full_disk(problem):
            return DiskFullError(f"no room left on the disk: {said}", hint=FREE_ROOM)
        if type(problem) is AutomlAdmmError:  # by its contract: no worker can come
            told = f"{self.title} failed: {problem.message.rstrip('.')}."
            return PluginError(told, hint=problem.hint)
        # Of the system, too, and the usual end of an executor on other machines.
        is_gone = isinstance(problem, ConnectionError | TimeoutError)
        if is_gone or (is_own_error(problem) and not self._is_of_system(problem)):
            return PluginError(said)
        return None
