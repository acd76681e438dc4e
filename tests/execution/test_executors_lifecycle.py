"""The fork server's own life: starting, dying, being left alone, ending without a trace."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import textwrap
import time

import faulty
import psutil
import pytest
from program import run_python, start_python

from automl_admm.builtin.executors import build_local
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Task
from automl_admm.plugins.records import ExecutorSetting, NoOptions

pytestmark = pytest.mark.faults
# Long enough for a machine that is busy with other tests.
PATIENCE = 120.0


@pytest.fixture
def start():
    """Builds executors that are closed in the end."""
    made = []

    def build(work, workers=1):
        made.append(build_local(work, ExecutorSetting(workers), NoOptions()))
        return made[-1]

    yield build
    for executor in made:
        executor.close()


def finish(executor, method, number=1, **arguments):
    executor.submit(Task(number, method, arguments, PATIENCE))
    (finished,) = executor.wait(2 * PATIENCE)
    return finished


def all_gone(pids):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if not any(map(is_alive, pids)):
            return True
        time.sleep(0.02)
    return False


def is_alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def find_all_below(parent, expected):
    """Return the processes below one, as soon as these are among them.

    A look while a daemon changes its parent may miss it.
    """
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        below = [child.pid for child in psutil.Process(parent).children(recursive=True)]
        if set(expected) <= set(below):
            return below
        time.sleep(0.02)
    raise AssertionError(f"not all of {expected} are below {parent}: {below}")


def read_pids(path, count):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pids = path.read_text().split() if path.exists() else []
        if len(pids) >= count:
            return [int(pid) for pid in pids]
        time.sleep(0.02)
    raise AssertionError(f"fewer than {count} processes were started")


@pytest.mark.parametrize(
    ("work", "reason"),
    [("BadPrepare", "RuntimeError: the moon is in"), ("Unloadable", "JSONDecodeError")],
)
def test_work_that_does_not_load_is_an_error_that_stays(start, work, reason):
    executor = start(getattr(faulty, work)())
    executor.submit(Task(1, "echo", {}))
    with pytest.raises(ConfigurationError, match=reason):
        executor.wait(PATIENCE)
    with pytest.raises(ConfigurationError, match=reason):
        executor.submit(Task(2, "echo", {}))


def test_work_that_only_the_parent_knows_is_an_error_with_a_hint(start, tmp_path, monkeypatch):
    (tmp_path / "vanishing.py").write_text("class Work:\n    pass\n")
    with monkeypatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        work = importlib.import_module("vanishing").Work()
    executor = start(work)
    executor.submit(Task(1, "echo", {}))
    with pytest.raises(ConfigurationError, match=r"vanishing.*importable module"):
        executor.wait(PATIENCE)


def test_a_server_that_always_dies_is_given_up(start):
    executor = start(faulty.CrashingPrepare())
    for number in range(4):
        assert finish(executor, "echo", number).status is Status.LOST
    with pytest.raises(AutomlAdmmError, match="died 4 times in a row; the last time by exit 7"):
        executor.submit(Task(9, "echo", {}))


def test_a_server_that_dies_is_started_again(start, tmp_path):
    executor = start(faulty.Faulty(), workers=2)
    server = finish(executor, "echo").result["server"]
    pids = tmp_path / "pids"
    executor.submit(Task(2, "start_grandchildren", {"pids": str(pids), "hang": True}))
    running = read_pids(pids, 3)
    os.kill(server, signal.SIGKILL)
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.LOST
    assert "signal SIGKILL" in finished.message
    assert all_gone([server, *running])
    after = finish(executor, "echo", 3)
    assert after.status is Status.SUCCESS
    assert after.result["server"] != server


def test_what_runs_is_killed_when_the_executor_is_closed(start, tmp_path):
    executor = start(faulty.Faulty())
    pids = tmp_path / "pids"
    executor.submit(Task(1, "start_grandchildren", {"pids": str(pids), "hang": True}))
    running = read_pids(pids, 3)
    executor.close()
    assert all_gone(running)


def test_a_task_is_cancelled_while_the_work_still_loads(start, tmp_path):
    loading = tmp_path / "loading"
    executor = start(faulty.SlowPrepare(str(loading)))
    executor.submit(Task(1, "echo", {}, 1.0))
    (server,) = read_pids(loading, 1)
    assert list(executor.wait(0.1)) == []
    executor.kill(1)
    (finished,) = executor.wait(0.0)
    assert finished.status is Status.CANCELLED
    executor.close()
    assert all_gone([server])


PARENT = """
import os
import time
os.environ["TMPDIR"] = {place!r}
import faulty
from automl_admm.builtin.executors import build_local
from automl_admm.plugins.records import ExecutorSetting, NoOptions
from automl_admm.core.protocols import Task

executor = build_local(faulty.{work}, ExecutorSetting(2), NoOptions())
executor.submit(Task(1, "start_grandchildren", {{"pids": {pids!r}, "hang": True}}))
time.sleep(600)
"""


@pytest.mark.parametrize("is_loading", [False, True])
def test_no_orphans_when_the_parent_is_killed(tmp_path, is_loading):
    pids = tmp_path / "pids"
    work = f"SlowPrepare({str(pids)!r})" if is_loading else "Faulty()"
    script = tmp_path / "parent.py"
    script.write_text(PARENT.format(work=work, pids=str(pids), place=str(tmp_path)))
    parent = start_python(script)
    try:
        started = read_pids(pids, 1 if is_loading else 3)
        below = find_all_below(parent.pid, started)
    finally:
        parent.kill()
        parent.wait()
    assert all_gone(below)
    assert not list(tmp_path.glob("automl-admm-tmp-*"))


def test_a_script_without_a_main_guard_works_and_runs_once(tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(
        textwrap.dedent("""
            from dataclasses import dataclass
            from automl_admm.builtin.executors import build_local
            from automl_admm.plugins.records import ExecutorSetting, NoOptions
            from automl_admm.core.protocols import Task

            print("once")
            FACTOR = 3

            def helper(x):
                return FACTOR * x

            @dataclass(frozen=True)
            class Point:
                x: float

            class Work:
                shift = staticmethod(lambda x: x + 1)
                def go(self, folder, point):
                    assert isinstance(point, Point)
                    return {"y": self.shift(helper(point.x))}

            executor = build_local(Work(), ExecutorSetting(), NoOptions())
            executor.submit(Task(1, "go", {"point": Point(2.0)}, 60.0))
            print(executor.wait(90.0)[0].result)
            executor.close()
        """)
    )
    done = run_python(script)
    assert (done.stdout, done.stderr) == ("once\n{'y': 7.0}\n", "")


@pytest.mark.parametrize("may_fork", [False, True])
def test_a_program_without_streams_evaluates(tmp_path, may_fork):
    program = tmp_path / "daemon.py"
    program.write_text(
        textwrap.dedent(f"""
            from pathlib import Path
            import faulty
            from automl_admm.core.protocols import Task
            from automl_admm.execution.local_executor import LocalExecutor
            from automl_admm.execution.server.early_server import EarlyServer
            from automl_admm.plugins.records import ExecutorSetting

            early = EarlyServer(1, may_fork={may_fork})
            executor = LocalExecutor(faulty.Faulty(), ExecutorSetting(server=early))
            executor.submit(Task(1, "echo", {{"value": 7}}, 60.0))
            told = executor.wait(90.0)[0]
            executor.close()
            Path("told.txt").write_text(str(told.result or told))
        """)
    )
    shell = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, str(program)]
    subprocess.run(shell, cwd=tmp_path, timeout=300, check=True)
    assert "'value': 7" in (tmp_path / "told.txt").read_text()


def test_many_tasks_leave_nothing_behind(start):
    executor = start(faulty.Faulty())
    server = psutil.Process(finish(executor, "echo").result["server"])
    own = psutil.Process()
    before = own.num_fds(), server.num_fds()
    for number in range(50):
        assert finish(executor, "echo", number).status is Status.SUCCESS
    # Fewer than before is no leak: something of an earlier test may have been collected.
    assert own.num_fds() <= before[0]
    assert server.num_fds() <= before[1]
    assert all_gone([child.pid for child in server.children()])


def test_the_server_is_gone_after_closing(start):
    executor = start(faulty.Faulty())
    server = finish(executor, "echo").result["server"]
    executor.close()
    assert not is_alive(server)
