"""Output of a user that is written piece by piece: whole at its place, or not there at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from automl_admm.core.errors import NO_ROOM, DiskFullError, StoreError
from automl_admm.store.run_folder import sync_folder


@contextmanager
def open_output(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name when all is written, and not if anything fails.

    A link stays a link: its target is written. A device or a pipe is given all at the end.
    """
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():
            with tempfile.TemporaryFile() as spool:
                yield spool
                spool.seek(0)
                with target.open("wb") as stream:
                    shutil.copyfileobj(spool, stream)
            return
        yield from _beside(target)
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise DiskFullError(f"no room left for '{path}'.", hint="Write elsewhere.") from problem
        raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem


def _beside(target: Path) -> Iterator[BinaryIO]:
    partial = target.with_name(f".{target.name}.partial")
    try:
        # Exclusively: what somebody may have put there, such as a link, is not written through.
        partial.unlink(missing_ok=True)
        with partial.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(target)
        sync_folder(target.parent)
    except BaseException:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise
