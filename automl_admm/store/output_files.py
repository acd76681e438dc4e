"""Output of a user: whole at its place, or not there at all; never in place of a file of a run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from automl_admm.core.errors import NO_ROOM, DiskFullError, StoreError
from automl_admm.store.own_files import refuse_own_file
from automl_admm.store.run_folder import write_atomically
from automl_admm.store.whole_files import open_whole


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when all is written, and not if anything fails.

    A link stays a link: its target is written. A device or a pipe is given all at the end. A file
    of a run is refused.
    """
    refuse_own_file(path)
    try:
        if is_stream(path):
            with tempfile.TemporaryFile() as spool:
                yield spool
                spool.seek(0)
                with path.open("wb") as stream:
                    shutil.copyfileobj(spool, stream)
            return
        with open_whole(_place_of(path)) as file:
            yield file
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise DiskFullError(f"no room left for '{path}'.", hint="Write elsewhere.") from problem
        raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem


def write_output(path: Path, content: bytes) -> None:
    """Write output of a user: whole or not at all, or into a device or pipe of this name.

    A link stays a link: its target is written. A file of a run is refused.
    """
    refuse_own_file(path)
    if not is_stream(path):
        write_atomically(_place_of(path), content)
        return
    try:
        with path.open("wb") as stream:
            stream.write(content)
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise DiskFullError(f"no room left in '{path}'.", hint="Write elsewhere.") from problem
        raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem


def _place_of(path: Path) -> Path:
    """Return the place that a path leads to; raise for a link to itself."""
    place = Path(os.path.realpath(path))
    if place.is_symlink():
        raise StoreError(f"'{path}' cannot be written: it is a link that leads to itself.")
    return place


def is_stream(path: Path) -> bool:
    """Return True for a device or a pipe, which a link such as /dev/stdout may lead to."""
    return path.exists() and not path.is_file()
