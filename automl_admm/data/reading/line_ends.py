"""Rows that end with a carriage return alone, as on old Macs.

After such an end and a blank line pandas drops the first separator of a row whose first cell is
empty: its cells move one column to the left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from automl_admm.data.reading.dialects import SIGNS

BLOCK = 1 << 20
BOM = b"\xef\xbb\xbf"
RETURN, NEWLINE, QUOTE, BLANK = b"\r", b"\n", b'"', b" "
# The rest of a cell within quotes; without the last one where the bytes end before.
QUOTED = rb'[^"]*(?:""[^"]*)*(?P<end>"?)'


def has_any_return_alone(path: Path, is_late: Callable[[], bool]) -> bool:
    """Return True if there is a carriage return alone, be it within quotes."""
    return any(map(_has_return_alone, _in_time(_blocks(path), is_late)))


def has_returns_alone(
    path: Path, is_late: Callable[[], bool], separators: Iterable[str] = SIGNS
) -> bool:
    """Return True if a row ends with a carriage return alone, by all that there is time for."""
    ends = _Ends(separators)
    return any(ends.rewrite(block) != block for block in _in_time(_blocks(path), is_late))


def with_newlines(path: Path, separators: Iterable[str] = SIGNS) -> Iterator[bytes]:
    """Return a file with a newline at the end of each row, byte for byte as long.

    A carriage return within quotes is part of a text.
    """
    return map(_Ends(separators).rewrite, _blocks(path))


class _Ends:
    """Ends of rows in one block after the other.

    A quote opens a cell only at its start, as for the readers of CSV: `5" pipe` has an inch sign.
    """

    def __init__(self, separators: Iterable[str]) -> None:
        signs = re.escape("".join(separators)).encode()
        quoted = rb'[ ]*"' + QUOTED
        self._within = re.compile(rb"(?<=[\r\n%b])%b|\r(?!\n)" % (signs, quoted))
        self._at_start = re.compile(rb"(?<![^\r\n%b])%b|\r(?!\n)" % (signs, quoted))
        self._rest = re.compile(QUOTED)
        self._starts = (RETURN, NEWLINE, *(sign.encode() for sign in separators))
        self._is_quoted, self._is_start = False, True

    def rewrite(self, block: bytes) -> bytes:
        """Return the next block with newlines."""
        if block == BOM:
            return block
        made, begin = bytearray(block), 0
        cells = self._at_start if self._is_start and not self._is_quoted else self._within
        if self._is_quoted and (rest := self._rest.match(block)):
            begin = self._close(rest)
        for found in cells.finditer(block, begin):
            if found["end"] is None:
                made[found.start()] = ord(NEWLINE)
            else:
                self._close(found)
        if bare := block.rstrip(BLANK):
            self._is_start = bare.endswith(self._starts)
        return bytes(made)

    def _close(self, found: re.Match[bytes]) -> int:
        """Take a cell within quotes, which may go on in the next block; return its end."""
        self._is_quoted = not found["end"]
        return found.end()


def _has_return_alone(block: bytes) -> bool:
    return block.count(RETURN) != block.count(RETURN + NEWLINE)


def _in_time(blocks: Iterable[bytes], is_late: Callable[[], bool]) -> Iterator[bytes]:
    for block in blocks:
        yield block
        if is_late():
            break


def _blocks(path: Path) -> Iterator[bytes]:
    """Return the bytes of a file, the mark of UTF-8 by itself."""
    with path.open("rb") as file:
        if file.read(len(BOM)) == BOM:
            yield BOM
        else:
            file.seek(0)
        while block := _block(file):
            yield block


def _block(file: BinaryIO) -> bytes:
    """Return the next bytes, which do not end after a carriage return or a quote."""
    block = file.read(BLOCK)
    while block.endswith((RETURN, QUOTE)) and (more := file.read(1)):
        block += more
    return block
