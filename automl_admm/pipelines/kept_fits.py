"""Fits of a low fidelity in files, for the workers of one machine to go on from."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from automl_admm.execution.task_folders import open_regular

# Files just written stay in memory as long as there is room.
SHARE_OF_MEMORY = 0.05


@dataclass(frozen=True, slots=True)
class KeptFit:
    """A fitted estimator of a `size`, and the seconds that its fits took."""

    size: int
    seconds: float
    model: Any


@dataclass(frozen=True, slots=True)
class KeptFits:
    """The fits kept in a folder, the oldest ones removed for new ones above `most_bytes`.

    Files appear whole or not at all. One that is damaged, too large or gone is no fault: whoever
    needs it fits anew.
    """

    folder: Path
    most_bytes: int

    def find(self, key: str, size: int) -> KeptFit | None:
        """Return the largest fit of a key below a size, if one is there."""
        sizes = [(kept, path) for kept, path in self._files(key) if kept < size]
        for _, path in sorted(sizes, reverse=True):
            # Written by another worker, perhaps cut short by a full disk.
            with suppress(Exception), open_regular(path) as file:
                found = pickle.load(file)  # noqa: S301 - a task of this run wrote it
                if isinstance(found, KeptFit):
                    return found
        return None

    def keep(self, key: str, fit: KeptFit, scratch: Path) -> None:
        """Write a fit, by way of a file in `scratch`, and drop smaller ones of its key."""
        draft = scratch / f"{key}.kept"
        with suppress(OSError):
            try:
                draft.write_bytes(pickle.dumps(fit, protocol=pickle.HIGHEST_PROTOCOL))
                if self._has_room(draft.stat().st_size):
                    draft.replace(self.folder / f"{key}-{fit.size}")
                    self.drop(key, below=fit.size)
            finally:
                draft.unlink(missing_ok=True)

    def drop(self, key: str, below: int) -> None:
        """Remove the fits of a key below a size."""
        for size, path in self._files(key):
            if size < below:
                with suppress(OSError):
                    path.unlink()

    def is_empty(self) -> bool:
        """Return True if nothing is kept."""
        with suppress(OSError), os.scandir(self.folder) as entries:
            return next(entries, None) is None
        return True

    def _files(self, key: str) -> Iterator[tuple[int, Path]]:
        for path in self.folder.glob(f"{key}-*"):
            _, _, size = path.name.rpartition("-")
            if size.isdecimal():
                yield int(size), path

    def _has_room(self, size: int) -> bool:
        """Remove the oldest files until so many bytes fit in; return False if they never do."""
        if size > self.most_bytes:
            return False
        entries = sorted(_ages(self.folder))
        used = sum(weight for _, weight, _ in entries)
        for _, weight, path in entries:
            if used + size <= self.most_bytes:
                break
            path.unlink(missing_ok=True)
            used -= weight
        return True


def kept_fits(folder: Path) -> KeptFits:
    """Return the fits in a folder, within a share of the machine's memory."""
    return KeptFits(folder, int(SHARE_OF_MEMORY * psutil.virtual_memory().total))


def _ages(folder: Path) -> Iterator[tuple[float, int, Path]]:
    """Yield the time, size and path of each file; another worker may remove them meanwhile."""
    for path in folder.iterdir():
        with suppress(OSError):
            found = path.stat()
            yield found.st_mtime, found.st_size, path
