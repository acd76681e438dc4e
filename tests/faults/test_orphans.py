"""What is left when the run and its fork server are killed at once: nothing."""

from __future__ import annotations

import os
import signal
import sys
import time

import psutil
import pytest
from program import start_python

SCRIPT = """
import sys
from automl_admm.builtin.executors import build_local
from automl_admm.plugins.records import ExecutorSetting, NoOptions
from automl_admm.core.protocols import Task
from faulty import Faulty
executor = build_local(Faulty(), ExecutorSetting(1), NoOptions())
executor.submit(Task(1, "start_grandchildren", {"pids": sys.argv[1], "hang": True}))
executor.wait()
"""


@pytest.mark.timeout(300)
@pytest.mark.skipif(sys.platform != "linux", reason="processes are found by /proc")
@pytest.mark.fault(
    "F88",
    injected="kill -9 of the run and of its fork server, with a daemon in a session of its own",
    expected="nothing is left",
)
def test_nothing_survives_the_run_and_its_server(tmp_path, seen):
    pids = tmp_path / "pids"
    run = start_python("-c", SCRIPT, pids)
    try:
        while not pids.exists() or len(pids.read_text().split()) < 3:
            assert run.poll() is None
            time.sleep(0.02)
        left = [psutil.Process(int(pid)) for pid in pids.read_text().split()]
        (server,) = psutil.Process(run.pid).children()
        for pid in (run.pid, server.pid):
            os.kill(pid, signal.SIGKILL)
        gone, alive = psutil.wait_procs(left, timeout=60)
        seen(f"{len(gone)} processes were left, {len(alive)} are")
        assert not alive
    finally:
        run.kill()
        run.wait()
