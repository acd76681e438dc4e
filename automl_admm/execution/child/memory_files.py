"""Memory outside of all address spaces: memory files, with and without a name.

A memfd or a file in /dev/shm takes memory for as long as it exists, mapped or not; a named one
stays after its child. It counts as the child's once a process of its tree was seen with the file
open.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from automl_admm.execution.task_folders import remove_tree

PLACE = Path("/dev/shm")  # noqa: S108 - nothing is made there, only looked for
NAMELESS = "/memfd:"
DELETED = " (deleted)"
# joblib and what it starts processes with name theirs by the process that made them.
NAMED_BY_PID = ("sem.loky-{}-", "joblib_memmapping_folder_{}_")
File = tuple[int, int]


class SharedMemory:
    """The memory files of one task; files from before it do not count."""

    def __init__(self, place: Path = PLACE) -> None:
        self._place = place
        self._before = _names(place)
        self._files: dict[Path, File] = {}
        self._pids: set[int] = set()

    def count(self, pids: Iterable[int]) -> int:
        """Return the bytes of the files open in these processes, now or at the last look."""
        sizes: dict[File, int] = {}
        for pid in pids:
            self._pids.add(pid)
            with contextlib.suppress(OSError):
                for descriptor in list(Path(f"/proc/{pid}/fd").iterdir()):
                    self._look_at(descriptor, sizes)
        # Closed by all its processes a named file still takes its memory.
        for path, file in list(self._files.items()):
            with contextlib.suppress(OSError):
                found = path.lstat()
                if (found.st_dev, found.st_ino) == file:
                    # A block counts 512 bytes, whatever the file system's own blocks are (POSIX).
                    sizes[file] = found.st_blocks * 512
        return sum(sizes.values())

    def remove(self) -> None:
        """Remove the named files; call it when no process of the task is left."""
        for path, file in self._files.items():
            with contextlib.suppress(OSError):
                found = path.lstat()
                if (found.st_dev, found.st_ino) == file:
                    path.unlink()
        starts = tuple(form.format(pid) for form in NAMED_BY_PID for pid in self._pids)
        for name in _names(self._place) - self._before if starts else ():
            if name.startswith(starts):
                remove_tree(self._place / name)

    def _look_at(self, descriptor: Path, sizes: dict[File, int]) -> None:
        with contextlib.suppress(OSError):
            target = str(descriptor.readlink())
            is_named = target.startswith(f"{self._place}/")
            if not is_named and not target.startswith(NAMELESS):
                return
            if is_named and Path(target).relative_to(self._place).parts[0] in self._before:
                return
            found = descriptor.stat()
            file = (found.st_dev, found.st_ino)
            sizes[file] = found.st_blocks * 512
            if is_named and not target.endswith(DELETED):
                self._files[Path(target)] = file


def mapped_bytes(pids: Iterable[int]) -> int:
    """Return the mapped bytes of such files; they count in the memory of the processes already."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
            total += 1024 * int(status.partition("RssShmem:")[2].split()[0])
    return total


def _names(place: Path) -> set[str]:
    try:
        return set(os.listdir(place))  # noqa: PTH208 - names are all that is needed
    except OSError:
        return set()
