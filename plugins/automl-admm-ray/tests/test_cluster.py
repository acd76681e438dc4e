"""A cluster of two nodes: one joins a run, and dies in the middle of an evaluation."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest

from automl_admm.plugin_api import remove_tree

PATIENCE = 100.0
START_SECONDS = 60.0
CLUSTER, NODE = "RAY_TEST_CLUSTER", "RAY_TEST_NODE"
EVALUATIONS = 20
# The objective marks each load and each call with its node. Node `b` hangs in its second call, and
# node `a` leaves evaluations for that: it waits for `b` to load the work, and again from its first
# call to its second.
SCRIPT = """
import json, os, sys, time
from pathlib import Path
from automl_admm.plugin_api import Parameter, SearchSpace
from automl_admm.testing.searches import minimize

address, marks, work_dir, evaluations = sys.argv[1:]

class Watched:
    def __init__(self):
        self.marks = marks

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.mark("load")

    def mark(self, what):
        node = os.environ["RAY_TEST_NODE"]
        Path(self.marks, f"{what}-{node}-{time.monotonic_ns()}").touch()
        return node

    def count(self, mark):
        return len(list(Path(self.marks).glob(f"{mark}-*")))

    def __call__(self, values):
        if self.mark("call") == "b":
            self.wait_while(lambda: self.count("call-b") == 2)
        else:
            self.wait_while(lambda: self.count("load-b") == 0)
            time.sleep(0.3 if self.count("call-b") == 0 else 0.0)
            self.wait_while(lambda: self.count("call-b") == 1)
        return values["x"]

    def wait_while(self, condition):
        while condition():
            time.sleep(0.02)

result = minimize(
    Watched(),
    SearchSpace((), (Parameter("x", 0.0, 1.0),)),
    max_evaluations=int(evaluations),
    executor=f"ray:patience=100,address={address}",
    work_dir=work_dir,
    theta_solver="random",
    random_state=0,
)
print(json.dumps([[one.key, one.status] for one in result.evaluations]))
"""


def until(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


class SmallCluster:
    """A head and nodes of one CPU each, known by their names."""

    def __init__(self, folder):
        self._folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"

    def start(self, name):
        self._start(
            name,
            *("--head", f"--port={self.address.rpartition(':')[2]}", f"--temp-dir={self._folder}"),
            *("--include-dashboard=false", "--disable-usage-stats"),
            '--system-config={"agent_register_timeout_ms": 120000}',  # the machine may be busy
        )

    def add(self, name):
        self._start(name, f"--address={self.address}")

    def kill(self, *names):
        """Kill all that runs on nodes, as when a machine is switched off; on all without a name."""
        until(lambda: [process.kill() for process in self.find(*names)] == [])

    def find(self, *names):
        """The processes of nodes; of all without a name."""
        return [process for process in psutil.process_iter() if self._is_of(process, names)]

    def variables(self, name):
        """The environment of processes on a node."""
        return os.environ | {CLUSTER: str(self._folder), NODE: name}

    def _start(self, name, *options):
        ray = Path(sys.executable).with_name("ray")
        fixed = ("--num-cpus=1", "--node-ip-address=127.0.0.1")
        ports = ("--min-worker-port=0", "--max-worker-port=0")
        try:
            subprocess.run(
                [ray, "start", *options, *fixed, *ports],
                env=self.variables(name),
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=START_SECONDS,
            )
        except subprocess.SubprocessError as problem:
            pytest.skip(f"node {name} of Ray does not start on this machine: {problem}")

    def _is_of(self, process, names):
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            found = process.environ()
        except psutil.Error:
            return False
        return found.get(CLUSTER) == str(self._folder) and (not names or found[NODE] in names)


@pytest.fixture
def cluster():
    folder = Path(tempfile.mkdtemp(prefix="ray-"))  # a short path: it is that of sockets
    made = SmallCluster(folder)
    try:
        made.start("a")
        yield made
    finally:
        made.kill()
        remove_tree(folder)


@pytest.fixture
def search(cluster, tmp_path):
    """A search on the cluster, in a process of its own."""
    (tmp_path / "marks").mkdir()
    arguments = (cluster.address, tmp_path / "marks", tmp_path / "run", EVALUATIONS)
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        started = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", SCRIPT, *map(str, arguments)],
            env=cluster.variables("driver"),
            stdout=out,
            stderr=err,
        )
    yield started
    started.kill()
    started.wait()


@pytest.mark.faults
def test_a_node_lost_in_mid_run_costs_one_evaluation_and_no_line(cluster, search, tmp_path):
    def count(mark):
        return len(list((tmp_path / "marks").glob(f"{mark}-*")))

    cluster.add("b")
    until(lambda: count("call-b") == 2 or search.poll() is not None)
    cluster.kill("b")
    search.wait(PATIENCE)
    assert (tmp_path / "err").read_text() == ""
    ended = json.loads((tmp_path / "out").read_text())
    assert [status for _, status in ended] == ["success"] * EVALUATIONS
    assert len({key for key, _ in ended}) == EVALUATIONS
    assert count("call") == EVALUATIONS + 1  # what it was at was begun again, on the other
    assert (count("load-a"), count("load-b")) == (1, 1)
    until(lambda: not cluster.find("b", "driver"))
