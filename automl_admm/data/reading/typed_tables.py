"""Tables of the formats that know the types of their values: Parquet, Feather, ARFF and JSON."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.core.messages import reason_of
from automl_admm.data.conforming import Place, with_gaps_by_texts
from automl_admm.data.exact_arrays import frame_of_arrow
from automl_admm.data.plain_columns import plain_missing
from automl_admm.data.reading import lines_in_time, parquet_rows
from automl_admm.data.reading.arff import read_header
from automl_admm.data.reading.formats import ARFF, FEATHER, JSON_ARRAY, JSON_LINES, PARQUET, is_text
from automl_admm.data.reading.json_records import JsonLines, read_array
from automl_admm.data.reading.lines_in_time import LineTable, all_rows, line_of_row
from automl_admm.data.reading.pieces import Piece
from automl_admm.data.table_schema import Schema
from automl_admm.data.unique_names import UniqueNames

NAMES = {PARQUET: "Parquet", FEATHER: "Feather"}


def read_typed(
    source: Path,
    form: str,
    schema: Schema | None = None,
    pieces: Sequence[Piece] | None = None,
    asked: Collection[str] = (),
) -> Any:
    """Read a table, or these pieces of it; an index of pandas only if its name is `asked` for."""
    if form in NAMES:
        frame = _read_arrow(source, form, pieces, asked)
    elif form == JSON_ARRAY:
        table, records = read_array(source)
        frame = table.frame(records)
    else:
        lines = line_table(source, form)
        rows = all_rows(lines) if pieces is None else lines_in_time.rows_again(lines, pieces)
        frame = lines.frame(rows, texts_of(schema))
    named = with_text_names(frame)
    return named if schema is None else with_gaps_by_texts(named, schema)


def place_of(source: Path, form: str) -> Place:
    """Return a function that names the place of a row from its number."""
    if form in (ARFF, JSON_LINES):
        return partial(line_of_row, line_table(source, form))
    word = "record" if form == JSON_ARRAY else "row"
    return lambda number: f"{source}, {word} {number + 1}"


def line_table(source: Path, form: str) -> LineTable:
    """Return the table of a file with a row a line."""
    return read_header(source) if form == ARFF else JsonLines(source)


def unique_names_of(source: Path, form: str) -> UniqueNames | None:
    """Return the names of the columns if some are alike; only an ARFF file may have such."""
    return read_header(source).unique if form == ARFF else None


def texts_of(schema: Schema | None) -> list[str]:
    """Name the columns that held text, or what is read from text, in training."""
    columns = () if schema is None else schema.columns
    return [str(column.name) for column in columns if column.holds in ("text", "other")]


def _read_arrow(
    source: Path, form: str, pieces: Sequence[Piece] | None, asked: Collection[str]
) -> Any:
    with readable(source, form):
        if pieces is not None:
            return parquet_rows.rows_again(source, pieces, asked)
        read = parquet_rows.all_rows if form == PARQUET else _feather_rows
        return read(source, asked)


@contextmanager
def readable(source: Path, form: str) -> Iterator[None]:
    """Raise what goes wrong in this block as an error of a Parquet or Feather file."""
    try:
        yield
    except ImportError as problem:
        raise DataError(
            f"{source}: reading {NAMES[form]} needs pyarrow.",
            hint="pip install 'automl-admm[parquet]'",
        ) from problem
    except (OSError, ValueError) as problem:
        hint = "It looks like text: if it is CSV, name it .csv." if is_text(source) else None
        message = f"{source} is no readable {NAMES[form]} file: {reason_of(problem)}"
        raise DataError(message, hint=hint) from problem


def _feather_rows(source: Path, asked: Collection[str]) -> Any:
    from pyarrow import feather

    return frame_of_arrow(feather.read_table(source, memory_map=False), asked)


def with_text_names(frame: Any) -> Any:
    """Return a frame with plain columns and text names."""
    return plain_missing(frame).set_axis(list(map(str, frame.columns)), axis=1)
