"""A share of a file: rows from all over it, if reading all of them would take too long.

The share is made of pieces of the file: bytes of a CSV file, cut at ends of rows, or rows of a
Parquet file. Those of a compressed file are of its content. The pieces are recorded, so a later
reader of the same file gets the same rows.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import DataError, StoreError
from automl_admm.core.percentages import percent
from automl_admm.data.reading.pieces import Piece
from automl_admm.data.reading.streams import is_stream

NEARLY_ALL = 0.8
MEGABYTE = 1e6


@dataclass(frozen=True, slots=True)
class Share:
    """Pieces of a file with its number of bytes, the first one the header; or of `rows`.

    `content` is the number of bytes of a plain copy, which the pieces are of then. The size is 0
    if the end of the file was not seen.
    """

    size: int
    pieces: tuple[Piece, ...]
    rows: int | None = None
    content: int | None = None

    @property
    def part(self) -> float:
        """The part of the file, from 0 to 1."""
        return sum(end - begin for begin, end in self.pieces) / self._whole

    @property
    def reach(self) -> float:
        """The end of its last piece, as a part of the file."""
        return self.pieces[-1][1] / self._whole

    def tell(self) -> str:
        """Say to a user how much was read."""
        place = "from all over it"
        if self.size == 0:
            read = sum(end - begin for begin, end in self.pieces)
            return f"the first {read / MEGABYTE:.3g} MB were read: the budget is too short for more"
        if self.reach < NEARLY_ALL:  # there was not even the time to see where rows end
            place = f"from the first {percent(self.reach)} of it"
        part = f"{percent(self.part)} of the file were read, {place}"
        return f"{part}: the budget is too short to read and search all of it"

    @property
    def _whole(self) -> int:
        bytes_in_all = self.size if self.content is None else self.content
        return max(bytes_in_all if self.rows is None else self.rows, 1)

    def __str__(self) -> str:
        content = "" if self.content is None else f"~{self.content}"
        rows = "" if self.rows is None else f"/{self.rows}"
        pieces = ",".join(f"{begin}-{end}" for begin, end in self.pieces)
        return f"{self.size}{content}{rows}:{pieces}"


def share_of_pieces(
    size: int, pieces: Iterable[Piece], rows: int | None = None, content: int | None = None
) -> Share | None:
    """Return the share of these pieces, adjacent ones merged; None for the whole file."""
    joined: list[Piece] = []
    for begin, end in sorted(pieces):
        # The header stays a piece of its own.
        if len(joined) > (rows is None) and joined[-1][1] == begin:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    share = Share(size, tuple(joined), rows, content)
    return None if share.part == 1.0 else share


def read_share(text: str) -> Share:
    """Read a share from its `str`."""
    try:
        of, _, pieces = text.partition(":")
        of, _, rows = of.partition("/")
        size, _, content = of.partition("~")
        pairs = [piece.split("-") for piece in pieces.split(",")]
        places = tuple((int(begin), int(end)) for begin, end in pairs)
        return Share(
            int(size), places, *(int(number) if number else None for number in (rows, content))
        )
    except ValueError as problem:
        raise StoreError(f"'{text[:60]}' does not say which part of a file was read.") from problem


def share_of(text: str | None, source: Path | None) -> Share | None:
    """Return the recorded share of a file; None for a file of another size.

    A stream has no size before it is read, and the end of one may never have been seen.
    """
    if text is None or source is None:
        return None
    share = read_share(text)
    if is_stream(source) or share.size == 0:
        return share
    if not source.is_file():
        return None
    # In a file of another size the pieces would cut through rows.
    return share if share.size == source.stat().st_size else None


@contextmanager
def written_out(source: Path, share: Share) -> Iterator[Path]:
    """Write the share to a temporary file; mistakes in it are reported for the source."""
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
