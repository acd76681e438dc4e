"""A share of a CSV file: rows from all over it, where to read all of them would take too long.

The share is pieces of the file, cut where a row ends. They are written down, so that whoever reads
the same file later has the same rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import DataError, StoreError
from automl_admm.data.pieces import Piece


@dataclass(frozen=True, slots=True)
class Share:
    """Pieces of a file that has so many bytes; the first one is its header."""

    size: int
    pieces: tuple[Piece, ...]

    @property
    def part(self) -> float:
        """Which part of the file it is."""
        return sum(end - begin for begin, end in self.pieces) / max(self.size, 1)

    @property
    def reach(self) -> float:
        """How far into the file its last piece is."""
        return self.pieces[-1][1] / max(self.size, 1)

    def __str__(self) -> str:
        return f"{self.size}:{','.join(f'{begin}-{end}' for begin, end in self.pieces)}"


def share_of_pieces(size: int, pieces: Iterable[Piece]) -> Share | None:
    """Return the share that is these pieces, those that touch as one; None if it is the file."""
    joined: list[Piece] = []
    for begin, end in sorted(pieces):
        if len(joined) > 1 and joined[-1][1] == begin:  # the header stays a piece of its own
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    share = Share(size, tuple(joined))
    return None if share.part == 1.0 else share


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
