"""The folder of a task: made before it starts, gone when it is handed out unless it is kept."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

from automl_admm.core.errors import folder_is_gone
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task

# The order of a task, in its own folder.
TASK = "task.pickle"
# The folder beside those of the tasks: tasks leave there what spares others work.
SHARED = "shared"


class TaskFolders:
    """Makes the folders of tasks below `scratch`, or below a temporary folder of its own.

    >>> folders = TaskFolders(None)
    >>> folders.make(Task(7, "evaluate", {})).name
    'task-7'
    >>> folders.close()
    """

    def __init__(self, scratch: Path | None) -> None:
        self._is_own = scratch is None
        self.scratch = Path(scratch or tempfile.mkdtemp(prefix="automl-admm-")).absolute()
        with contextlib.suppress(OSError):  # tasks do without it
            (self.scratch / SHARED).mkdir(exist_ok=True)

    def make(self, task: Task) -> Path:
        """Make an empty folder; remove remains of an earlier task with this number."""
        folder = self.scratch / f"task-{task.number}"
        remove_tree(folder)
        try:
            folder.mkdir()
        except FileNotFoundError:
            raise folder_is_gone(self.scratch) from None
        return folder

    def hand_out(self, finished: Finished, folder: Path, *, keep: bool) -> Finished:
        """Keep the folder to hand it out, or remove it."""
        if keep and finished.status is Status.SUCCESS:
            return replace(finished, folder=folder)
        remove_tree(folder)
        return finished

    def close(self) -> None:
        """Remove what tasks left to others, and the temporary folder, if there is one."""
        remove_tree(self.scratch / SHARED)
        if self._is_own:
            remove_tree(self.scratch)


def written_files(folder: Path) -> list[Path]:
    """Return what a task has written to its folder, sorted; its order is no result.

    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "model.skops").write_bytes(b"")
    ...     [path.name for path in written_files(Path(folder))]
    ['model.skops']
    """
    return sorted(path for path in folder.iterdir() if path.name != TASK)


def remove_tree(folder: Path) -> None:
    """Remove a folder of any depth with all content; unremovable files stay.

    Every folder is moved to the top before it is emptied: so no path exceeds the limit of the
    system, and neither recursion nor open descriptors grow with the depth.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> remove_tree(folder)
    >>> folder.exists()
    False
    """
    with contextlib.suppress(OSError):
        if folder.is_symlink() or not folder.is_dir():
            folder.unlink()
            return
    token = secrets.token_hex(8)
    names = (f".{token}-{number}" for number in itertools.count())
    waiting = _emptied(folder, folder, names)
    while waiting:
        below = waiting.pop()
        waiting += _emptied(below, folder, names)
        with contextlib.suppress(OSError):
            below.rmdir()
    with contextlib.suppress(OSError):
        folder.rmdir()


def _emptied(folder: Path, top: Path, names: Iterator[str]) -> list[Path]:
    """Remove the files of a folder, move its folders to the top, and return their new paths."""
    moved = []
    with contextlib.suppress(OSError):
        folder.chmod(stat.S_IRWXU)
        for path in list(folder.iterdir()):
            with contextlib.suppress(OSError):
                if path.is_symlink() or not path.is_dir():
                    path.unlink()
                    continue
                # A work may have taken its own rights away.
                path.chmod(stat.S_IRWXU)
                moved.append(path.rename(top / next(names)))
    return moved


@contextmanager
def temporary_folder(prefix: str, within: Path | None = None) -> Iterator[Path]:
    """Make a folder, and remove it in the end, however deep it has become."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=within))
    try:
        yield folder
    finally:
        remove_tree(folder)


def open_regular(path: Path) -> IO[bytes]:
    """Open a file written by a child; refuse anything else, such as a FIFO, at once.

    Raise OSError.
    """
    # A FIFO would be waited for, and a link could lead to any file of the user.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path) -> bytes:
    """Return the content of a file written by a child; raise OSError if it is not regular."""
    with open_regular(path) as file:
        return file.read()


def is_within(folders: Iterable[Path], most_bytes: int, most_files: int, deepest: int) -> bool:
    """Return True if the content of these folders is within a size; stop counting beyond it.

    Sizes are those on the disk: a file with holes takes less than its length. A tree deeper than
    `deepest` is never within: a further look would take ever longer.
    """
    waiting, weight, files = [(folder, 0) for folder in folders], 0, 0
    while waiting:
        folder, depth = waiting.pop()
        if depth > deepest:
            return False
        for size, below in _entries(folder):
            weight += size
            files += 1
            if weight > most_bytes or files > most_files:
                return False
            if below is not None:
                waiting.append((below, depth + 1))
    return True


def _entries(folder: Path) -> Iterator[tuple[int, Path | None]]:
    """Yield the bytes on the disk of all entries of a folder, with the path of a folder.

    Entries that vanish meanwhile take nothing.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                is_folder = entry.is_dir(follow_symlinks=False)
                size = entry.stat(follow_symlinks=False).st_blocks * 512
                yield size, Path(entry.path) if is_folder else None
