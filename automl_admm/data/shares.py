"""A share of a CSV file: rows from all over it, where to read all of them would take too long.

The share is pieces of the file, cut where a row ends. They are written down, so that whoever reads
the same file later has the same rows.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from automl_admm.core.errors import DataError, StoreError

BLOCK = 1 << 20
MOST_BLOCKS = 256
# A forecast from one block, on a machine that may be busier later.
SAFETY = 2.0
QUOTE, NEWLINE = b'"', b"\n"


@dataclass(frozen=True, slots=True)
class Share:
    """Pieces of a file that has so many bytes; the first one is its header."""

    size: int
    pieces: tuple[tuple[int, int], ...]

    @property
    def part(self) -> float:
        """Which part of the file it is."""
        return sum(end - begin for begin, end in self.pieces) / max(self.size, 1)

    def __str__(self) -> str:
        return f"{self.size}:{','.join(f'{begin}-{end}' for begin, end in self.pieces)}"


def read_share(text: str) -> Share:
    """Read what `str` made of a share."""
    try:
        size, _, pieces = text.partition(":")
        pairs = [piece.split("-") for piece in pieces.split(",")]
        return Share(int(size), tuple((int(begin), int(end)) for begin, end in pairs))
    except ValueError as problem:
        raise StoreError(f"'{text[:60]}' does not say which part of a file was read.") from problem


def share_of(text: str | None, source: Path | None) -> Share | None:
    """The share that was read of a file earlier; None of another file, which has another size."""
    if text is None or source is None or not source.is_file():
        return None
    share = read_share(text)
    return share if share.size == source.stat().st_size else None


def share_in_time(source: Path, seconds: float, read: Callable[[Path], object]) -> Share | None:
    """The share of a file that can be read in the time; None if all of it can.

    How long it takes is forecast from its first block, which is read for it.
    """
    size = source.stat().st_size
    block = max(BLOCK, size // MOST_BLOCKS)
    if size <= 2 * block:
        return None
    begun = time.monotonic()
    with source.open("rb") as file:
        header = _next_row(file.read(block), 0, 0)
    first = Share(size, ((0, header), *_pieces(source, block, 1.0, header, most=1)))
    if len(first.pieces) == 1:  # rows are longer than blocks, or end otherwise than in a newline
        return None
    with written_out(source, first) as path:
        read(path)
    took = time.monotonic() - begun
    part = first.part * max(seconds - took, 0.0) / (SAFETY * took)
    if part >= 1.0:
        return None
    pieces = ((0, header), *_pieces(source, block, part, header))
    return Share(size, pieces) if len(pieces) > 1 else first


@contextmanager
def written_out(source: Path, share: Share) -> Iterator[Path]:
    """A temporary file that has only the share; what is wrong in it is told of the source."""
    with tempfile.TemporaryDirectory(prefix="automl-admm-tmp-") as folder:
        path = Path(folder, source.name)
        with source.open("rb") as whole, path.open("wb") as part:
            for begin, end in share.pieces:
                whole.seek(begin)
                part.write(whole.read(end - begin))
        try:
            yield path
        except DataError as problem:
            said = problem.message.replace(
                str(path), f"{source} (counted in the part that was read)"
            )
            raise DataError(said, hint=problem.hint) from problem


def _pieces(
    source: Path, block: int, part: float, header: int, most: int | None = None
) -> Iterator[tuple[int, int]]:
    """The first part of each block, from the end of a row to the end of a row."""
    with source.open("rb") as file:
        for number, (place, content, quotes) in enumerate(_blocks(file, block)):
            if number == most:
                return
            begin = header if number == 0 else _next_row(content, 0, quotes)
            if begin == 0:
                continue
            end = _next_row(content, begin + int(part * (len(content) - begin)), quotes)
            if not end and part >= 1.0:
                end = _last_row(content, begin, quotes)
            if end > begin:
                yield place + begin, place + end


def _blocks(file: BinaryIO, block: int) -> Iterator[tuple[int, bytes, int]]:
    """Where each block begins, what it holds, and how many quotes stand before it."""
    place = quotes = 0
    while content := file.read(block):
        yield place, content, quotes
        place += len(content)
        quotes += content.count(QUOTE)


def _next_row(content: bytes, at: int, quotes: int) -> int:
    """Where the first row after a place begins; 0 if none does.

    A newline ends a row where the quotes before it are even in number: else it stands in a text.
    """
    seen, counted = quotes, 0
    while (newline := content.find(NEWLINE, at)) >= 0:
        seen += content.count(QUOTE, counted, newline)
        counted = at = newline + 1
        if seen % 2 == 0:
            return at
    return 0


def _last_row(content: bytes, begin: int, quotes: int) -> int:
    """Where the last row that ends in a block ends."""
    at = len(content)
    while (newline := content.rfind(NEWLINE, begin, at)) >= 0:
        if (quotes + content.count(QUOTE, 0, newline)) % 2 == 0:
            return newline + 1
        at = newline
    return 0
