"""Files that take their names when they are whole.

They are written beside that name, each under one of its own: two processes may write at once. A
lock tells a file that is being written from one whose process was killed.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

# A name has at most so many bytes; that beside the target adds a point, digits and an ending.
LONGEST_NAME = 255
DIGITS = 8
ENDING = ".partial"
LONGEST_STEM = LONGEST_NAME - len(f"..{ENDING}") - DIGITS


@contextmanager
def open_whole(target: Path) -> Iterator[BinaryIO]:
    """Open a file that takes its name when all of it is on the disk, name and all.

    Nothing is left of it if anything fails, an interrupt included.
    """
    with suppress(FileNotFoundError):
        target.lstat()  # raises for a name that is too long, which that beside it is not
    _remove_abandoned(target)
    while True:
        partial = target.with_name(f".{_stem(target)}.{secrets.token_hex(DIGITS // 2)}{ENDING}")
        try:
            # Exclusively: what somebody may have put there, such as a link, is not written through.
            file = partial.open("xb")
        except FileExistsError:  # it is another's
            continue
        try:
            with file:
                if not _hold(file):
                    continue
                yield file
                file.flush()
                os.fsync(file.fileno())
                partial.replace(target)
            sync_folder(target.parent)
        except BaseException:
            with suppress(OSError):
                partial.unlink(missing_ok=True)
            raise
        else:
            return


def _stem(target: Path) -> str:
    """Return the name of a file, or so much of a long one that there is room for the rest."""
    stem = target.name
    while len(os.fsencode(stem)) > LONGEST_STEM:
        stem = stem[:-1]
    return stem


def sync_folder(path: Path) -> None:
    """Put the names in a folder on the disk: a new name is lost in a power cut otherwise."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_abandoned(target: Path) -> None:
    """Remove what killed processes left of this file."""
    stem, ending = re.escape(_stem(target)), re.escape(ENDING)
    left = re.compile(rf"\.{stem}\.[0-9a-f]{{{DIGITS}}}{ending}")
    with suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            if left.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                _remove_unheld(Path(entry.path))


def _remove_unheld(left: Path) -> None:
    with suppress(OSError), left.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        left.unlink()


def _hold(file: BinaryIO) -> bool:
    """Hold a new file for this process; False if another took it for abandoned before that."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, where nothing is removed either
        return True
    return os.fstat(file.fileno()).st_nlink > 0
