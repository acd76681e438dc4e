"""An executor under test, and the steps of its tests."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any, ClassVar

import psutil

from automl_admm.core.protocols import Executor, Finished, Task
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.runs.driving.told_ends import fault_of
from automl_admm.search.guard.guard import Helper
from automl_admm.testing.hazards import Hazards

WORKERS = 2
MEMORY = 400_000_000
# Long enough for a busy machine: a test waits for a thing to happen, not for this.
PATIENCE = 200.0
POLL = 0.02


class FromAThread:
    """An executor, called as by a run: in one thread, not that of its constructor."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._helper = Helper(name="executor under test")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._executor, name)

    def submit(self, task: Task) -> None:
        """Start a task."""
        self._call(lambda: self._executor.submit(task))

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """Return the tasks that have ended."""
        ended: Sequence[Finished] = self._call(lambda: self._executor.wait(timeout))
        return ended

    def kill(self, number: int) -> None:
        """Kill a task."""
        self._call(lambda: self._executor.kill(number))

    def close(self) -> None:
        """Close it; the thread stays for a second call."""
        self._call(self._executor.close)

    def end(self) -> None:
        """End the thread."""
        self._helper.stop()

    def _call(self, function: Callable[[], Any]) -> Any:
        found, problem = self._helper.call(function, PATIENCE * 10)
        if problem is not None:
            raise problem
        return found


class Started:
    """An executor, started at the first need and again after its end."""

    def __init__(self, start: Callable[[Path], Executor], scratch: Path) -> None:
        self.scratch = scratch
        self._start = start
        self._executor: Any = None
        self._callers: list[FromAThread] = []
        self._before: frozenset[psutil.Process] = frozenset()

    def get(self) -> Executor:
        """Return the executor, without ends of an earlier test."""
        if self._executor is None:
            self._before = frozenset(_children())
            executor: Any = self._start(self.scratch)
            if not getattr(executor, "runs_here", False):
                self._callers.append(executor := FromAThread(executor))
            self._executor = executor
        found: Executor = self._executor
        return found

    def left(self) -> list[str]:
        """Return the processes that are there since its start, and were not before."""
        return [_title(one) for one in _children() if one not in self._before and _lives(one)]

    def empty(self) -> None:
        """Kill the tasks of a failed test, and take their ends."""
        if self._executor is not None:
            for number in range(10):
                self._executor.kill(number)
            self._executor.wait(0.0)

    def close(self) -> None:
        """Close it, if there is one."""
        executor, self._executor = self._executor, None
        if executor is not None:
            executor.close()

    def end(self) -> None:
        """Close it, and end the threads of its calls."""
        self.close()
        for caller in self._callers:
            caller.end()


class ExecutorDriver:
    """Starts one executor for most of the tests, and plays the run that it works for."""

    patience: ClassVar[float] = PATIENCE
    started: ClassVar[Started]
    _folder: ClassVar[tempfile.TemporaryDirectory[str]]

    def make(self, work: Any, setting: ExecutorSetting) -> Executor:
        """Start an executor with this work."""
        raise NotImplementedError

    @classmethod
    def setup_class(cls) -> None:
        """Prepare one executor for all tests; pytest and the check call this before the first."""
        cls._folder = tempfile.TemporaryDirectory()
        scratch = Path(cls._folder.name) / "scratch"
        scratch.mkdir()
        cls.started = Started(
            lambda place: cls().make(Hazards(), ExecutorSetting(WORKERS, MEMORY, place)), scratch
        )

    @classmethod
    def teardown_class(cls) -> None:
        """Close the executor after the last test."""
        cls.started.end()
        cls._folder.cleanup()

    def teardown_method(self) -> None:
        """Leave no task of a test that failed."""
        self.started.empty()

    def fresh_folder(self) -> Path:
        """Return an empty folder, which goes with the others after the last test."""
        return Path(tempfile.mkdtemp(dir=self.started.scratch.parent))

    def finish(
        self, executor: Executor, number: int, method: str, *, keep: bool = False, **arguments: Any
    ) -> Finished:
        """Run one task to its end."""
        executor.submit(Task(number, method, arguments, self.patience, keep))
        return self.next_end(executor, number)

    def next_end(self, executor: Executor, number: int) -> Finished:
        """Wait for the end of the only task."""
        ended = list(executor.wait(2 * self.patience))
        assert [one.number for one in ended] == [number], f"it returned {ended}"
        fault = fault_of(ended[0], {})
        assert fault is None, f"a run would refuse it: {fault}"
        assert ended[0].seconds >= 0, f"it took {ended[0].seconds} s"
        return ended[0]

    def hang(self, executor: Executor, number: int, mark: Path, seconds: float) -> tuple[int, int]:
        """Start a task that hangs; return the numbers of its process and of the parent of that."""
        executor.submit(Task(number, "hang", {"mark": str(mark)}, seconds))
        self.until(lambda: bool(executor.wait(0.0)) or mark.exists())
        pid, parent = mark.read_text().split()
        return int(pid), int(parent)

    def until(self, condition: Callable[[], bool], why: Callable[[], str] | None = None) -> None:
        """Poll until something holds."""
        end = time.monotonic() + self.patience
        while not condition():
            said = "it did not happen" if why is None else why()
            assert time.monotonic() < end, f"{said} within {self.patience:.0f} s"
            time.sleep(POLL)


def _children() -> list[psutil.Process]:
    """Return the processes below this one, but for one that Python itself keeps to its end."""
    kept = getattr(resource_tracker, "_resource_tracker", None)
    own = getattr(kept, "_pid", None)
    return [one for one in psutil.Process().children(recursive=True) if one.pid != own]


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _title(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return f"{process.name()} ({process.pid})"
    return str(process.pid)
