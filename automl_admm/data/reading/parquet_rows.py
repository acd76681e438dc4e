"""Rows of a Parquet file: all, those there is the time for, or the same ones again.

An index of pandas is a column if its name is among those `asked` for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from automl_admm.data.exact_arrays import frame_of_arrow
from automl_admm.data.reading.arrow_memory import ordinary_pages
from automl_admm.data.reading.pieces import FEWEST, Piece, evenly

BATCH = 1 << 13  # rows: small enough to look at the clock often
# So much is seen in a second or two.
MOST_CELLS = 50_000_000
# One of so many rows is kept where all were seen and it is late.
THINNED = 8
# So many row groups are read side by side; of more groups each is a small part of the file.
MOST_TOGETHER = 64
# From so many rows on a file is read column by column: fewer rows cost less than the turns.
TALL = 100_000


def _open(source: Path) -> Any:
    from pyarrow.parquet import ParquetFile

    return ParquetFile(source, buffer_size=1 << 20)


def all_rows(source: Path, asked: Collection[str] = ()) -> Any:
    """Read a file as a whole."""
    with _open(source) as file:
        return frame_of_arrow(file.read(), asked)


def rows_in_time(
    source: Path, is_late: Callable[[], bool], asked: Collection[str] = ()
) -> tuple[Any, int, list[Piece]]:
    """Read batches from all row groups until the deadline.

    Return a frame, the number of rows of the file, and the places of the frame's rows. A row group
    can only be read from its beginning. In a sorted file of few groups this may be one class only:
    then all batches are read, and a part of each is kept.
    """
    with _open(source) as file:
        if _must_be_seen(file.metadata) and _is_tall(file):
            with ordinary_pages():
                return _by_columns(file, is_late, asked)
        found, was_late = [], False
        for piece, batch in _batches(file, evenly(_groups(file))):
            found.append((piece, batch))
            was_late = was_late or is_late()
            if was_late and len(found) >= FEWEST and not _must_be_seen(file.metadata):
                break
        if was_late and _must_be_seen(file.metadata):
            found = [_beginning(piece, batch) for piece, batch in found]
        # In the order of the file, as a later reader gets them: splits depend on it.
        found.sort(key=lambda pair: pair[0])
        return _frame(file, found, asked), file.metadata.num_rows, [piece for piece, _ in found]


def _must_be_seen(metadata: Any) -> bool:
    """Return True for few row groups, unless a full pass would take seconds."""
    cells = metadata.num_rows * metadata.num_columns
    return bool(metadata.num_row_groups < FEWEST and cells <= MOST_CELLS)


def _beginning(piece: Piece, batch: Any) -> tuple[Piece, Any]:
    kept = _thinned(piece)
    return kept, batch.slice(0, kept[1] - kept[0])


def _thinned(piece: Piece) -> Piece:
    return piece[0], piece[0] - (piece[0] - piece[1]) // THINNED


def _is_tall(file: Any) -> bool:
    """Return True for many rows in plain columns, each of which its name finds alone."""
    schema = file.schema_arrow
    names = schema.names
    is_flat = file.metadata.num_columns == len(names) == len(set(names))
    return file.metadata.num_rows >= TALL and is_flat and not any("." in name for name in names)


def _by_columns(
    file: Any, is_late: Callable[[], bool], asked: Collection[str]
) -> tuple[Any, int, list[Piece]]:
    """Read a file that must be seen, one column at a time; keep a part of each batch if it is late.

    Decoding all columns side by side takes twice the memory, and touching it costs more processor
    time than decoding does.
    """
    import pyarrow as pa

    schema, rows = file.schema_arrow, file.metadata.num_rows
    columns = [file.read(columns=[name]).column(0) for name in schema.names]
    table, pieces = pa.Table.from_arrays(columns, schema=schema), list(_groups(file))
    del columns
    if is_late():
        pieces = [_thinned(batch) for piece in pieces for batch in _in_batches(piece)]
        table = pa.concat_tables([table.slice(begin, end - begin) for begin, end in pieces])
    # The frame takes the memory of the columns over, one after the other.
    part = (pieces, rows)
    frame = frame_of_arrow(table, asked, part, split_blocks=True, self_destruct=True)
    return frame, rows, pieces


def _in_batches(piece: Piece) -> Iterator[Piece]:
    """Return the rows of the batches of a group."""
    for begin in range(piece[0], piece[1], BATCH):
        yield begin, min(begin + BATCH, piece[1])


def rows_again(source: Path, pieces: Sequence[Piece], asked: Collection[str] = ()) -> Any:
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
        return _frame(file, batches, asked)


def text_batches(source: Path, names: Collection[str], rows: int) -> Iterator[Any]:
    """Yield frames with those of the named columns that are no numbers, if there are any."""
    from pyarrow import types

    with _open(source) as file:
        texts = [
            field.name
            for field in file.schema_arrow
            if field.name in names and (_is_text(field.type) or types.is_dictionary(field.type))
        ]
        for batch in file.iter_batches(batch_size=rows, columns=texts) if texts else ():
            yield batch.to_pandas(ignore_metadata=True)  # an index is a column here


def names_of_wholes(source: Path) -> frozenset[str]:
    """Return the names of the columns of whole numbers."""
    from pyarrow import types

    with _open(source) as file:
        return frozenset(field.name for field in file.schema_arrow if types.is_integer(field.type))


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def row_batches(source: Path, rows: int, asked: Collection[str] = ()) -> Iterator[Any]:
    """Return frames with at most so many rows, in the order of the file."""
    begin = 0
    with _open(source) as file:
        for batch in file.iter_batches(batch_size=rows):
            end = begin + len(batch)
            if end > begin:
                yield _frame(file, [((begin, end), batch)], asked)
            begin = end


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
    """Read groups in turns, a batch of each, with its rows."""
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


def _frame(file: Any, found: Sequence[tuple[Piece, Any]], asked: Collection[str]) -> Any:
    import pyarrow as pa

    batches = [batch for _, batch in found]
    part = ([piece for piece, _ in found], file.metadata.num_rows)
    table = pa.Table.from_batches(batches, schema=batches[0].schema)
    # Batches lose pandas' own types, such as categories, with the metadata.
    return frame_of_arrow(table.replace_schema_metadata(file.schema_arrow.metadata), asked, part)
