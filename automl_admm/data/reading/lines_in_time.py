"""Tables with a row a line, such as ARFF and JSON lines: all rows, or those there is time for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

from automl_admm.core.errors import DataError
from automl_admm.data.reading.pieces import FEWEST, LEAST_BYTES, MOST_PIECES, Piece, evenly


class LineTable(Protocol):
    """A format with a row a line below a header; the header ends at the byte `end`.

    `lines` is the number of lines of the header.
    """

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def end(self) -> int:
        """The place of the first row in bytes."""

    @property
    def lines(self) -> int:
        """The number of lines before the first row."""

    def rows(self, lines: Iterable[bytes], first: int) -> Iterator[tuple[int, Any]]:
        """Return the rows in lines, each with the number of its line."""

    def frame(self, rows: Sequence[Any], keep_text: Iterable[str] = ()) -> Any:
        """Return a frame of rows."""


def all_rows(table: LineTable) -> list[Any]:
    """Return all rows."""
    return [row for _, row in _numbered(table)]


def line_of_row(table: LineTable, number: int) -> str:
    """Return the place of a row; it reads the file again, but only to report a mistake."""
    line = next(line for at, (line, _) in enumerate(_numbered(table)) if at == number)
    return f"{table.path}, line {line}"


def _numbered(table: LineTable) -> Iterator[tuple[int, Any]]:
    with table.path.open("rb") as file:
        file.seek(table.end)
        yield from table.rows(file, table.lines + 1)


def rows_in_time(
    table: LineTable, is_late: Callable[[], bool], *, is_whole: bool
) -> tuple[list[Any], list[Piece]]:
    """Return rows from all over the file in their order, and the pieces that they are of.

    A file that is not whole may end within a row.
    """
    found: list[tuple[Piece, list[Any]]] = []
    for piece in evenly(_cut(table, is_whole=is_whole)):
        if len(found) >= FEWEST and is_late():
            break
        found.append((piece, _rows_of(table, piece)))
    found.sort(key=lambda pair: pair[0])
    return [row for _, rows in found for row in rows], [piece for piece, _ in found]


def rows_again(table: LineTable, pieces: Sequence[Piece]) -> list[Any]:
    """Return the rows of these pieces."""
    return [row for piece in pieces for row in _rows_of(table, piece)]


def _rows_of(table: LineTable, piece: Piece) -> list[Any]:
    with table.path.open("rb") as file:
        file.seek(piece[0])
        lines = file.read(piece[1] - piece[0]).split(b"\n")
        try:
            return [row for _, row in table.rows(lines, 1)]
        except DataError:
            file.seek(0)
            before = file.read(piece[0]).count(b"\n")
    # Once more, with the number of the line: it is counted for a mistake alone.
    return [row for _, row in table.rows(lines, before + 1)]


def _cut(table: LineTable, *, is_whole: bool) -> tuple[Piece, ...]:
    """Cut the rows into pieces at ends of lines."""
    size = table.path.stat().st_size
    block = max(LEAST_BYTES, (size - table.end) // MOST_PIECES)
    places = [table.end]
    with table.path.open("rb") as file:
        while places[-1] + block < size:
            file.seek(places[-1] + block)
            rest = len(file.readline())
            places.append(min(places[-1] + block + rest, size))
    if places[-1] < size and is_whole:
        places.append(size)
    return tuple(pairwise(places))
