"""The parts of `pipeline.py` that read a file: as `predict` reads it, or refused in a line.

The same as in `data`, for the columns of one table and the dialect of its training file.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_count
from automl_admm.data.exact_arrays import exact_records, frame_of_arrow
from automl_admm.data.reading.unpacking import only_member, packing_of

TRUE, FALSE = ("true", "1", "1.0"), ("false", "0", "0.0")
HELD = {"number": "numbers", "boolean": "true or false", "text": "text"}
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?")
ARFF_START = re.compile(r"\s*(?:%[^\n]*\n\s*)*@relation\b", re.IGNORECASE)
UNREADABLE = (
    *(ValueError, ImportError, EOFError, OSError, csv.Error),
    *(zlib.error, lzma.LZMAError, zipfile.BadZipFile, NotImplementedError),
)


def read_table(
    path: Path, columns: dict[str, Any], missing: list[str], manner: dict[str, Any], more: Any
) -> tuple[Any, Any]:
    """Read these columns of a file as in training; return them, and how to name a row's place.

    `manner` is how the training file was written. What counts as missing in text is in `missing`,
    unless it was a value in training. `more` has the functions for what a plain file has not.
    """
    try:
        table, place = read_file(path, columns, missing, manner, more)
    except DataError:
        raise
    except UNREADABLE as problem:
        reason = (str(problem).splitlines() or ["it is damaged"])[0].rstrip(".")
        raise DataError(f"{path} cannot be read: {reason}.") from problem
    if table.empty:
        raise DataError(f"{path} holds no rows.")
    table.columns = table.columns.astype(str)
    made = {}
    for name, known in columns.items():
        if name not in table:
            raise DataError(f"{path}: there is no column '{name}'. {expected(manner)}")
        made[name] = as_trained(table[name].reset_index(drop=True), known, missing, place)
    return pd.DataFrame(made), place


def read_file(
    path: Path, columns: dict[str, Any], missing: list[str], manner: dict[str, Any], more: Any
) -> tuple[Any, Any]:
    """Read a file by its content, cells as they stand there."""
    content = unpacked(path.read_bytes(), str(path))
    if content.startswith(b"PAR1"):
        return parquet_in(content, columns), lambda row: f"{path}, row {row + 1}"
    if content.startswith((b"ARROW1", b"FEA1")):
        return feather_in(content, columns), lambda row: f"{path}, row {row + 1}"
    text = decoded(content, manner)
    if ARFF_START.match(text):
        if "arff" not in more:
            raise DataError(f"{path} is ARFF, and this script does not read it. Save it as CSV.")
        texts = [name for name, known in columns.items() if known["holds"] in ("text", "other")]
        table, place = more["arff"](path, text, texts)
        return table, place
    if re.match(r"\s*\{\s*[\"}]", text):
        lines = [(at, line) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
        records = [record_in(path, at, line) for at, line in lines]
        return exact_records(records), lambda row: f"{path}, line {lines[row][0]}"
    if re.match(r"\s*\[\s*[\[{\"\]]", text):
        return exact_records(json.loads(text)), lambda row: f"{path}, record {row + 1}"
    if "tidy" in more:
        text = more["tidy"](text)
    text = with_newlines(text, manner.get("sep", ","))
    return read_csv(path, text, columns, missing, manner)


def with_newlines(text: str, sep: str) -> str:
    """Return text with newlines for the carriage returns that end rows: pandas misreads some."""
    # A quote opens a cell only at its start: the others are signs such as that of inches.
    quoted = rf'(?<![^\r\n{re.escape(sep)}]) *"[^"]*(?:""[^"]*)*"?'
    return re.sub(rf"{quoted}|\r(?!\n)", lambda one: one[0] if '"' in one[0] else "\n", text)


def parquet_in(content: bytes, columns: Collection[str]) -> Any:
    """Return the table of a Parquet file, with these columns though they may be its index."""
    from pyarrow import parquet

    return frame_of_arrow(parquet.read_table(io.BytesIO(content)), columns)


def feather_in(content: bytes, columns: Collection[str]) -> Any:
    """Return the table of a Feather file, with these columns though they may be its index."""
    from pyarrow import feather

    return frame_of_arrow(feather.read_table(io.BytesIO(content)), columns)


def unpacked(content: bytes, title: str) -> bytes:
    """Return the content of a compressed file, or of a plain one."""
    packing = packing_of(content)
    if packing == "zip":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return archive.read(only_member(archive, title))
    if packing == "zstd":
        raise DataError(
            f"{title} is compressed by zstd, and this script does not read it.",
            hint="Unpack it by 'zstd -d', and name the file that it writes.",
        )
    if packing == "gzip":
        return gzip.decompress(content)
    if packing == "bzip2":
        return unpacked_streams(content, bz2.BZ2Decompressor, b"BZh", 1)
    if packing == "xz":
        start = b"\xfd7zXZ\x00"
        return unpacked_streams(content, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), start, 4)
    return content


def unpacked_streams(content: bytes, begin: Any, start: bytes, padded_to: int) -> bytes:
    """Return the content of all streams; Python's own functions drop what begins like none."""
    parts = []
    while content:
        if not start.startswith(content[: len(start)]):
            raise EOFError("something follows its last stream")
        stream = begin()
        parts.append(stream.decompress(content))
        if not stream.eof:
            raise EOFError("it ends within a stream")
        content = stream.unused_data.lstrip(b"\0")
        if (len(stream.unused_data) - len(content)) % padded_to:
            raise EOFError("its padding is cut off")
    return b"".join(parts)


def decoded(content: bytes, manner: dict[str, Any]) -> str:
    """Return text: UTF-8 if it can be that, else in the encoding of the training file.

    An encoding that the user named for the training file is that of this file, whatever its bytes,
    but for a mark of UTF-8.
    """
    if manner.get("is_given", False):
        content = content.removeprefix(b"\xef\xbb\xbf")
        return content.decode(manner["encoding"]).removeprefix("\ufeff")
    try:
        text = content.decode("utf-8-sig")
        if "\0" not in text and "\x1b" not in text:
            return text
    except UnicodeDecodeError:
        pass
    return content.decode(manner["encoding"]).removeprefix("\ufeff")


def record_in(path: Path, line: int, written: str) -> Any:
    """Return a JSON record; pandas' own reader takes texts such as 007 for numbers."""
    try:
        return dict(json.loads(written))
    except (ValueError, TypeError) as problem:
        raise DataError(f"{path}, line {line}: this is no JSON record.") from problem


def read_csv(
    path: Path, text: str, columns: dict[str, Any], missing: list[str], manner: dict[str, Any]
) -> tuple[Any, Any]:
    """Read text in the dialect of the training file."""
    header, lines = lines_of(path, text, manner)
    names = names_of(path, header, manner)

    def place(row: int) -> str:
        return f"{path}, line {lines[row + 1]}"

    markers = {name: gaps_of(columns[name], missing) for name in columns}
    numbers = [name for name, known in columns.items() if known["holds"] == "number"]
    signs = {name: manner[name] for name in ("sep", "decimal", "thousands") if name in manner}

    def parsed(as_text: list[str], **others: Any) -> Any:
        return pd.read_csv(
            io.StringIO(text),
            dtype=dict.fromkeys(as_text, str),
            na_values=markers,
            keep_default_na=False,
            skipinitialspace=True,
            index_col=False,
            low_memory=False,
            **names,
            **others,
        )

    table = parsed([name for name in columns if name not in numbers], **signs)
    if "thousands" in signs:
        written = parsed(numbers, sep=signs["sep"])
        check_points(path, written[[name for name in numbers if name in written]], place)
    return table, place


def lines_of(path: Path, text: str, manner: dict[str, Any]) -> tuple[list[str], list[int]]:
    """Return the header, and the line of it and of each row; refuse a row of another length."""
    raw = io.StringIO(text, newline="").readlines()
    reader = csv.reader(
        raw,
        delimiter=manner.get("sep", ","),
        skipinitialspace=True,
        strict=True,
    )
    header: list[str] = []
    lines, blank = [], 0
    for fields in reader:
        if len(header) == 1 and not raw[reader.line_num - 1].strip(" \t\r\n"):
            blank = blank or reader.line_num
            continue
        if blank:
            raise DataError(
                f"{path}, line {blank} is empty: a missing value, or no row at all? Write two "
                "quotes for a missing value, or delete the line."
            )
        header = header or fields
        if fields and len(fields) != len(header):
            found = say_count(len(fields), "field")
            raise DataError(
                f"{path}, line {reader.line_num}: {found}, but the header has {len(header)}. "
                f"{expected(manner)}"
            )
        if fields:
            lines.append(reader.line_num)
    return header, lines


def names_of(path: Path, header: list[str], manner: dict[str, Any]) -> dict[str, Any]:
    """Return what pandas has to know of the names, if columns were named alike in training.

    Among the columns of one name, and among those without one, their order counts.
    """
    alike = manner.get("alike", {})
    for name, count in Counter(header).items():
        trained = len(alike.get(name, [name]))
        if count > 1 and trained == 1:
            raise DataError(f"{path}: two columns have one name, {name!r}.")
        if count != trained:
            raise DataError(
                f"{path}: columns named {name!r}: {count}; in training there were {trained}."
            )
    made = {name: iter(names) for name, names in alike.items()}
    named = [next(made[name]) if name in made else name for name in header]
    return {"names": named, "header": 0} if alike else {}


def expected(manner: dict[str, Any]) -> str:
    """Say in which dialect the script reads CSV files."""
    sep, decimal = manner.get("sep", ","), manner.get("decimal", ".")
    return (
        f"CSV is read as the training file was written: separator {sep!r}, decimal {decimal!r}. "
        "Save the file like this, or change CSV in this script if both files are written otherwise."
    )


def check_points(path: Path, written: Any, place: Any) -> None:
    """Refuse points that part no thousands: the training file had decimal commas."""
    cells = written.apply(lambda column: column.str.strip())
    has_commas = any(column.str.contains(",", regex=False).any() for _, column in cells.items())
    for name, column in cells.items():
        has_points = column.str.contains(".", regex=False, na=False)
        is_bad = has_points & ~column.str.fullmatch(GROUPED, na=False)
        refuse_first(column, is_bad, "numbers with decimal commas", place)
        if has_points.any() and not has_commas:
            raise DataError(
                f"{path}: {column[has_points].iloc[0]} in column '{name}' has a decimal point, or "
                "a thousands point? Write a number of the file with a decimal comma."
            )


def gaps_of(known: dict[str, Any], missing: list[str]) -> list[str]:
    """Return the texts that mean a missing value in a column."""
    return [text for text in missing if text not in known.get("texts", ())]


def as_trained(column: Any, known: dict[str, Any], missing: list[str], place: Any) -> Any:
    """Return a column with the values and the type that it had in training."""
    if known["holds"] == "other":
        return column
    values = column
    if not (known["holds"] == "number" and pd.api.types.is_numeric_dtype(column.dtype)):
        cells = column.astype(object).where(column.notna(), np.nan)
        cells = cells.mask(cells.isin(gaps_of(known, missing)), np.nan)
        turn = {"number": number_of, "boolean": truth_of, "text": text_of}[known["holds"]]
        values = cells.map(turn, na_action="ignore")
        refuse_first(column, values.isna() & cells.notna(), HELD[known["holds"]], place)
    if known["holds"] == "number":
        values = pd.to_numeric(values).replace([np.inf, -np.inf], np.nan)
    if "categories" in known:
        new = sorted(set(values.dropna()).difference(known["categories"]))
        levels = pd.Index([*known["categories"], *new]).infer_objects()
        found = pd.Categorical(values, levels, ordered=known.get("is_ordered", False))
        return pd.Series(found, index=column.index)
    return with_type(values, known["dtype"])


def refuse_first(column: Any, is_bad: Any, held: str, place: Any) -> None:
    """Raise on the first of the cells that are bad; the column held `held` in training."""
    bad = np.flatnonzero(is_bad)
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{place(row)}: column '{column.name}' holds {str(column.iloc[row])[:40]!r}, and held "
            f"{held} in training."
        )


def number_of(value: Any) -> float | None:
    """Return a number; None if it is none."""
    try:
        return None if isinstance(value, str) and "_" in value else float(value)
    except (TypeError, ValueError):
        return None


def text_of(value: Any) -> str | None:
    """Return a text; None if it is none."""
    return value if isinstance(value, str) else None


def truth_of(value: Any) -> bool | None:
    """Return the truth value of a cell; None if it is neither true nor false."""
    text = str(value).strip().lower()
    return (text in TRUE) if text in (*TRUE, *FALSE) else None


def with_type(column: Any, dtype: str) -> Any:
    """Return a column with the type of training, unless this loses values."""
    if dtype in ("object", "str", "string"):
        return column.astype(object if dtype == "object" else "str")
    if dtype.startswith("float"):
        with np.errstate(all="ignore"):  # beyond the range of the type
            turned = column.astype(dtype)
        is_beyond = np.isinf(turned)
        return turned.astype(float).mask(is_beyond, column) if is_beyond.any() else turned
    if column.isna().any():
        return column.astype(object if dtype.startswith("bool") else float)
    turned = column.astype(dtype)
    return turned if bool((turned == column).all()) else column
