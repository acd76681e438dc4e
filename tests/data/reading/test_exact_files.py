"""Files of all formats keep the digits of whole numbers beside gaps, whoever wrote them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from automl_admm.data.reading import parquet_rows
from automl_admm.data.reading.chunks import read_chunks
from automl_admm.data.reading.file_options import NO_OPTIONS
from automl_admm.data.reading.tables import read_table, split_target
from automl_admm.data.table_schema import Column, Schema

LARGE = 2**53 + 1
WIDE = 2**63 + 1
Cells = Sequence[Any]


def as_csv(path: Path, cells: Cells) -> None:
    rows = [f"{'' if cell is None else cell},{at}\n" for at, cell in enumerate(cells)]
    path.write_text("k,x\n" + "".join(rows))


def as_lines(path: Path, cells: Cells) -> None:
    path.write_text("".join(json.dumps({"k": cell, "x": 1}) + "\n" for cell in cells))


def as_array(path: Path, cells: Cells) -> None:
    path.write_text(json.dumps([{"k": cell, "x": 1} for cell in cells]))


def as_arff(path: Path, cells: Cells) -> None:
    rows = [f"{'?' if cell is None else cell},1\n" for cell in cells]
    head = "@relation t\n@attribute k numeric\n@attribute x numeric\n@data\n"
    path.write_text(head + "".join(rows))


def as_parquet(path: Path, cells: Cells) -> None:
    kind = pa.uint64() if WIDE in cells else pa.int64()
    parquet.write_table(pa.table({"k": pa.array(cells, type=kind)}), path)


def as_feather(path: Path, cells: Cells) -> None:
    kind = pa.uint64() if WIDE in cells else pa.int64()
    feather.write_feather(pa.table({"k": pa.array(cells, type=kind)}), str(path))


def by_polars(path: Path, cells: Cells) -> None:
    kind = pl.UInt64 if WIDE in cells else pl.Int64
    pl.DataFrame({"k": pl.Series(cells, dtype=kind)}).write_parquet(path)


WAYS = {
    "t.csv": as_csv,
    "t.jsonl": as_lines,
    "t.json": as_array,
    "t.arff": as_arff,
    "t.parquet": as_parquet,
    "t.feather": as_feather,
    "polars.parquet": by_polars,
}


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("cells", [(LARGE, None, LARGE - 1), (WIDE, None, 3)])
def test_large_whole_numbers_beside_gaps_are_as_written(tmp_path, name, cells):
    WAYS[name](tmp_path / name, cells)
    found = read_table(tmp_path / name, keep_codes=True)["k"].tolist()
    assert [None if pd.isna(one) else one for one in found] == list(cells)
    assert isinstance(found[0], int)


@pytest.mark.parametrize("name", WAYS)
def test_other_columns_have_the_types_that_they_had(tmp_path, name):
    for cells, dtype in (((1, None, 3), float), ((WIDE, 4, 5), "uint64"), ((1, 2, 3), "int64")):
        WAYS[name](tmp_path / name, cells)
        assert read_table(tmp_path / name, keep_codes=True)["k"].dtype == dtype


def test_large_numbers_beside_fractions_stay_to_be_told(tmp_path):
    as_lines(tmp_path / "t.jsonl", (LARGE, 0.5, None))
    assert read_table(tmp_path / "t.jsonl")["k"].tolist()[:2] == [LARGE, 0.5]


def test_parquet_is_exact_in_rows_in_time_and_column_by_column(tmp_path, monkeypatch):
    as_parquet(tmp_path / "t.parquet", (LARGE, None, LARGE - 1))
    for tall in (1, 100):
        monkeypatch.setattr(parquet_rows, "TALL", tall)
        frame, _, _ = parquet_rows.rows_in_time(tmp_path / "t.parquet", lambda: False)
        assert frame["k"].tolist()[::2] == [LARGE, LARGE - 1]


def test_columns_to_keep_have_all_digits_in_each_chunk(tmp_path):
    as_parquet(tmp_path / "t.parquet", (LARGE, None))
    schema = Schema((Column("k", "number", "float64"),))
    (chunk,) = read_chunks(tmp_path / "t.parquet", schema, ["k"], NO_OPTIONS)
    assert chunk.kept["k"].tolist()[0] == LARGE


@pytest.mark.parametrize("dtype", ["int64", "uint64", "object"])
@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_later_gap_keeps_the_digits_and_is_no_value(tmp_path, name, dtype):
    WAYS[name](tmp_path / name, (WIDE, None, 3))
    schema = Schema((Column("k", "number", dtype),))
    found = read_table(tmp_path / name, schema=schema)["k"]
    assert found.isna().tolist() == [False, True, False]
    assert found.tolist()[::2] == [WIDE, 3]


@pytest.mark.parametrize("marker", ["", "NA"])
def test_codes_with_zeros_before_them_stay_texts_and_their_gaps_are_gaps(tmp_path, marker):
    as_csv(tmp_path / "t.csv", (WIDE, marker, "007"))
    found = read_table(tmp_path / "t.csv", keep_codes=True)["k"]
    assert found.isna().tolist() == [False, True, False]
    assert found.tolist()[::2] == [str(WIDE), "007"]


def test_a_target_of_decimals_is_of_numbers():
    frame = pd.DataFrame({"x": [1, 2], "y": [Decimal(LARGE), Decimal(LARGE - 1)]})
    assert split_target(frame, "y")[1].tolist() == [LARGE, LARGE - 1]
    assert split_target(frame, "y")[1].dtype == "int64"
