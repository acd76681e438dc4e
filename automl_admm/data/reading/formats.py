"""Detect the file format of a table, and name unsupported ones."""

from __future__ import annotations

import re
from pathlib import Path

from automl_admm.core.errors import DataError, suggest

CSV, PARQUET, FEATHER = ".csv", ".parquet", ".feather"
ARFF, JSON_LINES, JSON_ARRAY = ".arff", ".jsonl", ".json"
PARQUET_SUFFIXES = (PARQUET, ".pq")
# Names that tables have, to be suggested for a misspelt one.
SUFFIXES = frozenset(
    {
        *(CSV, *PARQUET_SUFFIXES, FEATHER, ARFF, JSON_LINES, JSON_ARRAY, ".arrow", ".ndjson"),
        *(".tsv", ".txt", ".gz", ".bz2", ".xz", ".zip", ".zst"),
    }
)
# Names of files that predictions are not written to.
OTHER_SUFFIXES = frozenset(
    {
        *(".arff", ".arrow", ".avro", ".bz2", ".db", ".feather", ".gz", ".h5", ".hdf5", ".html"),
        *(".json", ".jsonl", ".ods", ".orc", ".pickle", ".pkl", ".sqlite", ".tsv", ".xls"),
        *(".xlsx", ".xml", ".xz", ".zip", ".zst"),
    }
)
READABLE = "CSV, Parquet, Feather, ARFF and JSON lines can be read, also compressed"
# How files begin that are no table of ours.
SIGNATURES = (
    (b"\xd0\xcf\x11\xe0", "is an old Excel sheet", "Save it as CSV."),
    (b"ORC", "is an ORC file", "Save it as Parquet: DataFrame.to_parquet."),
    (b"Obj\x01", "is an Avro file", "Save it as Parquet: DataFrame.to_parquet."),
    (b"\x89HDF", "is an HDF5 file", "Save it as Parquet: DataFrame.to_parquet."),
    (b"SQLite format 3", "is an SQLite database", "Save the table as CSV."),
    (b"\x80\x04\x95", "is a pickle", "Save it as Parquet: DataFrame.to_parquet."),
    (b"\x80\x05\x95", "is a pickle", "Save it as Parquet: DataFrame.to_parquet."),
)
# Text, which a CSV file is as well: these are no headers.
STRANGE_TEXT = (
    (re.compile(rb"%PDF-\d"), "is a PDF document"),
    (re.compile(rb"\s*<(!doctype|\?xml|html|table)\b", re.IGNORECASE), "is a page of HTML or XML"),
)
# Text with a row a line, by its beginning; no CSV file has a header like that.
LINE_FORMS = (
    (re.compile(rb"\s*(?:%[^\n]*\n\s*)*@relation\b", re.IGNORECASE), ARFF),
    (re.compile(rb"\s*\{\s*[\"}]"), JSON_LINES),
    (re.compile(rb"\s*\[\s*[\[{\"\]]"), JSON_ARRAY),
)
MARK = b"\xef\xbb\xbf"
LOOKED_AT = 4096  # bytes: enough for the comments before an ARFF header


def without_rows(source: Path, form: str) -> DataError:
    """Return the error of a table without rows; a binary file has no header line."""
    named = "a header" if form in (CSV, ARFF) else "columns"
    return DataError(f"{source} holds {named} and no rows.")


def format_of(source: Path) -> str:
    """Return the format of a plain file by its content, as a suffix; raise for other formats."""
    if (form := binary_form(source)) is not None:
        return form
    start = _start_of(source).removeprefix(MARK)
    for pattern, form in LINE_FORMS:
        if pattern.match(start):
            return form
    for pattern, is_what in STRANGE_TEXT:
        if pattern.match(start):
            raise DataError(f"{source} {is_what}. {READABLE}.", hint="Save the table as CSV.")
    return CSV


def binary_form(source: Path) -> str | None:
    """Return the format of a file that is no text; raise for binary files of other formats."""
    start = _start_of(source)
    # By its content first: files are renamed, and a wrong parser's message helps nobody.
    is_parquet = start.startswith(b"PAR1") and _holds_zeros(start)
    if is_parquet or source.suffix.lower() in PARQUET_SUFFIXES:
        return PARQUET
    if start.startswith((b"ARROW1", b"FEA1")) and _holds_zeros(start):
        return FEATHER
    for signature, is_what, hint in SIGNATURES:
        if start.startswith(signature) and (not signature.isalnum() or _holds_zeros(start)):
            raise DataError(f"{source} {is_what}. {READABLE}.", hint=hint)
    return None


def is_text(source: Path) -> bool:
    """Return True if a file begins as text does, whatever its name says."""
    start = _start_of(source)
    return not start.startswith(b"PAR1") and not _holds_zeros(start)


def _start_of(source: Path) -> bytes:
    try:
        with source.open("rb") as file:
            return file.read(LOOKED_AT)
    except OSError as problem:
        raise DataError(f"{source} cannot be read: {problem.strerror}.") from problem


def _holds_zeros(start: bytes) -> bool:
    """Return True for a binary file; a header such as `ORCHARD,…` begins like one by chance."""
    return b"\x00" in start


def check_file(source: Path) -> None:
    """Raise unless it is a file with content."""
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
