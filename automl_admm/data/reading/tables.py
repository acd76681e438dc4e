"""Read a table from a file, and divide it into features and target.

Mistakes in a file are found here, with their line, before anything is trained on it.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.core.errors import DataError, suggest
from automl_admm.data.columns import plain_missing, with_columns
from automl_admm.data.conforming import conform
from automl_admm.data.reading.feeding import CODE
from automl_admm.data.reading.formats import PARQUET, format_of
from automl_admm.data.reading.parquet_rows import rows_again
from automl_admm.data.reading.pieces import Piece
from automl_admm.data.table_schema import MISSING_TEXTS, Column, Schema, content_of

if TYPE_CHECKING:
    import pandas as pd

CODE_IN_FILE = re.compile(rb"(?:^|[,\"\s])0\d+(?=[,\"\s]|\Z)")
FOREIGN_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_table(
    path: str | Path,
    text: Sequence[str] = (),
    schema: Schema | None = None,
    *,
    keep_codes: bool = False,
    rows: Sequence[Piece] | None = None,
) -> pd.DataFrame:
    """Read a CSV file with a header line, or a Parquet file.

    With a `schema` its columns get the types of training, or an error names the misfitting cell.
    The columns named in `text` are read as text, even if all of it looks like numbers. Missing
    values are: an empty field, pandas' own markers (NA, NaN, null, …) and "?", unless they were
    values in training. An infinite number counts as missing, too: hardly any model accepts one. Of
    a Parquet file only these `rows` are read.
    """
    source = Path(path)
    if format_of(source) == PARQUET:
        frame, place = _read_parquet(source, schema, rows), partial(_row_of_parquet, source)
    else:
        frame, place = _read_csv(source, text, schema), partial(_line_of, source)
        if keep_codes and (codes := _codes(source, frame)):
            frame = _read_csv(source, [*text, *codes], schema)
    if frame.empty:
        raise DataError(f"{source} holds a header and no rows.")
    if schema is not None:
        frame = conform(frame, schema, place)
    cleaned: pd.DataFrame = without_infinities(frame)
    return cleaned


def split_target(frame: pd.DataFrame, target: str) -> tuple[pd.DataFrame, pd.Series]:
    """Part a table into its features and the column to predict."""
    names = list(frame.columns)
    if target not in names:
        raise DataError(f"there is no column '{target}' to predict.", hint=suggest(target, names))
    if names.count(target) > 1:
        raise DataError(f"the column to predict, '{target}', stands twice.", hint="Rename one.")
    if len(names) == 1:
        raise DataError(f"the table has no column but the target '{target}'.")
    y = frame[target]
    missing = int(y.isna().sum())
    if missing:
        raise DataError(
            f"the target '{target}' is missing in {missing} of {len(y)} rows.",
            hint="Remove those rows first.",
        )
    return frame.drop(columns=[target]), y


def _read_parquet(
    source: Path, schema: Schema | None, pieces: Sequence[Piece] | None = None
) -> Any:
    import pandas as pd

    try:
        frame = pd.read_parquet(source) if pieces is None else rows_again(source, pieces)
    except ImportError as problem:
        raise DataError(
            f"{source}: reading Parquet needs pyarrow.", hint="pip install pyarrow"
        ) from problem
    except (OSError, ValueError) as problem:
        raise DataError(f"{source} is no readable Parquet file: {problem}.") from problem
    named = with_text_names(frame)
    return named if schema is None else with_gaps_by_texts(named, schema)


def with_text_names(frame: Any) -> Any:
    """Return the frame of a Parquet file with plain columns and text names."""
    return plain_missing(frame).set_axis(list(map(str, frame.columns)), axis=1)


def with_gaps_by_texts(frame: Any, schema: Schema) -> Any:
    """Read texts such as NA as missing, unless they were values in training: as in a CSV file."""
    known = schema.by_name()
    columns = [_with_gaps(column, known.get(str(name))) for name, column in frame.items()]
    return with_columns(frame, columns)


def _with_gaps(column: Any, expected: Column | None) -> Any:
    if expected is None or content_of(column) != "text":
        return column
    markers = MISSING_TEXTS.difference(expected.texts).intersection(column.unique())
    return column.mask(column.isin(markers), np.nan) if markers else column


def _read_csv(source: Path, text: Sequence[str], schema: Schema | None) -> Any:
    header = _check_lines(source)
    columns = () if schema is None else schema.columns
    # Numbers alone are parsed here. What else a cell is, its text and the schema say together.
    written = [str(column.name) for column in columns if _is_read_as_written(column)]
    try:
        frame = parse(source, [*text, *written], _markers(header, columns))
    except (ValueError, OverflowError) as problem:
        raise DataError(f"{source} cannot be read: {problem}.") from problem
    for column in columns:
        if "" in column.texts and column.has_gaps and str(column.name) in frame:
            _check_empty(frame[str(column.name)], source)
    return frame


def parse(source: Any, text: Sequence[str], markers: Any = None, only: Any = None) -> Any:
    """Parse a CSV file with checked lines; the columns named in `text` stay as written.

    `markers` are the texts of missing values, for all columns or by column; `only` are the columns
    to read.
    """
    import pandas as pd

    return pd.read_csv(
        source,
        na_values=sorted(MISSING_TEXTS) if markers is None else markers,
        # The markers are ours: they must not change with the version of pandas.
        keep_default_na=False,
        skipinitialspace=True,
        encoding="utf-8-sig",
        index_col=False,
        # Else pandas guesses a type for each chunk, and one column may hold two.
        low_memory=False,
        usecols=only,
        dtype=dict.fromkeys(text, str),
    )


def _codes(source: Path, frame: Any) -> list[str]:
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
        skipinitialspace=True,
        encoding="utf-8-sig",
        index_col=False,
    )
    return [name for name in figures if written[name].str.fullmatch(CODE, na=False).any()]


def _check_empty(column: Any, source: Path) -> None:
    """Raise on an empty field if training had both empty texts and gaps."""
    empty = np.flatnonzero((column == "").to_numpy(dtype=bool, na_value=False))
    if len(empty):
        raise DataError(
            f"{_line_of(source, int(empty[0]))}: an empty field in column '{column.name}', where "
            "training had both empty texts and missing values.",
            hint="A CSV file cannot tell them apart: give a Parquet file.",
        )


def _is_read_as_written(column: Column) -> bool:
    return column.holds in ("boolean", "text")


def _markers(header: Sequence[str], columns: Sequence[Column]) -> Any:
    """Return the texts of missing values: one set for all columns, or by name."""
    values = {str(column.name): column.texts for column in columns if column.texts}
    if not values:
        return sorted(MISSING_TEXTS)
    return {name: sorted(MISSING_TEXTS.difference(values.get(name, ()))) for name in header}


def _row_of_parquet(source: Path, number: int) -> str:
    return f"{source}, row {number + 1}"


def _line_of(source: Path, number: int) -> str:
    """Return the last line of a row; blank lines are no rows, and a quoted field may have several.

    It reads the file again, but only to report a mistake.
    """
    lines = (line for line, _ in _lines(source))
    return f"{source}, line {next(islice(lines, number + 1, None))}"


def _check_lines(source: Path) -> list[str]:
    """Return the header; raise on a line of another length (pandas would shift or fill it)."""
    header: list[str] = []
    for line, fields in _lines(source):
        if not header:
            header = fields
            check_header(source, header)
        elif len(fields) != len(header):
            raise DataError(
                f"{source}, line {line}: {len(fields)} fields, but the header has {len(header)}.",
                hint="Look for a missing or a needless comma or quote.",
            )
    if not header:
        raise DataError(f"{source} holds no header.")
    if len(header) == 1:
        _check_blank_lines(source)
    return header


def _check_blank_lines(source: Path) -> None:
    """Refuse a blank line between the rows of one column.

    It may be a missing value or nothing at all; a wrong guess shifts all later predictions.
    """
    with source.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, skipinitialspace=True, strict=True)
        next((fields for fields in reader if fields), None)  # the header
        blank = None
        for fields in reader:
            if not fields:
                blank = blank or reader.line_num
            elif blank:
                raise DataError(
                    f"{source}, line {blank} is empty: a missing value, or no row at all?",
                    hint='Write "" (two quotes) for a missing value, or delete the line.',
                )


def _lines(source: Path) -> Iterator[tuple[int, list[str]]]:
    with source.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, skipinitialspace=True, strict=True)
        try:
            yield from ((reader.line_num, fields) for fields in reader if fields)
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
    """Raise on two columns of one name, and on columns without commas between them."""
    counts = Counter(header)  # `header.count` for each name is quadratic: minutes for wide tables
    if len(counts) < len(header):
        twice = next(name for name in header if counts[name] > 1)
        raise DataError(f"{source}: two columns are named '{twice}'.", hint="Rename one.")
    for sign, name in FOREIGN_SEPARATORS.items():
        if len(header) == 1 and sign in header[0]:
            raise DataError(
                f"{source}: its columns are parted by {name}.", hint="Save it with commas."
            )


def without_infinities(frame: Any) -> Any:
    """Count infinite numbers as missing."""
    floats = frame.select_dtypes("floating").columns
    infinite = [name for name in floats if np.isinf(frame[name].to_numpy(float)).any()]
    return frame.replace({name: [np.inf, -np.inf] for name in infinite}, np.nan)
