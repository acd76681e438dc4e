"""Run a process on one core, and watch its time and the memory of it and its children."""

from __future__ import annotations

import os
import resource
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil

INTERVAL = 0.25
TO_DIE = 10.0
PAUSE = 0.1
# Children inherit this variable, wherever they go.
MARK = "PEERS_RUN"
# Threads that wait for each other on one core make a system look slow. So does Ray, which gives its
# workers a low priority: whatever else runs on the core starves them.
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"
)
ENVIRONMENT = {**ONE_THREAD, "RAY_worker_niceness": "0"}


@dataclass(frozen=True)
class Watched:
    """The end of a process: `exit_code` is None if it was stopped for taking too long."""

    exit_code: int | None
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int


class Tree:
    """A process and everything that it started, as far as it was seen."""

    def __init__(self, pid: int) -> None:
        self._root = psutil.Process(pid)
        self._seen: dict[int, psutil.Process] = {pid: self._root}
        self.peak_bytes = 0

    def look(self) -> None:
        """Add up the memory of all that is alive, pages that are shared counted once."""
        try:
            for child in self._root.children(recursive=True):
                self._seen.setdefault(child.pid, child)
        except psutil.Error:
            return
        self.peak_bytes = max(self.peak_bytes, sum(map(_memory, self._seen.values())))


def kill_marked(mark: str) -> None:
    """Kill every process whose environment has this value of `MARK`.

    It finds what left the tree, too: a server goes on after its parent, in a session of its own. A
    process that is about to become another program has no environment for a moment: so it looks
    until nothing was found twice.
    """
    looks_in_vain, deadline = 0, time.monotonic() + TO_DIE
    while looks_in_vain < 2 and time.monotonic() < deadline:
        looks_in_vain = 0 if _kill_found(mark) else looks_in_vain + 1
        time.sleep(PAUSE)


def _kill_found(mark: str) -> bool:
    """Kill the marked processes that are there now; return True if there were any."""
    killed = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                process.kill()
                killed.append(process)
        except psutil.Error:
            continue
    psutil.wait_procs(killed, timeout=TO_DIE)
    return bool(killed)


def _memory(process: psutil.Process) -> int:
    try:
        found = process.memory_full_info()
    except psutil.Error:
        return 0
    return int(getattr(found, "pss", found.rss))


def watch(command: list[str], folder: Path, core: int, patience: float) -> Watched:
    """Run a command in a folder until it ends, or for `patience` seconds; then kill what is left.

    What it prints goes to `process.log` in the folder. The package `peers` can be imported there.
    """
    mark = uuid.uuid4().hex
    own = {"PYTHONPATH": str(Path(__file__).parents[1]), MARK: mark}
    pinned = ["taskset", "-c", str(core), *command]
    begun, used = time.monotonic(), _cpu_seconds()
    with (folder / "process.log").open("wb") as log:
        process = subprocess.Popen(
            pinned,
            cwd=folder,
            env=os.environ | ENVIRONMENT | own,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    tree = Tree(process.pid)
    try:
        code = _wait(process, tree, begun + patience)
    finally:
        kill_marked(mark)
        process.wait()
    wall = time.monotonic() - begun
    return Watched(code, round(wall, 2), round(_cpu_seconds() - used, 2), tree.peak_bytes)


def _wait(process: subprocess.Popen[bytes], tree: Tree, deadline: float) -> int | None:
    while time.monotonic() < deadline:
        tree.look()
        try:
            return process.wait(timeout=INTERVAL)
        except subprocess.TimeoutExpired:
            continue
    tree.look()
    return None


def _cpu_seconds() -> float:
    """Return the processor time of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
