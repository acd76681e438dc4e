"""Rows that end with a carriage return alone, as on old Macs.

After such an end and a blank line pandas drops the first separator of a row whose first cell is
empty: its cells move one column to the left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

BLOCK = 1 << 20
RETURN, NEWLINE, QUOTE = b"\r", b"\n", b'"'
RETURN_ALONE = re.compile(rb"\r(?!\n)")


def has_returns_alone(path: Path, is_late: Callable[[], bool]) -> bool:
    """Return True if a row ends with a carriage return alone, by all that there is time for."""
    quotes = 0
    with path.open("rb") as file:
        while block := _block(file):
            if _with_newlines(block, quotes) != block:
                return True
            if is_late():
                break
            quotes += block.count(QUOTE)
    return False


def with_newlines(path: Path) -> Iterator[bytes]:
    """Return a file with a newline at the end of each row, byte for byte as long.

    A carriage return within quotes is part of a text.
    """
    quotes = 0
    with path.open("rb") as file:
        while block := _block(file):
            yield _with_newlines(block, quotes)
            quotes += block.count(QUOTE)


def _block(file: BinaryIO) -> bytes:
    """Return the next bytes, which do not end between a carriage return and its newline."""
    block = file.read(BLOCK)
    while block.endswith(RETURN) and (more := file.read(1)):
        block += more
    return block


def _with_newlines(block: bytes, quotes: int) -> bytes:
    if block.count(RETURN) == block.count(RETURN + NEWLINE):
        return block
    parts = block.split(QUOTE)
    outside = slice(quotes % 2, None, 2)
    parts[outside] = [RETURN_ALONE.sub(NEWLINE, part) for part in parts[outside]]
    return QUOTE.join(parts)
