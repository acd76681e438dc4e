"""Watching one child: its time, the memory of its whole tree, its output, and killing it.

The fork server does this, not the parent: limits hold while the parent is busy in a solver, and
only the reaper of the children knows for sure that a pid is still theirs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from automl_admm.core.evaluations import Status
from automl_admm.core.messages import shorten
from automl_admm.execution.child.memory_files import SharedMemory, mapped_bytes
from automl_admm.execution.child.process_tree import (
    descendants_of,
    exact_memory,
    kill_all,
    kill_group,
    own_memory,
)
from automl_admm.execution.task_folders import is_within, open_regular

# How often each thing is looked at: cheap looks often, dear ones seldom.
SCAN_SECONDS = 0.25
EXACT_SECONDS = 1.0
WEIGHING_SECONDS = 0.5
SCRATCH_LIMIT = 8 << 30
MOST_FILES = 20_000
DEEPEST = 100
OUTPUT = "output.txt"
OUTPUT_LIMIT = 1_000_000
# Cut while it runs only if the disk is in danger; head and tail are trimmed at the end.
RUNAWAY_OUTPUT = 16 * OUTPUT_LIMIT
SHOWN_OUTPUT = 4_000  # bytes from the end: the reason stands last
SHOWN_LINE = 120
TRACEBACK = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class Cause:
    """The reason to kill a child."""

    status: Status
    message: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a child; `inherited` is memory shared with the server.

    `scratch_bytes` bounds all files in its folders together; the child's own limits bound a single
    file.
    """

    seconds: float | None = None
    memory_bytes: int | None = None
    inherited: int = 0
    scratch_bytes: int = SCRATCH_LIMIT


@dataclass(frozen=True, slots=True)
class ChildFolders:
    """The folders of a child: that of its task, and one for temporary files."""

    task: Path
    temporary: Path

    @property
    def both(self) -> tuple[Path, Path]:
        """The two of them."""
        return self.task, self.temporary


class Watch:
    """A running child. `cause` says why it was killed, None as long as it was not."""

    def __init__(self, pid: int, folders: ChildFolders, bounds: Bounds, begun: float) -> None:
        self.pid = pid
        self.folders = folders
        self.cause: Cause | None = None
        self._bounds = bounds
        self._deadline = None if bounds.seconds is None else begun + bounds.seconds
        self._next_scan = begun + SCAN_SECONDS
        self._next_exact = begun
        self._next_weighing = begun + WEIGHING_SECONDS
        self._tree: dict[int, psutil.Process] = {}
        self._shared = SharedMemory()

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until the next look, apart from memory."""
        if self._deadline is None or self.cause is not None:
            return SCAN_SECONDS
        return min(max(self._deadline - now, 0.0), SCAN_SECONDS)

    def check(self, now: float) -> None:
        """Look at the child, and kill it if it is over a limit."""
        if self.cause is not None:
            self.kill(self.cause)
            return
        if self._deadline is not None and now >= self._deadline:
            self.kill(Cause(Status.TIMEOUT, f"killed after {self._bounds.seconds:g} s"))
            return
        if now >= self._next_scan:
            self._next_scan = now + SCAN_SECONDS
            self._scan()
            cut_runaway(self.folders.task / OUTPUT)
        if now >= self._next_weighing:
            self._next_weighing = now + WEIGHING_SECONDS
            self._weigh()
        if self._bounds.memory_bytes is not None:
            self._check_memory(self._bounds.memory_bytes, now)

    def kill(self, cause: Cause) -> None:
        """Kill the child, its group and every descendant ever seen."""
        # The first reason is the true one; later ones follow from the killing.
        self.cause = self.cause or cause
        self._scan()
        self.kill_remains()

    def kill_remains(self) -> None:
        """Kill the group and all seen descendants, even after the child itself."""
        kill_group(self.pid)
        kill_all(self._tree.values())

    def remove_remains(self) -> None:
        """Remove its memory files; call it when all of its processes are gone."""
        self._shared.remove()

    def _scan(self) -> None:
        """Remember the descendants: on a host without subreapers a daemon can be lost sight of."""
        for pid in descendants_of(self.pid):
            if pid not in self._tree:
                self._remember(pid)

    def _weigh(self) -> None:
        limit = self._bounds.scratch_bytes
        if not is_within(self.folders.both, limit, MOST_FILES, DEEPEST):
            most = f"{limit / 1e6:.0f} MB, {MOST_FILES:,} files or {DEEPEST} levels of folders"
            self.kill(Cause(Status.ERROR, f"wrote more than {most} to its folder"))

    def _remember(self, pid: int) -> None:
        try:
            self._tree[pid] = psutil.Process(pid)
        except psutil.Error:
            return

    def _check_memory(self, limit: int, now: float) -> None:
        """Kill the tree if its exact memory plus its unmapped memory files are over the limit.

        That is never above RSS, so a tree with RSS within the limit needs no closer look. If RSS
        less the inherited memory is over, it is measured at once. Otherwise only writes to
        inherited memory can exceed the limit; a look costs 10 ms for 400 MB, so there is one every
        second.
        """
        if self.pid not in self._tree:
            self._remember(self.pid)
        tree = list(self._tree.values())
        sizes = [own_memory(process) for process in tree]
        shared = self._shared.count(self._tree)
        if sum(resident for resident, _ in sizes) + shared <= limit:
            return
        private = sum(private for _, private in sizes) - self._bounds.inherited
        is_suspect = private + shared > limit
        if not is_suspect and now < self._next_exact:
            return
        self._next_exact = now + EXACT_SECONDS
        used = self._measure(tree, shared)
        if used > limit:
            # While a process ends its pages pass to others, and may be counted for both.
            used = min(used, self._measure(tree, shared))
        if used > limit:
            self.kill(Cause(Status.MEMOUT, f"used {used / 1e6:.0f} of {limit / 1e6:.3g} MB"))

    def _measure(self, tree: Sequence[psutil.Process], shared: int) -> int:
        """Return the exact memory of the tree, and what of its memory files is not mapped."""
        unmapped = max(shared - mapped_bytes(self._tree), 0)
        # Mapped pages of a memory file are in it only if one process alone maps them.
        return max(exact_memory(tree, self._bounds.inherited) + unmapped, shared)


def cut_runaway(output: Path) -> None:
    """Cut endlessly growing output to its head; later output is appended to it."""
    if _size(output) > RUNAWAY_OUTPUT:
        with contextlib.suppress(OSError):
            os.truncate(output, OUTPUT_LIMIT // 2)


def trim_output(output: Path) -> None:
    """Keep only the head and the tail of very long output."""
    size = _size(output)
    if size <= OUTPUT_LIMIT:
        return
    half = OUTPUT_LIMIT // 2
    with output.open("rb") as file:
        head = file.read(half)
        file.seek(size - half)
        tail = file.read(half)
    middle = f"\n… {size - 2 * half:,} bytes left out …\n".encode()
    output.write_bytes(head + middle + tail)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def last_output(output: Path) -> str:
    """Return the end of an output file; empty if there is none."""
    try:
        with open_regular(output) as file:
            file.seek(max(os.fstat(file.fileno()).st_size - SHOWN_OUTPUT, 0))
            return file.read(SHOWN_OUTPUT).decode(errors="replace")
    except OSError:
        return ""


def last_line(log: Path) -> str:
    """Return the last line of a server: a library that fails to start names the limit in its way.

    OpenBLAS prints it and then interrupts the process; the traceback comes later.
    """
    said, _, _ = last_output(log).partition(TRACEBACK)
    lines = said.strip().splitlines()
    return f", saying '{shorten(lines[-1].strip(), SHOWN_LINE)}'" if lines else ""
