"""A pickle with its arrays in a file beside it, mapped into memory at loading.

The arrays are in memory once for all processes: these share the pages of the mapped file, and the
machine may drop the pages and read them again, unlike private copies. A process that writes to an
array gets pages of its own.
"""

from __future__ import annotations

import mmap
import pickle
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

ARRAYS = ".arrays"
ALIGNMENT = 64  # bytes of a cache line, which compiled loops like to begin at


def write_mapped(content: bytes, arrays: Iterable[pickle.PickleBuffer], path: Path) -> None:
    """Write a pickle and its out-of-band buffers."""
    with path.with_suffix(ARRAYS).open("wb") as file:
        places = [_append(array, file) for array in arrays]
    with path.open("wb") as file:
        pickle.dump(places, file)
        file.write(content)


def _append(array: pickle.PickleBuffer, file: IO[bytes]) -> tuple[int, int]:
    file.write(bytes(-file.tell() % ALIGNMENT))
    start = file.tell()
    return start, start + file.write(array.raw())


def read_mapped(path: Path) -> Any:
    """Load a written pickle, its arrays mapped."""
    with path.open("rb") as file:
        places = pickle.load(file)  # noqa: S301 - our own parent wrote it
        return pickle.load(file, buffers=_map(path.with_suffix(ARRAYS), places))  # noqa: S301


def remove_mapped(path: Path) -> None:
    """Remove a written pickle; existing maps stay valid."""
    path.unlink(missing_ok=True)
    path.with_suffix(ARRAYS).unlink(missing_ok=True)


def _map(path: Path, places: list[tuple[int, int]]) -> list[memoryview]:
    # The system refuses to map an empty file.
    if not any(end > start for start, end in places):
        return [memoryview(b"")] * len(places)
    with path.open("rb") as file:
        # Copies on write: scikit-learn refuses read-only arrays in places.
        view = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    return [view[start:end] for start, end in places]
