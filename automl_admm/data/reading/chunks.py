"""A table piece by piece, for files larger than memory; each piece is as in training."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any

from automl_admm.core.errors import DataError, suggest
from automl_admm.data.columns import check_names
from automl_admm.data.conforming import Place, conform, has_sure_points, with_gaps_by_texts
from automl_admm.data.reading.csv_rows import (
    check_empty,
    check_lines,
    is_read_as_written,
    line_of,
    markers_of,
    parse,
    with_rest,
)
from automl_admm.data.reading.decimals import commas_in, has_fractions
from automl_admm.data.reading.dialects import COMMAS, Dialect, find_dialect
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.reading.formats import CSV, PARQUET, format_of, without_rows
from automl_admm.data.reading.parquet_rows import names_of_wholes, row_batches, text_batches
from automl_admm.data.reading.plain_files import PlainFile, plain_file
from automl_admm.data.reading.tables import (
    Manner,
    place_in_plain,
    read_plain,
    tell_found,
    without_infinities,
)
from automl_admm.data.reading.typed_tables import place_of, readable, with_text_names
from automl_admm.data.reading.whole_numbers import with_whole_numbers
from automl_admm.data.table_schema import Schema

# So many cells are held at a time, and the encoders may make some times as many of them.
CELLS = 2_000_000
FEWEST_ROWS, MOST_ROWS = 1_000, 100_000


@dataclass(frozen=True)
class Chunk:
    """Rows of a table as in training, and columns of theirs to keep as they were written.

    `place` names the place of a row in the file from its number in the chunk.
    """

    frame: Any
    kept: Any  # None if nothing is to be kept
    place: Place


def read_chunks(
    path: Path, schema: Schema, keep: Sequence[str], options: FileOptions
) -> Iterator[Chunk]:
    """Yield the rows of a file in their order; CSV and Parquet files are never held whole.

    Values have the types of training, or an error names the misfitting cell, maybe after chunks
    that were yielded before.
    """
    with plain_file(path, options) as plain:
        form = format_of(plain.path)
        dialect = find_dialect(plain.path, options) if form == CSV else COMMAS
        if form == CSV and not _is_open(plain.path, dialect, schema):
            tell_found(options, plain, dialect)
            chunks = _of_csv(plain.path, dialect, schema, keep)
        elif form == PARQUET:
            chunks = _of_parquet(plain.path, schema, keep, options)
        else:
            chunks = iter([whole_chunk(plain, schema, keep, options)])
        is_empty = True
        for chunk in chunks:
            is_empty = False
            yield replace(chunk, place=_of_source(plain, chunk.place))
        if is_empty:
            raise without_rows(path, form)


def _of_source(plain: PlainFile, place: Place) -> Place:
    """Return a place that names the source, where rows are read from a copy."""
    return lambda number: place(number).replace(str(plain.path), plain.title)


def whole_chunk(
    plain: PlainFile, schema: Schema, keep: Sequence[str], options: FileOptions
) -> Chunk:
    """Return all rows at once."""
    frame = read_plain(plain, Manner(schema=schema, options=options))
    check_kept(list(frame.columns), keep)
    return Chunk(frame, frame[list(keep)], place_in_plain(plain, options))


def check_kept(names: Sequence[str], keep: Sequence[str]) -> None:
    """Raise if a column to keep is not there."""
    for name in keep:
        if name not in names:
            raise DataError(f"there is no column '{name}' to keep.", hint=suggest(name, names))


def rows_at_a_time(columns: int) -> int:
    """Return the number of rows of a chunk."""
    return min(max(CELLS // max(columns, 1), FEWEST_ROWS), MOST_ROWS)


def _of_csv(source: Path, dialect: Dialect, schema: Schema, keep: Sequence[str]) -> Iterator[Chunk]:
    header = check_lines(source, dialect)
    check_kept(header, keep)
    known = schema.by_name()
    check_names(header, tuple(known))
    wanted = [name for name in header if name in known] or header[:1]
    rows = rows_at_a_time(len(wanted) + len(keep))
    written = [name for name in wanted if name in known and is_read_as_written(known[name])]
    markers, first = markers_of(header, schema.columns), 0
    texts = _texts(source, dialect, wanted, markers, rows)
    try:
        with parse(source, written, markers, wanted, dialect, rows) as frames:
            for frame, kept in zip(frames, _as_written(source, dialect, keep, rows), strict=False):
                if len(frame):
                    exact = with_whole_numbers(frame, partial(_beside, texts, frame), dialect)
                    yield _of_frame(exact, kept, schema, _Lines(source, dialect, first))
                first += len(frame)
    except DataError:
        raise
    except (ValueError, OverflowError) as problem:
        raise DataError(f"{source} cannot be read: {problem}.") from problem


def _texts(
    source: Path, dialect: Dialect, names: Sequence[str], markers: Any, rows: int
) -> Iterator[Any]:
    """Yield columns as texts, chunk by chunk; the file is opened for the first chunk asked for."""
    with parse(source, names, markers, names, dialect, rows) as frames:
        yield from frames


def _beside(texts: Iterator[Any], frame: Any, *_: object) -> Any:
    """Return the texts of the rows of a frame, which are not before those returned last."""
    return next(found for found in texts if found.index[0] == frame.index[0])


@dataclass(frozen=True)
class _Lines:
    """The lines of a CSV file's rows from the `first` of a chunk on."""

    source: Path
    dialect: Dialect
    first: int

    def __call__(self, number: int) -> str:
        return line_of(self.source, self.dialect, self.first + number)


def _as_written(source: Path, dialect: Dialect, keep: Sequence[str], rows: int) -> Iterator[Any]:
    """Yield columns as texts, chunk by chunk: 007 stays 007, and NA stays NA."""
    if not keep:
        yield from repeat(None)
    markers: dict[str, list[str]] = {name: [] for name in keep}
    with parse(source, keep, markers, list(keep), dialect, rows) as frames:
        for frame in frames:
            yield frame[list(keep)]


def _of_frame(frame: Any, kept: Any, schema: Schema, lines: _Lines) -> Chunk:
    numbers = {str(column.name) for column in schema.columns if column.holds == "number"}
    frame = frame.reset_index(drop=True)
    texts = [name for name in frame if str(name) not in numbers]
    frame = with_rest(frame, lines.dialect, texts, numbers)
    for column in schema.columns:
        if "" in column.texts and column.has_gaps and str(column.name) in frame:
            check_empty(frame[str(column.name)], lines.source, lines.dialect, lines.first)
    conformed = without_infinities(conform(frame, schema, lines))
    return Chunk(conformed, None if kept is None else kept.reset_index(drop=True), lines)


def _is_open(source: Path, dialect: Dialect, schema: Schema) -> bool:
    """Return True if later rows may show decimal commas, though the first ones show none.

    Between commas a number with one has quotes, and is told as a cell that does not fit.
    """
    is_sure = dialect.separator == "," and not dialect.has_doubtful_points
    if dialect.is_settled or is_sure:
        return False
    numbers = [str(column.name) for column in schema.columns if column.holds == "number"]
    header = check_lines(source, dialect)
    wanted = [name for name in numbers if name in header]
    if not wanted:
        return False
    with parse(source, [], None, wanted, dialect, rows_at_a_time(len(wanted))) as frames:
        return any(
            (dialect.has_doubtful_points and has_fractions(frame))
            or any(verdict is not None for verdict, _ in commas_in(frame, set(wanted)).values())
            for frame in frames
        )


def _of_parquet(
    source: Path, schema: Schema, keep: Sequence[str], options: FileOptions
) -> Iterator[Chunk]:
    with readable(source, PARQUET):
        schema = _settled(source, schema)
    first, place = 0, place_of(source, PARQUET)
    most = rows_at_a_time(len(schema.columns) + len(keep))
    with readable(source, PARQUET):
        wholes = names_of_wholes(source).intersection(keep)
    for frame in _batches(source, most, options):
        named = frame.set_axis(list(map(str, frame.columns)), axis=1).reset_index(drop=True)
        check_kept(list(named.columns), keep)
        rows = with_gaps_by_texts(with_text_names(named), schema)
        here = partial(_later, place, first)
        kept = _with_wholes(named[list(keep)], wholes)
        yield Chunk(without_infinities(conform(rows, schema, here)), kept, here)
        first += len(named)


def _with_wholes(kept: Any, names: Collection[str]) -> Any:
    """Return whole numbers as such, also beside gaps: every chunk of a file writes them alike."""
    floats = [name for name in names if kept[name].dtype == float]
    return kept.astype(dict.fromkeys(floats, "Int64")) if floats else kept


def _batches(source: Path, rows: int, options: FileOptions) -> Iterator[Any]:
    with readable(source, PARQUET):
        yield from row_batches(source, rows, options.asked)


def _settled(source: Path, schema: Schema) -> Schema:
    """Return the schema without its doubt about points if a text anywhere in the file settles it.

    So a row is read alike whatever rows stand in its chunk.
    """
    if not schema.had_commas:
        return schema
    numbers = {str(column.name) for column in schema.columns if column.holds == "number"}
    frames = text_batches(source, numbers, rows_at_a_time(len(numbers)))
    is_sure = any(has_sure_points(column) for frame in frames for _, column in frame.items())
    return replace(schema, had_commas=False) if is_sure else schema


def _later(place: Place, first: int, number: int) -> str:
    return place(first + number)
