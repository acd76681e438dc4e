"""A fork server that is a fork of a program, in place of a new interpreter."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from automl_admm.execution.server.forked_process import can_fork

if sys.platform != "linux":
    pytest.skip("other systems have no forked server", allow_module_level=True)

LONGEST = 120.0
# As a program that was started by one that does not wait for its children.
DEAF = "import signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN)"
# Its own process: the tests' has threads, and signals of its own.
PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from automl_admm.core.protocols import Task
from automl_admm.execution.local_executor import LocalExecutor
from automl_admm.execution.child.process_tree import MARK
from automl_admm.execution.server.early_server import EarlyServer
from automl_admm.execution.server.forked_process import ForkedProcess
from automl_admm.plugins.records import ExecutorSetting

leaked = os.dup2(os.open(os.devnull, os.O_RDONLY), 500)
signal.signal(signal.SIGUSR1, lambda *_: None)
print("printed once, before the fork", end="")
early = EarlyServer(1, may_fork=True)
server = early._server
assert isinstance(server._process, ForkedProcess), server._process

class Work:
    steps = 0

    def prepare_more(self):
        for Work.steps in (1, 2, 3):
            yield

    def look(self, folder):
        import tempfile
        shown = Path("/proc/self/environ").read_bytes()
        return {
            "parent": os.getppid(), "session": os.getsid(0),
            "shown": os.environ[MARK].encode() in shown,
            "leaked": os.path.exists(f"/proc/self/fd/{Work.leaked}"),
            "handler": signal.getsignal(signal.SIGUSR1) == signal.SIG_DFL,
            "within": Work.folder in tempfile.gettempdir(),
            "steps": Work.steps,
        }

Work.leaked, Work.folder = leaked, server._temporary
work = Work()
executor = LocalExecutor(work, ExecutorSetting(1, None, Path(sys.argv[1]), server=early))
for number in range(1, 30):
    executor.submit(Task(number, "look", {}, 60.0))
    (finished,) = executor.wait(60.0)
    last = finished.result
    if number == 1:
        first = finished.result
assert first["parent"] == server.pid and first["session"] != os.getsid(0), first
assert first["shown"] and first["handler"] and first["within"], first
assert not first["leaked"] and first["steps"] == 0 and last["steps"] == 3, (first, last)
os.kill(server.pid, signal.SIGKILL)  # the next is started as a program of its own
executor.submit(Task(99, "look", {}, 60.0))
ended = executor.wait(60.0)
executor.close()
print("done")
"""


@pytest.mark.parametrize("before", ["", DEAF], ids=["as a rule", "deaf"])
def test_it_serves_like_a_program_of_its_own(before: str, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", before + PROGRAM, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == "printed once, before the forkdone\n"


def test_a_process_with_threads_is_not_forked() -> None:
    wait = threading.Event()
    other = threading.Thread(target=wait.wait)
    other.start()
    try:
        assert not can_fork()
    finally:
        wait.set()
        other.join()


def test_a_program_without_room_for_the_mark_is_not_forked() -> None:
    source = "from automl_admm.execution.server.forked_process import can_fork; print(can_fork())"
    run = subprocess.run(
        [sys.executable, "-c", source], env={}, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "False"
