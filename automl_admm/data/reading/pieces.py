"""Pieces of a CSV file, cut at ends of rows, and their order of reading.

A newline ends a row if the number of quotes before it is even; otherwise it is within a text.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

Piece = tuple[int, int]

# Shorter pieces would cost more in seeking than in reading.
LEAST_BYTES = 1 << 14
MOST_PIECES = 2048  # a share is written down piece by piece
# However late it is, so many pieces are read: fewer are no sample of a file.
FEWEST = 16
QUOTE, NEWLINE = b'"', b"\n"
BLANK = b"\xef\xbb\xbf\r\n"  # a byte order mark, and line ends
GOLDEN = (5**0.5 - 1) / 2


def cut(source: Path, is_late: Callable[[], bool], *, is_whole: bool = True) -> tuple[Piece, ...]:
    """Return the header of a file, and the rest of it in pieces of at least `LEAST_BYTES`.

    A place is within quotes or not by all bytes before it. If this scan takes too long, the pieces
    end early. A file that is not whole may end within a row.
    """
    size = source.stat().st_size
    block = max(LEAST_BYTES, size // MOST_PIECES)
    quotes = 0
    with source.open("rb") as file:
        at = header = _header_end(file, block)
        places = [header]
        file.seek(header)
        while content := file.read(block):
            row = next_row(content, 0, quotes)
            if row:
                places.append(at + row)
            at += len(content)
            quotes += content.count(QUOTE)
            if len(places) > FEWEST and is_late():
                break
    # Cut short, nobody knows where the last piece ends: it is left out.
    ends = [*places[1:], size] if at == size and is_whole else places[1:]
    pieces = (piece for piece in zip(places, ends, strict=False) if piece[0] < piece[1])
    return ((0, header), *pieces)


def evenly(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return pieces in an order with every beginning spread over the whole file.

    Multiples of the golden ratio divide a circle most evenly, and follow no period of the rows.
    """
    places = sorted(range(len(pieces)), key=lambda place: place * GOLDEN % 1.0)
    return tuple(pieces[place] for place in places)


def next_row(content: bytes, at: int, quotes: int) -> int:
    """Return the place of the first row after another place; 0 if there is none."""
    seen, counted = quotes, 0
    while (newline := content.find(NEWLINE, at)) >= 0:
        seen += content.count(QUOTE, counted, newline)
        counted = at = newline + 1
        if seen % 2 == 0:
            return at
    return 0


def _header_end(file: BinaryIO, block: int) -> int:
    """Return the place after the first row with content, or the end of the text."""
    content = b""
    while more := file.read(block):
        content += more
        begin = 0
        while end := next_row(content, begin, 0):
            if content[begin:end].strip(BLANK):
                return end
            begin = end
    return len(content)
