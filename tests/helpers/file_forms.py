"""A table written in every form that can be read."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd


def write_arff(frame: Any, path: Path) -> None:
    """Write a table as ARFF: numbers, and all else as nominal values."""
    lines = ["% a comment", "@relation table", ""]
    for name, column in frame.items():
        kind = "numeric"
        if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
            levels = sorted({str(value) for value in column.dropna()})
            kind = "{" + ",".join(map(_quoted, levels)) + "}"
        lines.append(f"@attribute {_quoted(str(name))} {kind}")
    lines += ["", "@data"]
    for row in frame.astype(object).itertuples(index=False):
        lines.append(",".join("?" if pd.isna(cell) else _cell(cell) for cell in row))
    path.write_text("\n".join(lines) + "\n")


def _cell(cell: object) -> str:
    return _quoted(cell) if isinstance(cell, str) else str(cell)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return f"'{escaped}'"


def _records(frame: Any) -> list[str]:
    """Return JSON records; pandas would cut the last digits of numbers."""
    plain = frame.astype(object).where(frame.notna(), None)
    return [json.dumps(record) for record in plain.to_dict("records")]


def _text(frame: Any, **how: Any) -> str:
    return str(frame.to_csv(index=False, **how))


def _zipped(frame: Any, path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", _text(frame))


def _packed_parquet(frame: Any, path: Path) -> None:
    file = io.BytesIO()
    frame.to_parquet(file, index=False)
    path.write_bytes(gzip.compress(file.getvalue()))


# By the names of the files that they write.
FORMS: Mapping[str, Callable[[Any, Path], object]] = {
    "plain.csv": lambda frame, path: path.write_text(_text(frame)),
    "german.csv": lambda frame, path: path.write_text(_text(frame, sep=";", decimal=",")),
    "tabs.tsv": lambda frame, path: path.write_text(_text(frame, sep="\t")),
    "bars.txt": lambda frame, path: path.write_text(_text(frame, sep="|")),
    "latin.csv": lambda frame, path: path.write_bytes(_text(frame).encode("latin-1")),
    "utf16.csv": lambda frame, path: path.write_bytes(_text(frame, sep="\t").encode("utf-16")),
    "packed.csv.gz": lambda frame, path: path.write_bytes(gzip.compress(_text(frame).encode())),
    "packed.zip": _zipped,
    "table.parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "table.parquet.gz": _packed_parquet,
    "table.feather": lambda frame, path: frame.to_feather(path),
    "table.arff": write_arff,
    "lines.jsonl": lambda frame, path: path.write_text("\n".join(_records(frame))),
    "array.json": lambda frame, path: path.write_text(f"[{','.join(_records(frame))}]"),
}


def write_all(frame: Any, folder: Path) -> list[Path]:
    """Write a table in every form; return the files."""
    paths = [folder / name for name in FORMS]
    for path in paths:
        FORMS[path.name](frame, path)
    return paths
