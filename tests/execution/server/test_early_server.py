"""A fork server that is started before its work exists."""

from __future__ import annotations

import time
from pathlib import Path

import psutil
import pytest

from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Task
from automl_admm.execution.local_executor import LocalExecutor
from automl_admm.execution.server.client import ServerProcess
from automl_admm.execution.server.early_server import EarlyServer, started_early
from automl_admm.plugins.records import ExecutorSetting

MOMENT = 200.0  # a server imports for seconds, and much longer on a busy machine


class Doubling:
    def double(self, number: int, folder: Path) -> dict[str, int]:
        del folder
        return {"loss": 2 * number}


def run_one(executor: LocalExecutor) -> int:
    executor.submit(Task(1, "double", {"number": 21}, MOMENT))
    (finished,) = executor.wait(MOMENT)
    assert finished.status is Status.SUCCESS, finished.message
    return int(finished.result["loss"])


def started_for(workers: int) -> EarlyServer:
    return EarlyServer(workers)


def pid_of(early: EarlyServer) -> int:
    assert early._server is not None
    return early._server.pid


def is_gone(pid: int) -> bool:
    until = time.monotonic() + MOMENT
    while is_alive(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_the_work_comes_later_to_a_server_that_runs(tmp_path: Path) -> None:
    early = started_for(1)
    pid = pid_of(early)
    executor = LocalExecutor(Doubling(), ExecutorSetting(1, None, tmp_path, server=early))
    try:
        assert executor._server is not None
        assert executor._server.pid == pid
        assert run_one(executor) == 42
        early.close()  # it is the executor's now
        assert psutil.pid_exists(pid)
    finally:
        executor.close()
    assert is_gone(pid)


def test_a_server_that_died_before_it_had_work_is_started_anew(tmp_path: Path) -> None:
    early = started_for(1)
    psutil.Process(pid_of(early)).kill()
    executor = LocalExecutor(Doubling(), ExecutorSetting(1, None, tmp_path, server=early))
    try:
        executor.submit(Task(1, "double", {"number": 21}, MOMENT))
        (finished,) = executor.wait(MOMENT)
        if finished.status is Status.LOST:  # it had taken the order to its grave
            assert run_one(executor) == 42
    finally:
        executor.close()


def test_another_number_of_workers_starts_its_own(tmp_path: Path) -> None:
    early = started_for(2)
    pid = pid_of(early)
    executor = LocalExecutor(Doubling(), ExecutorSetting(1, None, tmp_path, server=early))
    try:
        assert executor._server is not None
        assert executor._server.pid != pid
    finally:
        executor.close()
        early.close()
    assert is_gone(pid)


def test_what_nobody_took_is_stopped_and_leaves_nothing() -> None:
    with started_early("local", 1) as early:
        assert early is not None
        pid = pid_of(early)
        assert early._server is not None
        temporary = Path(early._server._temporary)
        assert temporary.is_dir()
    assert is_gone(pid)
    assert not temporary.exists()


def test_other_executors_have_none() -> None:
    with started_early("inline", 1) as early:
        assert early is None


def test_one_that_cannot_start_is_no_failure_yet(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    early = started_for(1)
    assert early.take(1) is None


def test_a_server_without_work_ends_when_nobody_is_there() -> None:
    server = ServerProcess(1)
    server.channel.close()
    assert server._process.wait(MOMENT) == 0
    server.stop()
