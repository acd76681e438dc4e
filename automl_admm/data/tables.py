"""Reading a table from a file, and parting it into features and target.

Every mistake that a file can hold is found here, with the line where it stands, before anything
is trained on it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.errors import DataError, suggest

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".parquet")
FOREIGN_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_table(path: str | Path, text: Sequence[str] = ()) -> pd.DataFrame:
    """Read a CSV file with a header line, or a Parquet file.

    The columns named in `text` are read as they are written, even if all of it looks like
    numbers. Missing are: an empty field, pandas' own markers (NA, NaN, null, …) and "?". An
    infinite number counts as missing too, for hardly any model can take one.
    """
    source = Path(path)
    _check_file(source)
    frame = (
        _read_parquet(source) if source.suffix.lower() == ".parquet" else _read_csv(source, text)
    )
    if frame.empty:
        raise DataError(f"{source} holds a header and no rows.")
    cleaned: pd.DataFrame = _without_infinities(frame)
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
            hint="Remove those rows first: dropna(subset=[target]).",
        )
    return frame.drop(columns=[target]), y


def _check_file(source: Path) -> None:
    if source.is_dir():
        raise DataError(f"{source} is a folder.", hint="Name a file in it.")
    if not source.exists():
        names = _tables_beside(source)
        hint = suggest(source.name, names) if names else None
        raise DataError(f"there is no file {source}.", hint=hint)
    if not source.is_file():
        raise DataError(f"{source} is no ordinary file.", hint="Copy it to one first.")
    if source.stat().st_size == 0:
        raise DataError(f"{source} is empty.")


def _tables_beside(source: Path) -> list[str]:
    if not source.parent.is_dir():
        return []
    return [item.name for item in source.parent.iterdir() if item.suffix.lower() in SUFFIXES]


def _read_parquet(source: Path) -> Any:
    import pandas as pd

    try:
        return pd.read_parquet(source)
    except ImportError as problem:
        raise DataError(
            f"{source}: reading Parquet needs pyarrow.", hint="pip install pyarrow"
        ) from problem
    except (OSError, ValueError) as problem:
        raise DataError(f"{source} is no readable Parquet file: {problem}.") from problem


def _read_csv(source: Path, text: Sequence[str]) -> Any:
    import pandas as pd

    _check_lines(source)
    try:
        return pd.read_csv(
            source,
            na_values=["?"],
            skipinitialspace=True,
            encoding="utf-8-sig",
            index_col=False,
            low_memory=False,
            dtype=dict.fromkeys(text, str),
        )
    except (ValueError, OverflowError) as problem:
        raise DataError(f"{source} cannot be read: {problem}.") from problem


def _check_lines(source: Path) -> None:
    """Raise on the first line that does not fit the header: pandas would shift or fill it."""
    header: list[str] = []
    for line, fields in _lines(source):
        if not header:
            header = fields
            _check_header(source, header)
        elif len(fields) != len(header):
            raise DataError(
                f"{source}, line {line}: {len(fields)} fields, but the header has {len(header)}.",
                hint="Look for a missing or a needless comma or quote.",
            )
    if not header:
        raise DataError(f"{source} holds no header.")


def _lines(source: Path) -> Iterator[tuple[int, list[str]]]:
    with source.open(encoding="utf-8-sig", newline="") as text:
        reader = csv.reader(text, skipinitialspace=True, strict=True)
        try:
            yield from ((reader.line_num, fields) for fields in reader if fields)
        except UnicodeDecodeError as problem:
            raise DataError(
                f"{source}, after line {reader.line_num}: this is no UTF-8 text.",
                hint="Save the file as UTF-8.",
            ) from problem
        except csv.Error as problem:
            raise DataError(f"{source}, line {reader.line_num}: {problem}.") from problem


def _check_header(source: Path, header: Sequence[str]) -> None:
    twice = next((name for name in header if header.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{source}: two columns are named '{twice}'.", hint="Rename one.")
    for sign, name in FOREIGN_SEPARATORS.items():
        if len(header) == 1 and sign in header[0]:
            raise DataError(
                f"{source}: its columns are parted by {name}.", hint="Save it with commas."
            )


def _without_infinities(frame: Any) -> Any:
    import numpy as np

    floats = frame.select_dtypes("floating").columns
    infinite = [name for name in floats if np.isinf(frame[name].to_numpy(float)).any()]
    return frame.replace({name: [np.inf, -np.inf] for name in infinite}, np.nan)
