"""Rows of a Parquet file: all, those there is the time for, or the same ones again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from automl_admm.data.pieces import FEWEST, Piece, evenly

BATCH = 1 << 15
# So many row groups are read side by side; of more groups each is a small part of the file.
MOST_TOGETHER = 64


def _open(source: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    return ParquetFile(source, buffer_size=1 << 20)


def rows_in_time(source: Path, is_late: Callable[[], bool]) -> tuple[Any, int, list[Piece]]:
    """Read batches from all row groups until it is late.

    Return a frame, how many rows the file has, and which of them the frame holds. Within a row
    group only its beginning can be read without all of it.
    """
    with _open(source) as file:
        found = []
        fewest = min(file.metadata.num_row_groups, FEWEST)
        for piece, batch in _batches(file, evenly(_groups(file))):
            found.append((piece, batch))
            if len(found) >= fewest and is_late():
                break
        found.sort(key=lambda pair: pair[0])
        frame = _frame(file, [batch for _, batch in found])
        return frame, file.metadata.num_rows, [piece for piece, _ in found]


def rows_again(source: Path, pieces: Sequence[Piece]) -> Any:
    """Read these rows of a file."""
    with _open(source) as file:
        groups = [g for g in _groups(file) if any(_overlap(g, piece) for piece in pieces)]
        batches = []
        for (begin, end), batch in _batches(file, groups):
            for piece in pieces:
                first, last = max(begin, piece[0]), min(end, piece[1])
                if first < last:
                    batches.append(((first, last), batch.slice(first - begin, last - first)))
        batches.sort(key=lambda pair: pair[0])
        return _frame(file, [batch for _, batch in batches])


def _overlap(one: Piece, other: Piece) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _groups(file: Any) -> tuple[Piece, ...]:
    """Return the rows of each group."""
    pieces, begin = [], 0
    for number in range(file.metadata.num_row_groups):
        end = begin + file.metadata.row_group(number).num_rows
        pieces.append((begin, end))
        begin = end
    return tuple(pieces)


def _batches(file: Any, groups: Sequence[Piece]) -> Iterator[tuple[Piece, Any]]:
    """Read groups in turns, a batch of each, with the rows that it has."""
    numbers = {piece: number for number, piece in enumerate(_groups(file))}
    together = len(groups) if len(groups) <= MOST_TOGETHER else 1
    for first in range(0, len(groups), together):
        turns = [_of_group(file, numbers[g], g[0]) for g in groups[first : first + together]]
        while turns:
            for turn in list(turns):
                found = next(turn, None)
                if found is None:
                    turns.remove(turn)
                else:
                    yield found


def _of_group(file: Any, number: int, begin: int) -> Iterator[tuple[Piece, Any]]:
    for batch in file.iter_batches(batch_size=BATCH, row_groups=[number]):
        yield (begin, begin + len(batch)), batch
        begin += len(batch)


def _frame(file: Any, batches: Sequence[Any]) -> Any:
    import pyarrow as pa

    table = pa.Table.from_batches(batches, schema=batches[0].schema)
    return table.replace_schema_metadata(file.schema_arrow.metadata).to_pandas()
