"""Read a table from a file, and divide it into features and target.

Mistakes in a file are found here, with their line, before anything is trained on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.core.errors import DataError, DiskFullError, suggest
from automl_admm.data.columns import figures_of
from automl_admm.data.conforming import Place, conform, refuse_rows, row_of
from automl_admm.data.python_rows import plain_target
from automl_admm.data.reading.csv_rows import line_of, read_csv_rows
from automl_admm.data.reading.dialects import COMMAS, Dialect, find_dialect
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.formats import CSV, format_of, without_rows
from automl_admm.data.reading.pieces import Piece
from automl_admm.data.reading.plain_files import PlainFile, plain_file
from automl_admm.data.reading.streams import is_stream
from automl_admm.data.reading.typed_tables import place_of, read_typed, unique_names_of
from automl_admm.data.table_schema import Schema, content_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Manner:
    """The manner in which a file is read: see `read_table`."""

    schema: Schema | None = None
    keep_codes: bool = False
    rows: Sequence[Piece] | None = None
    options: FileOptions = NO_OPTIONS

    @property
    def asked(self) -> FileOptions:
        """The options, with the columns of training."""
        if self.schema is None or self.options.known is not None:
            return self.options
        return replace(self.options, known=frozenset(self.schema.by_name()))


def read_table(
    path: str | Path,
    schema: Schema | None = None,
    *,
    keep_codes: bool = False,
    options: FileOptions = NO_OPTIONS,
) -> pd.DataFrame:
    """Read a CSV file with a header line, or a Parquet file; either may be compressed.

    With a `schema` its columns get the types of training, or an error names the misfitting cell.
    Missing values are: an empty field, pandas' own markers (NA, NaN, null, …) and "?", unless they
    were values in training. An infinite number counts as missing, too: hardly any model accepts
    one. `options` stand for what would be found in the file.
    """
    manner = Manner(schema, keep_codes, None, options)
    with plain_file(Path(path), options) as plain:
        table: pd.DataFrame = read_plain(plain, manner)
        return table


def read_plain(plain: PlainFile, manner: Manner) -> Any:
    """Read a table from a plain file, as `read_table` does from its source."""
    form = format_of(plain.path)
    if form == CSV:
        return read_csv_table(plain, find_dialect(plain.path, manner.asked), manner)
    frame = read_typed(plain.path, form, manner.schema, manner.rows, manner.asked.asked)
    names = names_found(plain.path, form, manner.asked)
    tell_found(manner.options, plain, names, index_left_out(frame, manner.asked))
    return finished(frame, plain.path, manner, place_of(plain.path, form))


def read_csv_table(plain: PlainFile, dialect: Dialect, manner: Manner) -> Any:
    """Read a table from a plain CSV file of this dialect."""
    source = plain.path
    frame, dialect = read_csv_rows(source, dialect, manner.schema, keep_codes=manner.keep_codes)
    tell_found(manner.options, plain, dialect)
    return finished(frame, source, manner, partial(line_of, source, dialect))


def finished(frame: Any, source: Path, manner: Manner, place: Place) -> Any:
    """Return a frame as in training."""
    if frame.empty:
        raise without_rows(source, format_of(source))
    if manner.schema is not None:
        frame = conform(frame, manner.schema, place)
    return without_infinities(frame, manner.options.exact)


def names_found(path: Path, form: str, options: FileOptions) -> Dialect:
    """Return the names of columns that stand twice; raise if nobody can tell which is meant."""
    unique = unique_names_of(path, form)
    if unique is None:
        return COMMAS
    unique.check(str(path), options.sole, options.known)
    return replace(COMMAS, unique=unique)


def index_left_out(frame: Any, options: FileOptions) -> Iterator[str]:
    """Tell the names of an index of pandas in a table to learn from: nobody asked for them."""
    for name in frame.index.names if options.known is None else ():
        if name is not None:
            yield f"index '{name}' (no column, unless an option names it)"


def tell_found(
    options: FileOptions, plain: PlainFile, dialect: Dialect = COMMAS, more: Iterable[str] = ()
) -> None:
    """Tell what was found in a file if it is not plain."""
    found = (*plain.found, *dialect.tell(), *more)
    if found:
        options.tell(f"{plain.name}: {', '.join(found)}")


def place_in(path: str | Path, options: FileOptions = NO_OPTIONS) -> Place:
    """Return a function that names the place of a row in a file, from its number in the table.

    Stdin and addresses are not read again for that.
    """
    if is_stream(Path(path)):
        return row_read
    return partial(_found_again, Path(path), options)


def row_read(number: int) -> str:
    """Name the place of a row of a table that is not read again."""
    return f"row {number + 1} of those read"


def _found_again(source: Path, options: FileOptions, number: int) -> str:
    """Name the place of a row; the file is read again, but only to report a mistake."""
    try:
        with plain_file(source, options) as plain:
            return place_in_plain(plain, options)(number).replace(str(plain.path), str(source))
    except (OSError, DataError, DiskFullError, StopIteration):  # a pipe, for example, is read once
        return f"{source}, {row_of(number)}"


def place_in_plain(plain: PlainFile, options: FileOptions) -> Place:
    """Return what names the places of the rows of a plain file."""
    form = format_of(plain.path)
    if form != CSV:
        return place_of(plain.path, form)
    return partial(line_of, plain.path, find_dialect(plain.path, options))


def split_target(
    frame: pd.DataFrame, target: str, place: Place = row_of
) -> tuple[pd.DataFrame, pd.Series]:
    """Part a table into its features and the column to predict; `place` names a row's place."""
    import pandas as pd

    names = list(frame.columns)
    if target not in names:
        raise DataError(f"there is no column '{target}' to predict.", hint=suggest(target, names))
    if names.count(target) > 1:
        raise DataError(f"the column to predict, '{target}', stands twice.", hint="Rename one.")
    if len(names) == 1:
        raise DataError(f"the table has no column but the target '{target}'.")
    y = frame[target]
    refuse_rows(y.isna(), f"the target '{target}' is missing", place)
    if y.dtype.kind == "f":
        refuse_rows(np.isinf(y), f"the target '{target}' is infinite", place)
    if y.dtype == object and content_of(y) == "number":  # decimals, for example
        y = pd.Series(plain_target(y), index=y.index, name=y.name)
    return frame.drop(columns=[target]), y


def without_infinities(frame: Any, exact: Collection[str] = ()) -> Any:
    """Count infinite numbers as missing, but not in the columns `exact`."""
    floats = [name for name in frame.select_dtypes("floating").columns if name not in exact]
    infinite = [name for name in floats if np.isinf(figures_of(frame[name])).any()]
    return frame.replace({name: [np.inf, -np.inf] for name in infinite}, np.nan)
