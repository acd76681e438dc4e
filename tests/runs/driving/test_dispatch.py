from __future__ import annotations

import errno
import signal
import time
from asyncio import CancelledError
from collections.abc import Sequence
from threading import Event, get_ident

import pytest

from automl_admm.core.errors import AutomlAdmmError, DiskFullError, PluginError, StoreError
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.runs.driving import patience
from automl_admm.runs.driving.dispatch import Dispatcher, TaskKind
from automl_admm.runs.driving.interrupts import Deferral


class LateExecutor:
    """Ends a killed task one wait too late, when another one runs already."""

    workers = 1

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def submit(self, task: Task) -> None:
        self.tasks.append(task)

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        return [Finished(task.number, Status.SUCCESS) for task in self.tasks]

    def kill(self, number: int) -> None: ...

    def close(self) -> None: ...


class Broken(LateExecutor):
    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self.problem = problem

    def submit(self, task: Task) -> None:
        raise self.problem

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        raise self.problem

    def kill(self, number: int) -> None:
        raise self.problem


@pytest.mark.parametrize("call", ["submit", "wait", "wait_for", "kill"])
def test_an_executor_that_raises_is_named_in_one_line(call: str) -> None:
    dispatch = Dispatcher(Broken(RuntimeError("no\nnode")), "executor 'mine' (mine 0.3)")
    given = 0.0 if call == "wait" else dispatch.make(TaskKind.EVALUATE, {}, None)
    with pytest.raises(PluginError) as told:
        getattr(dispatch, call)(given)
    assert str(told.value) == "executor 'mine' (mine 0.3) failed: RuntimeError: no node."


@pytest.mark.parametrize("problem", [ConnectionRefusedError("away"), TimeoutError("late")])
def test_a_lost_connection_is_told_by_the_name_of_the_executor(problem: OSError) -> None:
    with pytest.raises(PluginError, match=f"^executor 'mine' failed: {type(problem).__name__}: "):
        Dispatcher(Broken(problem), "executor 'mine'").wait(0.0)


def test_a_full_disk_is_told_by_the_name_of_the_executor_and_its_own_exit_code() -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(DiskFullError, match=r"executor 'mine' failed: .* No space left"):
        Dispatcher(Broken(full), "executor 'mine'").wait(0.0)


def test_what_the_contract_tells_it_to_raise_is_an_error_of_the_plugin_with_its_advice() -> None:
    gone = AutomlAdmmError("the cluster is gone", hint="Start it.")
    with pytest.raises(PluginError) as told:
        Dispatcher(Broken(gone), "executor 'mine'").wait(0.0)
    said = "executor 'mine' failed: the cluster is gone. Start it."
    assert (str(told.value), told.value.exit_code) == (said, 2)


@pytest.mark.parametrize("problem", [StoreError("full."), KeyboardInterrupt()])
def test_errors_of_ours_pass(problem: BaseException) -> None:
    with pytest.raises(type(problem)) as told:
        Dispatcher(Broken(problem)).wait(0.0)
    assert told.value is problem


def test_what_the_system_refuses_is_told_by_the_name_of_a_foreign_executor_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(PluginError, match=r"^executor 'mine' failed: OSError: gone\.$"):
        Dispatcher(Broken(OSError("gone")), "executor 'mine'").wait(0.0)
    monkeypatch.setattr(Broken, "__module__", "automl_admm.execution.any")
    with pytest.raises(OSError, match="gone"):
        Dispatcher(Broken(OSError("gone")), "executor 'local'").wait(0.0)


@pytest.mark.parametrize(
    ("ended", "says"), [(None, "'NoneType'"), ([3], "it says that 3 has ended")]
)
def test_what_is_no_list_of_ended_tasks_is_named(ended: object, says: str) -> None:
    executor = LateExecutor()
    executor.wait = lambda timeout=None: ended  # type: ignore[assignment, method-assign]
    with pytest.raises(PluginError, match=rf"^executor 'mine' failed: .*{says}"):
        Dispatcher(executor, "executor 'mine'").wait(0.0)


@pytest.mark.parametrize("call", ["submit", "wait", "wait_for", "kill"])
def test_sound_ends_beside_a_wrong_one_are_returned_before_it_is_told(call: str) -> None:
    executor = LateExecutor()
    ended = [Finished(1, Status.SUCCESS), None, Finished(2, Status.ERROR)]
    executor.wait = lambda timeout=None: ended  # type: ignore[assignment, method-assign]
    dispatch = Dispatcher(executor, "executor 'mine'")
    assert [one.number for one in dispatch.wait(0.0)] == [1, 2]
    assert not dispatch.has_failed
    given = 0.0 if call == "wait" else dispatch.make(TaskKind.EVALUATE, {}, None)
    for _ in range(2):
        with pytest.raises(PluginError, match=r"^executor 'mine' failed: .* None has ended\.$"):
            getattr(dispatch, call)(given)
    assert dispatch.has_failed
    assert executor.tasks == []


def test_workers_may_be_a_float_of_a_whole_number() -> None:
    executor = LateExecutor()
    executor.workers = 2.0  # type: ignore[assignment]
    found = Dispatcher(executor).workers
    assert (found, type(found)) == (2, int)


@pytest.mark.parametrize("workers", ["2", None, 2.5, float("inf")])
def test_workers_that_are_no_number_are_named(workers: object) -> None:
    executor = LateExecutor()
    executor.workers = workers  # type: ignore[assignment]
    with pytest.raises(PluginError, match=r"^executor 'mine' failed: .*its workers are "):
        _ = Dispatcher(executor, "executor 'mine'").workers


def test_workers_that_raise_are_named() -> None:
    class Bare(LateExecutor):
        workers = property(lambda self: 1 // 0)  # type: ignore[assignment]

    with pytest.raises(PluginError, match=r"^executor 'mine' failed: ZeroDivisionError: "):
        _ = Dispatcher(Bare(), "executor 'mine'").workers


@pytest.mark.parametrize(
    "problem", [RuntimeError("no node"), SystemExit(0), CancelledError("late")]
)
def test_an_executor_that_fails_to_close_is_told_and_spoils_nothing(
    problem: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    executor = LateExecutor()

    def fail() -> None:
        raise problem

    executor.close = fail  # type: ignore[method-assign]
    Dispatcher(executor, "executor 'mine'").close()
    assert f"executor 'mine' failed to close: {type(problem).__name__}: " in caplog.text


class Hanging(LateExecutor):
    """Hangs in one call until it is let go."""

    def __init__(self, call: str) -> None:
        super().__init__()
        self.hangs_in, self.is_over, self.calls = call, Event(), list[str]()

    def note(self, call: str) -> None:
        self.calls.append(call)
        if call == self.hangs_in:
            self.is_over.wait(30.0)

    def submit(self, task: Task) -> None:
        self.note("submit")

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        self.note("wait")
        return ()

    def kill(self, number: int) -> None:
        self.note("kill")

    def close(self) -> None:
        self.note("close")


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "LONGEST", 0.05)
    monkeypatch.setattr(patience, "SHORT", 0.05)


@pytest.mark.parametrize("call", ["submit", "wait", "wait_for", "kill"])
@pytest.mark.usefixtures("little_patience")
def test_an_executor_that_hangs_is_named_and_closed(call: str) -> None:
    executor = Hanging(call.removesuffix("_for"))
    dispatch = Dispatcher(executor, "executor 'mine'")
    given = 0.0 if call == "wait" else dispatch.make(TaskKind.EVALUATE, {}, None)
    with pytest.raises(PluginError, match=r"^executor 'mine' failed: `\w+` has not come back for "):
        getattr(dispatch, call)(given)
    assert dispatch.has_failed
    dispatch.close()
    assert executor.calls == [call.removesuffix("_for"), "close"]
    executor.is_over.set()


@pytest.mark.usefixtures("little_patience")
def test_an_executor_that_hangs_at_its_end_is_told_and_left_behind(
    caplog: pytest.LogCaptureFixture,
) -> None:
    executor = Hanging("close")
    dispatch = Dispatcher(executor, "executor 'mine'")
    dispatch.wait(0.0)
    dispatch.close()
    assert "executor 'mine' failed: `close` has not come back for " in caplog.text
    executor.is_over.set()


def test_after_an_interrupt_there_is_less_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SHORT", 0.05)
    interrupts = Deferral(enabled=False)
    interrupts.number, interrupts.moment = signal.SIGTERM, time.monotonic()
    executor = Hanging("wait")
    with pytest.raises(PluginError, match="`wait` has not come back"):
        Dispatcher(executor, "executor 'mine'", interrupts).wait(0.0)
    executor.is_over.set()


def test_a_slow_executor_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "LONGEST", 20.0)
    executor = LateExecutor()
    executor.wait = lambda timeout=None: time.sleep(0.3) or ()  # type: ignore[assignment, method-assign, func-returns-value]
    assert Dispatcher(executor).wait(0.0) == ()


def test_one_thread_makes_all_calls() -> None:
    threads: list[int] = []
    executor = LateExecutor()
    for name in ("submit", "wait", "kill", "close"):
        call = lambda *_: threads.append(get_ident()) or ()  # noqa: E731
        setattr(executor, name, call)
    dispatch = Dispatcher(executor)
    task = dispatch.make(TaskKind.EVALUATE, {}, None)
    dispatch.submit(task)
    dispatch.wait(0.0)
    dispatch.kill(task)
    dispatch.close()
    assert len(threads) == 4
    assert len(set(threads)) == 1


def test_work_in_this_process_stays_in_the_thread_of_the_run() -> None:
    threads: list[int] = []
    executor = LateExecutor()
    executor.runs_here = True  # type: ignore[attr-defined]
    executor.wait = lambda timeout=None: threads.append(get_ident()) or ()  # type: ignore[assignment, method-assign, func-returns-value]
    Dispatcher(executor).wait(0.0)
    assert threads == [get_ident()]


def test_no_two_tasks_have_one_number() -> None:
    dispatch = Dispatcher(LateExecutor())
    tasks = [dispatch.make(kind, {}, None) for kind in TaskKind for _ in range(3)]
    assert len({task.number for task in tasks}) == len(tasks)


def test_the_method_of_a_task_is_plain_text() -> None:
    # It is pickled for a server that need not know what kinds there are.
    task = Dispatcher(LateExecutor()).make(TaskKind.FALL_BACK, {}, 1.0, keep=True)
    assert type(task.method) is str
    assert (task.method, task.seconds, task.keep) == ("fall_back", 1.0, True)


def test_the_late_end_of_a_killed_task_is_not_taken_for_another() -> None:
    executor = LateExecutor()
    dispatch = Dispatcher(executor)
    killed = dispatch.make(TaskKind.EVALUATE, {}, None)
    dispatch.submit(killed)
    dispatch.kill(killed)
    asked = dispatch.make(TaskKind.REFIT, {}, None)
    assert dispatch.wait_for(asked) is None
    dispatch.submit(asked)
    finished = dispatch.wait_for(asked)
    assert finished is not None
    assert finished.number == asked.number
