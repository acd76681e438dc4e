"""Write rows piece by piece as CSV, Parquet or JSON lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, BinaryIO

from automl_admm.core.errors import DataError
from automl_admm.data.reading.formats import CSV, PARQUET_SUFFIXES

JSON_SUFFIXES = (".jsonl", ".ndjson")
Write = Callable[[Any], None]


@contextmanager
def open_writer(stream: BinaryIO, suffix: str) -> Iterator[Write]:
    """Return a function that adds the rows of a frame to a stream; the suffix is the format."""
    with WRITERS[suffix](stream) as write:
        yield write


@contextmanager
def _csv(stream: BinaryIO) -> Iterator[Write]:
    count = 0

    def write(frame: Any) -> None:
        nonlocal count
        stream.write(frame.to_csv(index=False, header=count == 0).encode())
        count += 1

    yield write


@contextmanager
def _json_lines(stream: BinaryIO) -> Iterator[Write]:
    def write(frame: Any) -> None:
        for row in frame.to_dict("records"):
            plain = {str(name): _plain(value) for name, value in row.items()}
            line = json.dumps(plain, ensure_ascii=False, allow_nan=False, default=str)
            stream.write(f"{line}\n".encode())

    yield write


def _plain(value: Any) -> Any:
    """Return a number that JSON does not know as null."""
    import pandas as pd

    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else value


@contextmanager
def _parquet(stream: BinaryIO) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer: Any = None

    def write(frame: Any) -> None:
        nonlocal writer
        try:
            if writer is None:
                table = pa.Table.from_pandas(frame, preserve_index=False)
                writer = pq.ParquetWriter(stream, _without_nulls(table.schema))
            writer.write_table(pa.Table.from_pandas(frame, writer.schema, preserve_index=False))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as problem:
            raise DataError(
                f"a column cannot be written as Parquet: {problem}", hint="Name a .csv file."
            ) from problem

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _without_nulls(schema: Any) -> Any:
    """Return a schema that takes texts later where the first rows have nothing."""
    import pyarrow as pa

    for place, field in enumerate(schema):
        if pa.types.is_null(field.type):
            schema = schema.set(place, field.with_type(pa.string()))
    return schema


WRITERS: Mapping[str, Any] = MappingProxyType(
    {
        CSV: _csv,
        **dict.fromkeys(PARQUET_SUFFIXES, _parquet),
        **dict.fromkeys(JSON_SUFFIXES, _json_lines),
    }
)
