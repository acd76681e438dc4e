"""Our executors keep the contract, and it finds those that do not."""

from __future__ import annotations

import math
import sqlite3
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.execution.local_executor import LocalExecutor
from automl_admm.plugins.records import ExecutorSetting
from automl_admm.testing.contracts import ExecutorContract
from automl_admm.testing.hazards import Hazards
from automl_admm.testing.started_executor import Started


class TestInline(ExecutorContract):
    def make(self, work: Any, setting: ExecutorSetting) -> InlineExecutor:
        return InlineExecutor(work, setting)


class TestLocal(ExecutorContract):
    def make(self, work: Any, setting: ExecutorSetting) -> LocalExecutor:
        return LocalExecutor(work, setting)


SECONDS = {"no time": math.nan, "endless": math.inf, "two clocks": -7.0}


class Broken(InlineExecutor):
    """An executor with one broken promise."""

    def __init__(self, fault: str, scratch: Path) -> None:
        super().__init__(Hazards(), ExecutorSetting(1, None, scratch))
        self.fault = fault

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        ended = super().wait(timeout)
        if self.fault == "numbers":
            return [Finished(one.number + 1, one.status, one.result) for one in ended]
        if self.fault == "statuses":
            return [Finished(one.number, Status.SUCCESS, one.result) for one in ended]
        if self.fault in SECONDS:
            return [replace(one, seconds=SECONDS[self.fault]) for one in ended]
        return ended

    def submit(self, task: Task) -> None:
        is_kept = task.keep and self.fault != "files"
        super().submit(Task(task.number, task.method, task.arguments, task.seconds, is_kept))

    def kill(self, number: int) -> None:
        if self.fault != "killing":
            super().kill(number)


PROMISES: dict[str, Callable[[ExecutorContract], None]] = {
    **dict.fromkeys(SECONDS, ExecutorContract.test_an_exception_is_an_error),
    "numbers": ExecutorContract.test_the_work_is_prepared,
    "statuses": ExecutorContract.test_an_exception_is_an_error,
    "files": ExecutorContract.test_files_are_kept_if_wanted,
    "killing": ExecutorContract.test_a_task_can_be_killed,
}


def contract_of(executor: Broken, folder: Path) -> ExecutorContract:
    class Contract(ExecutorContract):
        started = Started(lambda _: executor, folder)

    return Contract()


@pytest.mark.parametrize("fault", PROMISES)
def test_a_broken_promise_is_found(fault: str, tmp_path: Path) -> None:
    executor = Broken(fault, tmp_path)
    with pytest.raises(AssertionError):
        PROMISES[fault](contract_of(executor, tmp_path))
    executor.close()


def test_an_executor_without_a_fault_is_let_through(tmp_path: Path) -> None:
    executor = Broken("none", tmp_path)
    for keeps in PROMISES.values():
        keeps(contract_of(executor, tmp_path))
    executor.close()


class Extended(LocalExecutor):
    """An executor with something more in its constructor, used at each call."""

    def __init__(self, fault: str, work: Any, setting: ExecutorSetting) -> None:
        super().__init__(work, setting)
        self.memory = sqlite3.connect(":memory:") if fault == "thread" else None
        if fault == "process":
            LEFT.append(subprocess.Popen(["sleep", "100"]))

    def submit(self, task: Task) -> None:
        if self.memory is not None:
            self.memory.execute("select 1")
        super().submit(task)


LEFT: list[Any] = []


def extended(fault: str, patience: float) -> type[ExecutorContract]:
    class Contract(ExecutorContract):
        def make(self, work: Any, setting: ExecutorSetting) -> LocalExecutor:
            return Extended(fault, work, setting)

    Contract.patience = patience
    return Contract


def test_an_executor_that_is_bound_to_the_thread_of_its_constructor_is_found() -> None:
    contract = extended("thread", 30.0)
    contract.setup_class()
    with pytest.raises(sqlite3.ProgrammingError, match="created in a thread"):
        contract().test_a_result_comes_back()
    contract.teardown_class()


def test_an_executor_that_leaves_a_process_is_found() -> None:
    contract = extended("process", 5.0)
    contract.setup_class()
    with pytest.raises(AssertionError, match=r"it left \['sleep"):
        contract().test_closing_kills_and_leaves_nothing()
    contract.teardown_class()
    for process in LEFT:
        process.kill()
        process.wait()
