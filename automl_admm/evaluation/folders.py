"""The folder of a task: made before it starts, gone when it is handed out unless it is kept."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from automl_admm.problem import Status
from automl_admm.protocols import Finished, Task


class Folders:
    """Makes the folders of tasks below `scratch`, or below a temporary folder of its own."""

    def __init__(self, scratch: Path | None) -> None:
        self._own = tempfile.TemporaryDirectory(prefix="automl-admm-") if scratch is None else None
        self.scratch = Path(self._own.name if self._own else scratch or "").absolute()

    def make(self, task: Task) -> Path:
        """An empty folder; what an earlier task of this number left is no result of this one."""
        folder = self.scratch / f"task-{task.number}"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        return folder

    def hand_out(self, finished: Finished, folder: Path, *, keep: bool) -> Finished:
        """Add the folder to what is handed out, or remove it."""
        if keep and finished.status is Status.SUCCESS:
            return replace(finished, folder=folder)
        shutil.rmtree(folder, ignore_errors=True)
        return finished

    def close(self) -> None:
        """Remove the temporary folder, if there is one."""
        if self._own is not None:
            with contextlib.suppress(OSError):  # a dying process may still write below it
                self._own.cleanup()


def is_within(folders: Iterable[Path], most_bytes: int, most_files: int) -> bool:
    """Whether what lies in these folders is no more than so much; counted no further than that.

    What a file takes on the disk counts: one with holes takes less than its length.
    """
    waiting, weight, files = list(folders), 0, 0
    while waiting:
        for size, below in _entries(waiting.pop()):
            weight += size
            files += 1
            if weight > most_bytes or files > most_files:
                return False
            if below is not None:
                waiting.append(below)
    return True


def _entries(folder: Path) -> Iterator[tuple[int, Path | None]]:
    """The bytes on the disk of everything in a folder, with its path if it is one itself.

    What vanishes meanwhile takes nothing.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                is_folder = entry.is_dir(follow_symlinks=False)
                size = entry.stat(follow_symlinks=False).st_blocks * 512
                yield size, Path(entry.path) if is_folder else None
