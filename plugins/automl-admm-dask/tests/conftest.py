"""A Dask cluster of real processes on loopback, started for the tests and killed after them.

They are forks of a process that has imported Dask, which takes an interpreter half of its time.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import time
from functools import partial

import psutil
import pytest
from automl_admm_dask import DaskOptions, build_dask
from program import ForkedProgram

from automl_admm.plugin_api import ExecutorSetting

PATIENCE = 200.0
IMPORTED = ["distributed", "distributed.cli.utils"]


def wait_until(condition, seconds=PATIENCE):
    """Poll until something holds."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


class Processes:
    """A scheduler and workers."""

    def __init__(self, folder):
        self.folder = folder
        self.mark = secrets.token_hex(8)
        self.workers = []
        self._file = folder / "scheduler.json"
        flags = [
            "--port",
            "0",
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            "--dashboard-address",
            ":0",
        ]
        self.scheduler = self._start("dask_scheduler", *flags, "--scheduler-file", str(self._file))
        self.address = wait_until(self._address)

    def add(self, *flags):
        """Start one more worker."""
        where = ["--local-directory", str(self.folder), "--no-dashboard", "--host", "127.0.0.1"]
        flags = [self.address, "--nthreads", "1", "--no-nanny", *where, *flags]
        self.workers.append(self._start("dask_worker", *flags))
        return self.workers[-1]

    def below(self):
        """The processes that the workers have started."""
        found = []
        for worker in self.workers:
            if worker.poll() is None:
                with contextlib.suppress(psutil.NoSuchProcess):
                    found += psutil.Process(worker.pid).children(recursive=True)
        return found

    def files(self):
        """The files of runs that lie on the workers."""
        names = [name for _, names, _ in os.walk(self.folder) for name in names]
        return [name for name in names if "automl-admm" in name]

    def left(self):
        """All processes that come from this cluster, orphans too."""
        own = [process for process in (self.scheduler, *self.workers) if process.poll() is None]
        # A fork has no environment of its own to be found by.
        known = {process.pid for process in own}
        return own + [one for one in find_marked("DASK_TEST", self.mark) if one.pid not in known]

    def close(self):
        """Kill all, orphans too, but count on none."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()
        left = self.left()
        for process in left:
            process.kill()

    def _address(self):
        assert self.scheduler.poll() is None
        try:
            return json.loads(self._file.read_text())["address"]
        except (OSError, ValueError):
            return None

    def _start(self, program, *flags):
        begin = subprocess.Popen
        if sys.platform == "linux":
            begin = partial(ForkedProgram, limits={}, imported=IMPORTED)
        with (self.folder / "log.txt").open("ab") as log:
            return begin(
                [sys.executable, "-m", f"distributed.cli.{program}", *flags],
                env=os.environ | {"DASK_TEST": self.mark},
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )


def find_marked(name, value):
    """The processes with a variable in their environment, but this one."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(name) == value and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


@pytest.fixture
def until():
    return wait_until


@pytest.fixture
def marked():
    return find_marked


@pytest.fixture(scope="module")
def shared_cluster(tmp_path_factory):
    """Two workers that the tests of a module share, and leave as they are."""
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    processes.add()
    processes.add()
    yield processes
    processes.close()


@pytest.fixture(scope="module")
def one_worker(tmp_path_factory):
    """A worker that the tests of a module share: an executor begins a server on each there is."""
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    processes.add()
    yield processes
    processes.close()


@pytest.fixture
def cluster(tmp_path_factory):
    """A scheduler; workers are added by the test, which may do to them what it likes."""
    processes = Processes(tmp_path_factory.mktemp("cluster"))
    yield processes
    processes.close()


@pytest.fixture
def start(tmp_path):
    """Build executors, and close them in the end."""
    made = []

    def build(work, processes, memory=None, workers=None, patience=PATIENCE):
        setting = ExecutorSetting(workers or 1, memory, tmp_path / "run", workers is None)
        options = DaskOptions(None if processes is None else processes.address, patience)
        (tmp_path / "run").mkdir(exist_ok=True)
        made.append(build_dask(work, setting, options))
        return made[-1]

    yield build
    for executor in made:
        executor.close()
