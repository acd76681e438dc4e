"""Rows of a plain CSV file: checked line by line, and parsed as in training."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_count
from automl_admm.data.reading.decimals import (
    commas_in,
    decide,
    has_fractions,
    judge,
    read_left_over,
)
from automl_admm.data.reading.dialects import COMMAS, SIGNS, Dialect
from automl_admm.data.reading.feeding import is_code
from automl_admm.data.reading.whole_numbers import with_whole_numbers, with_wide_numbers
from automl_admm.data.table_schema import MISSING_TEXTS, Column, Schema

# What a line of one column may hold and be left out by pandas.
BLANKS = " \t\r\n"
CODE_IN_FILE = re.compile(rb"(?:^|[,;|\"\s])0\d+(?=[,;|\"\s]|\Z)")


def read_csv_rows(
    source: Path,
    dialect: Dialect,
    schema: Schema | None = None,
    *,
    keep_codes: bool = False,
) -> tuple[Any, Dialect]:
    """Read a CSV file; return a frame, and the dialect with the decimal sign of all its rows."""
    header = check_lines(source, dialect)
    columns = () if schema is None else schema.columns
    # Numbers alone are parsed here. What else a cell is, its text and the schema say together.
    written = [str(column.name) for column in columns if is_read_as_written(column)]
    kept, markers = written, markers_of(header, columns)
    numbers = {str(column.name) for column in columns if column.holds == "number"}

    def parse_as(found: Dialect, as_text: Sequence[str]) -> Any:
        return parse(source, as_text, markers, None, found)

    try:
        frame, dialect = settle_decimal(source, dialect, parse_as, kept, numbers)
        if keep_codes and (codes := _codes(source, dialect, frame)):
            kept += codes
            frame = with_rest(parse_as(dialect, kept), dialect, kept, numbers)
        if keep_codes or schema is not None:
            frame = with_whole_numbers(frame, parse_as, dialect, kept)
    except DataError:
        raise
    except (ValueError, OverflowError) as problem:
        raise DataError(f"{source} cannot be read: {problem}.") from problem
    for column in columns:
        if "" in column.texts and column.has_gaps and str(column.name) in frame:
            check_empty(frame[str(column.name)], source, dialect)
    return frame, dialect


def settle_decimal(
    source: Path,
    dialect: Dialect,
    parse_as: Callable[[Dialect, Sequence[str]], Any],
    text: Sequence[str] = (),
    numbers: Collection[str] = (),
) -> tuple[Any, Dialect]:
    """Parse rows; if all of them together show decimal commas, parse them once more.

    The first rows may hold whole numbers alone. `parse_as` takes a dialect and the columns to read
    as text, `text` are those in any case, and `numbers` are known to hold numbers.
    """
    frame = parse_as(dialect, text)
    if dialect.is_settled:
        return with_rest(frame, dialect, text, numbers), dialect
    verdicts = commas_in(frame.drop(columns=[n for n in text if n in frame]), numbers)
    is_told = any(verdict is not None for verdict, _ in verdicts.values())
    if is_told or (dialect.has_doubtful_points and has_fractions(frame)):
        # As numbers 1.5 and 1.500 are the same, and only one of them has a decimal point for sure.
        floats = [str(name) for name in frame.select_dtypes("floating").columns]
        written = parse_as(dialect, [*text, *floats])
        verdicts |= {name: judge(written[name].dropna().unique()) for name in floats}
        sign = decide(
            source,
            verdicts,
            dialect.separator,
            has_doubtful_points=dialect.has_doubtful_points,
        )
        if sign != dialect.decimal:
            dialect = replace(dialect, decimal=sign)
            frame = parse_as(dialect, text)
    return with_rest(frame, dialect, text, numbers), dialect


def with_rest(frame: Any, dialect: Dialect, text: Sequence[str], numbers: Collection[str]) -> Any:
    """Return a frame with the numbers that a parser leaves as text: long ones, and some commas."""
    frame = with_wide_numbers(frame, text)
    return frame if dialect.decimal == "." else read_left_over(frame, text, numbers)


def parse(
    source: Any,
    text: Sequence[str],
    markers: Any = None,
    only: Any = None,
    dialect: Dialect = COMMAS,
    rows: int | None = None,
) -> Any:
    """Parse a CSV file with checked lines; the columns named in `text` stay as written.

    `markers` are the texts of missing values, for all columns or by column; `only` are the columns
    to read. With `rows` it returns an iterator of frames with at most so many.
    """
    import pandas as pd

    return pd.read_csv(
        source,
        na_values=sorted(MISSING_TEXTS) if markers is None else markers,
        # The markers are ours: they must not change with the version of pandas.
        keep_default_na=False,
        sep=dialect.separator,
        decimal=dialect.decimal,
        skipinitialspace=True,
        encoding="utf-8-sig",
        index_col=False,
        # Else pandas guesses a type for each chunk, and one column may hold two.
        low_memory=False,
        usecols=only,
        **named_by(dialect),
        dtype=dict.fromkeys(text, str),
        chunksize=rows,
    )


def named_by(dialect: Dialect) -> dict[str, Any]:
    """Return the arguments for pandas that replace a header with doubled names."""
    return {} if dialect.unique is None else {"names": dialect.unique.names, "header": 0}


def _codes(source: Path, dialect: Dialect, frame: Any) -> list[str]:
    """Name the number columns with a leading zero in a cell."""
    import pandas as pd

    figures = list(frame.select_dtypes("number").columns)
    # One search over the bytes saves a second parse in nearly every file.
    with source.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        if not figures or CODE_IN_FILE.search(content) is None:
            return []
    written = pd.read_csv(
        source,
        usecols=figures,
        dtype=str,
        sep=dialect.separator,
        skipinitialspace=True,
        encoding="utf-8-sig",
        index_col=False,
        **named_by(dialect),
    )
    return [name for name in figures if written[name].map(is_code).any()]


def check_empty(column: Any, source: Path, dialect: Dialect, first: int = 0) -> None:
    """Raise on an empty field if training had both empty texts and gaps."""
    empty = np.flatnonzero((column == "").to_numpy(dtype=bool, na_value=False))
    if len(empty):
        raise DataError(
            f"{line_of(source, dialect, first + int(empty[0]))}: an empty field in column "
            f"'{column.name}', where training had both empty texts and missing values.",
            hint="A CSV file cannot tell them apart: give a Parquet file.",
        )


def is_read_as_written(column: Column) -> bool:
    """Return True for a column whose cells are parsed later, by its schema."""
    return column.holds != "number"


def markers_of(header: Sequence[str], columns: Sequence[Column]) -> Any:
    """Return the texts of missing values: one set for all columns, or by name."""
    values = {str(column.name): column.texts for column in columns if column.texts}
    if not values:
        return sorted(MISSING_TEXTS)
    return {name: sorted(MISSING_TEXTS.difference(values.get(name, ()))) for name in header}


def line_of(source: Path, dialect: Dialect, number: int) -> str:
    """Return the last line of a row; blank lines are no rows, and a quoted field may have several.

    It reads the file again, but only to report a mistake.
    """
    lines = (line for line, _ in _lines(source, dialect))
    return f"{source}, line {next(islice(lines, number + 1, None))}"


def check_lines(source: Path, dialect: Dialect) -> list[str]:
    """Return the header; raise on a line of another length (pandas would shift or fill it)."""
    header: list[str] = []
    for line, fields in _lines(source, dialect):
        if not header:
            header = dialect.names(fields)
            check_header(source, header)
        elif len(fields) != len(header):
            raise DataError(
                f"{source}, line {line}: {say_count(len(fields), 'field')}, but the header has "
                f"{len(header)}.",
                hint=f"Look for a missing or a needless {SIGNS[dialect.separator]} or quote.",
            )
    if not header:
        raise DataError(f"{source} holds no header.")
    if len(header) == 1:
        _check_blank_lines(source, dialect)
    return header


def _check_blank_lines(source: Path, dialect: Dialect) -> None:
    """Refuse a blank line between the rows of one column.

    It may be a missing value or nothing at all; a wrong guess shifts all later predictions.
    """
    blank = None
    for line, fields in _with_blank_lines(source, dialect):
        if not fields:
            blank = blank or line
        elif blank:
            raise DataError(
                f"{source}, line {blank} is empty: a missing value, or no row at all?",
                hint='Write "" (two quotes) for a missing value, or delete the line.',
            )


class _Lines:
    """The lines of text, of which it keeps the `last` one."""

    def __init__(self, text: Iterable[str]) -> None:
        self._text, self.last = text, ""

    def __iter__(self) -> Iterator[str]:
        for line in self._text:
            self.last = line
            yield line


def _lines(source: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows and the numbers of their lines."""
    return ((line, fields) for line, fields in _with_blank_lines(source, dialect) if fields)


def _with_blank_lines(source: Path, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines from the header on; a blank one has no fields.

    In a table of one column that is one of blanks and tabs, too, which pandas leaves out. In a
    wider table it has too few fields.
    """
    with source.open(encoding="utf-8-sig", newline="") as text:
        lines, width = _Lines(text), 0
        reader = dialect.reader(lines)
        try:
            for fields in reader:
                if len(fields) == width == 1 and not lines.last.strip(BLANKS):
                    yield reader.line_num, []
                elif fields or width:
                    width = width or len(fields)
                    yield reader.line_num, fields
        except UnicodeDecodeError as problem:
            raise DataError(
                f"{source}, line {_first_foreign_line(source)}: this is no UTF-8 text.",
                hint="Save the file as UTF-8.",
            ) from problem
        except csv.Error as problem:
            raise DataError(f"{source}, line {reader.line_num}: {problem}.") from problem


def _first_foreign_line(source: Path) -> int:
    """Find the first line outside UTF-8: text is decoded in chunks, so the reader is elsewhere."""
    with source.open("rb") as file:
        return next((number for number, line in enumerate(file, 1) if _is_foreign(line)), 1)


def _is_foreign(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return True
    return False


def check_header(source: Path, header: Sequence[str]) -> None:
    """Raise on two columns of one name."""
    counts = Counter(header)  # `header.count` for each name is quadratic: minutes for wide tables
    if len(counts) < len(header):
        twice = next(name for name in header if counts[name] > 1)
        raise DataError(f"{source}: two columns are named '{twice}'.", hint="Rename one.")
