"""The promises of an executor."""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from typing import Any
from unittest import SkipTest

import psutil

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.testing.silence import silent_streams
from automl_admm.testing.started_executor import MEMORY, WORKERS, ExecutorDriver


class ExecutorContract(ExecutorDriver):
    """The promises of an executor to a run, which the suite plays.

    Return your executor in `make`; its workers must be on this machine, because the tests look at
    processes. One is started for most of the tests, and called from one thread, not that of `make`.
    An executor with `runs_here` is called as it is, and let off the promises that need a process
    for each task.
    """

    def test_a_result_comes_back(self) -> None:
        """The result is the mapping that the method returned; no file of the task stays."""
        executor = self.started.get()
        given: dict[str, Any] = {"b": [1.5, None, "ü"], "a": {"deep": True}}
        finished = self.finish(executor, 1, "echo", **given)
        assert (finished.status, finished.message) == (Status.SUCCESS, "")
        assert finished.result["got"] == given
        assert list(finished.result["got"]) == ["b", "a"], "the keys changed their order"
        assert finished.seconds > 0
        assert finished.folder is None
        assert [path.name for path in self.started.scratch.glob("task-*")] == []

    def test_results_go_through_json(self) -> None:
        """Tuples become lists, NaN and infinity stay; anything else is `invalid`."""
        executor = self.started.get()
        result: Mapping[str, Any] = self.finish(executor, 1, "odd_numbers").result
        assert math.isnan(result["nan"])
        assert (result["infinity"], result["pair"]) == (math.inf, [1, 2])
        finished = self.finish(executor, 2, "no_json")
        assert finished.status is Status.INVALID
        assert "JSON" in finished.message

    def test_each_result_has_its_own_number(self) -> None:
        """Results are told apart by the numbers of their tasks, in whatever order they come."""
        executor = self.started.get()
        numbers = range(1, 1 + min(executor.workers, WORKERS))
        for number in numbers:
            executor.submit(Task(number, "echo", {"own": number}, self.patience))
        ended: list[Finished] = []
        while len(ended) < len(numbers):
            some = executor.wait(2 * self.patience)
            assert some, "it returned nothing while a task ran"
            ended += some
        assert {one.number: one.result["got"]["own"] for one in ended} == {n: n for n in numbers}

    def test_the_work_is_prepared(self) -> None:
        """`prepare` of the work was called before the task."""
        executor = self.started.get()
        assert self.finish(executor, 1, "echo").result["is_prepared"] is True

    def test_an_exception_is_an_error(self) -> None:
        """A method that raises ends as `error`, with message and traceback; others go on."""
        executor = self.started.get()
        finished = self.finish(executor, 1, "fail", keep=True)
        assert (finished.status, finished.message) == (Status.ERROR, "ValueError: this is wrong")
        assert "in fail" in finished.result["traceback"]
        assert finished.folder is None, "files are kept of a success alone"
        assert self.finish(executor, 2, "echo").status is Status.SUCCESS

    def test_files_are_kept_if_wanted(self) -> None:
        """With `keep` the caller gets a folder below `scratch` with the files of the task."""
        executor = self.started.get()
        folder = self.finish(executor, 3, "echo", keep=True).folder
        assert folder is not None
        assert self.started.scratch in folder.parents
        assert (folder / "below" / "written.txt").read_text() == "by the task"

    def test_nothing_to_wait_for(self) -> None:
        """`wait` returns at once if nothing runs; killing an unknown task does no harm."""
        executor = self.started.get()
        executor.kill(9)
        assert list(executor.wait(0.0)) == []
        assert list(executor.wait()) == []

    def test_a_task_can_be_killed(self) -> None:
        """A killed task ends as `cancelled`; its process is dead, and others go on."""
        executor = self.started.get()
        folder = self.fresh_folder()
        if getattr(executor, "runs_here", False):
            executor.submit(Task(1, "echo", {}))
            executor.kill(1)
            assert self.next_end(executor, 1).status is Status.CANCELLED
            return
        pid, _ = self.hang(executor, 1, folder / "mark", self.patience)
        assert list(executor.wait(0.0)) == [], "it returned the end of a task that runs"
        executor.kill(1)
        assert self.next_end(executor, 1).status is Status.CANCELLED
        self.until(lambda: is_dead(pid))
        assert self.finish(executor, 2, "echo").status is Status.SUCCESS

    def test_a_time_limit_is_kept_without_us(self) -> None:
        """A hanging task is killed at its limit, though nobody calls the executor meanwhile."""
        executor = self.started.get()
        folder = self.fresh_folder()
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        pid, _ = self.hang(executor, 1, folder / "mark", seconds=3.0)
        self.until(lambda: is_dead(pid))
        finished = self.next_end(executor, 1)
        assert finished.status is Status.TIMEOUT
        assert finished.seconds >= 3.0

    def test_a_memory_limit_is_kept(self) -> None:
        """A task beyond the memory limit is killed, and nothing else."""
        executor = self.started.get()
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        assert self.finish(executor, 1, "fill").status is Status.MEMOUT
        assert self.finish(executor, 2, "echo").status is Status.SUCCESS

    def test_a_crash_is_named(self) -> None:
        """A process that dies ends as `crashed`, with the signal or the exit code."""
        executor = self.started.get()
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        finished = self.finish(executor, 1, "crash")
        assert (finished.status, finished.message) == (Status.CRASHED, "signal SIGSEGV")
        finished = self.finish(executor, 2, "leave")
        assert (finished.status, finished.message) == (Status.CRASHED, "exit 3")

    def test_as_many_at_a_time_as_workers(self) -> None:
        """Two tasks run at the same time, if there are two workers."""
        executor = self.started.get()
        folder = self.fresh_folder()
        # Workers of an engine may join one after the other.
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        self.until(lambda: not executor.wait(0.0) and executor.workers >= WORKERS)
        self.hang(executor, 1, folder / "one", self.patience)
        self.hang(executor, 2, folder / "two", self.patience)
        executor.kill(1)
        executor.kill(2)
        ended: list[Finished] = []
        while len(ended) < 2:
            ended += executor.wait(self.patience)
        assert {one.status for one in ended} == {Status.CANCELLED}

    def test_a_killed_worker_costs_its_tasks(self) -> None:
        """The tasks of a killed parent end as `lost`; later ones find a worker again."""
        executor = self.started.get()
        folder = self.fresh_folder()
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        pid, parent = self.hang(executor, 1, folder / "mark", self.patience)
        psutil.Process(parent).kill()
        finished = self.next_end(executor, 1)
        assert finished.status is Status.LOST
        assert finished.message
        self.until(lambda: is_dead(pid))
        assert self.finish(executor, 2, "echo").status is Status.SUCCESS

    def test_it_is_silent(self) -> None:
        """Output of a task stays off the terminal of the run."""
        executor = self.started.get()
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        with silent_streams():
            self.finish(executor, 1, "echo")

    def test_a_work_that_cannot_be_sent(self) -> None:
        """A work that cannot be pickled is a ConfigurationError, before anything starts."""
        executor = self.started.get()
        folder = self.fresh_folder()
        if getattr(executor, "runs_here", False):
            raise SkipTest("it runs in this process")
        setting = ExecutorSetting(WORKERS, MEMORY, folder)
        said = ""
        try:
            self.make(threading.Lock(), setting).close()
        except ConfigurationError as problem:
            said = str(problem)
        assert "cannot be sent" in said, "it took a work that cannot be pickled"

    def test_closing_kills_and_leaves_nothing(self) -> None:
        """`close` ends all processes and removes all files; a second one does no harm."""
        folder = self.fresh_folder()
        executor = self.started.get()
        if getattr(executor, "runs_here", False):
            self.started.close()
            executor.close()
            return
        pid, parent = self.hang(executor, 1, folder / "mark", self.patience)
        self.started.close()
        self.until(lambda: is_dead(pid) and is_dead(parent))
        self.until(lambda: not self.started.left(), lambda: f"it left {self.started.left()}")
        executor.close()
        assert {one.status for one in executor.wait(0.0)} <= {Status.CANCELLED}
        assert [path.name for path in self.started.scratch.iterdir() if path.name != "task-3"] == []


def is_dead(pid: int) -> bool:
    """Return True if a process has ended, reaped or not."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
