"""Process trees: their members, their memory, and how to kill them."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

# Inherited by every descendant, even one that leaves session, group and parent.
MARK = "AUTOML_ADMM_SERVER"
ROUNDS = 3
LAST_SECONDS = 1.0
# Numbers of prctl(2), which Python does not name.
SET_DEATH_SIGNAL = 1
SET_CHILD_SUBREAPER = 36
CONTAINER_MEMORY = Path("/sys/fs/cgroup/memory.max")
SHARED_OUT = 0.9  # the rest is for the run itself and the system
# The sizes in /proc/PID/smaps_rollup, in units of 1,024 bytes.
ROLLED_UP = re.compile(r"^(\w+): +(\d+) kB$", re.MULTILINE)
C_LIBRARY = ctypes.CDLL(None) if sys.platform == "linux" else None


def children_of(pid: int) -> list[int]:
    """Return the direct children of a process; none if it is gone.

    On Linux /proc lists them in 20 µs; psutil looks at every process of the host.
    """
    try:
        threads = list(Path(f"/proc/{pid}/task").iterdir())
        texts = [(thread / "children").read_text() for thread in threads]
    except OSError:
        return _children_by_psutil(pid)
    return [int(child) for text in texts for child in text.split()]


def _children_by_psutil(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children()]
    except psutil.Error:
        return []


def descendants_of(pid: int) -> list[int]:
    """Children, their children, and so on."""
    found: list[int] = []
    waiting = children_of(pid)
    while waiting:
        child = waiting.pop()
        # A pid may be reused while the tree is walked: it must not go round in circles.
        if child not in found:
            found.append(child)
            waiting.extend(children_of(child))
    return found


def die_with_parent() -> None:
    """Ask Linux to kill this process at the end of the thread that forked it."""
    if C_LIBRARY is not None:
        C_LIBRARY.prctl(SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Ask Linux to make this process, not init, the parent of orphaned descendants.

    So a daemon started by a work never leaves the tree.
    """
    if C_LIBRARY is not None:
        C_LIBRARY.prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_group(pid: int) -> None:
    """Kill a process and its group; ignore dead ones."""
    # Without a group of its own yet it is reached by its pid alone.
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def kill_all(processes: Iterable[psutil.Process]) -> None:
    """Kill processes; psutil spares a reused pid."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()


def kill_marked(mark: str) -> None:
    """Kill every other process with the mark of a fork server in its environment."""
    for _ in range(ROUNDS):  # one that forks while it is being killed needs another round
        found = [process for process in psutil.process_iter() if _carries(process, mark)]
        if not found:
            return
        kill_all(found)
        _await_ends(found, time.monotonic() + LAST_SECONDS)


def _await_ends(processes: Sequence[psutil.Process], latest: float) -> None:
    """Wait until processes have ended; a zombie has, and may stay one for as long as its parent."""
    while any(map(_lives, processes)) and time.monotonic() < latest:
        time.sleep(LAST_SECONDS / 200)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _carries(process: psutil.Process, mark: str) -> bool:
    if process.pid == os.getpid():
        return False
    try:
        return bool(process.environ().get(MARK) == mark)
    except (psutil.Error, OSError):
        return False


def share_of_memory(workers: int) -> int:
    """Return a worker's share of the memory of this machine, or of its container."""
    try:
        limit = int(CONTAINER_MEMORY.read_text(encoding="ascii"))
    except (OSError, ValueError):  # no container, or one without a limit: "max"
        limit = sys.maxsize
    return int(SHARED_OUT * min(limit, psutil.virtual_memory().total)) // workers


def own_memory(process: psutil.Process) -> tuple[int, int]:
    """Return the resident bytes of a process: all, and those not backed by a file; cheap."""
    try:
        info = process.memory_info()
    except psutil.Error:
        return 0, 0
    return info.rss, info.rss - getattr(info, "shared", 0)


def exact_memory(processes: Sequence[psutil.Process], inherited: int) -> int:
    """Return the bytes to be freed by the end of processes: pages of one of them, or of several.

    The first are their USS. Pages written before a fork are in the USS of nobody: they are counted
    once, for the process with most of them. Of its shared pages that are of no file `inherited`
    bytes belong to processes outside, so the sum is never too large.
    """
    held = [_held_memory(process) for process in processes]
    shared = max((shared for _, shared in held), default=0)
    return sum(own for own, _ in held) + max(shared - inherited, 0)


def _held_memory(process: psutil.Process) -> tuple[int, int]:
    """Return the bytes of a process alone, and those shared with others that are of no file."""
    try:
        text = Path(f"/proc/{process.pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:  # it has ended, or this system has no such file
        return _unshared_memory(process), 0
    sizes = {name: 1024 * int(size) for name, size in ROLLED_UP.findall(text)}
    own = sum(size for name, size in sizes.items() if name.startswith("Private_"))
    return own, max(sizes.get("Anonymous", 0) - own, 0)


def _unshared_memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().uss)
    except psutil.Error:
        return 0
