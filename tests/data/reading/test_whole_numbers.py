"""Whole numbers beside gaps are read as written where floats would run them together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.reading import chunks
from automl_admm.data.reading.dialects import find_dialect
from automl_admm.data.reading.file_options import NO_OPTIONS
from automl_admm.data.reading.pieces import cut, evenly
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_pieces
from automl_admm.data.table_schema import schema_of

LARGE = 2**53 + 1


def written(tmp_path: Path, *cells: object) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("x;k\n" + "".join(f"{place};{cell}\n" for place, cell in enumerate(cells)))
    return path


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ((LARGE, "", LARGE - 1), [LARGE, np.nan, LARGE - 1]),
        ((LARGE, "NA", f" {-LARGE} "), [LARGE, np.nan, -LARGE]),
        ((LARGE, 3), [LARGE, 3]),
        ((LARGE, "", "1e18"), [float(LARGE), np.nan, 1e18]),
        ((LARGE, "", 0.5), [float(LARGE), np.nan, 0.5]),
        ((2**53 - 1, "", 5), [float(2**53 - 1), np.nan, 5.0]),
        (("", "", ""), [np.nan] * 3),
    ],
)
def test_whole_numbers_are_as_written(tmp_path, cells, expected):
    found = read_table(written(tmp_path, *cells), keep_codes=True)["k"]
    assert list(map(repr, found.tolist())) == list(map(repr, expected))


def test_with_decimal_commas_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"x;k\n1,5;{LARGE}\n2,25;\n")
    found = read_table(path, keep_codes=True)
    assert found["k"].tolist()[0] == LARGE
    assert found["x"].tolist() == [1.5, 2.25]


def test_pieces_are_read_as_the_whole(tmp_path):
    cells = ["" if row % 9 == 4 else str(LARGE + row) for row in range(30_000)]
    path = written(tmp_path, *cells)
    header, *rest = cut(path, lambda: False)
    dialect = find_dialect(path, NO_OPTIONS)
    frame, _, _ = read_pieces(path, header, evenly(tuple(rest)), lambda: False, dialect)
    whole = read_table(path, keep_codes=True)
    assert frame["k"].tolist()[3] == LARGE + 3
    pd.testing.assert_frame_equal(frame, whole)


@pytest.mark.parametrize("rows", [2, 100])
def test_a_table_read_by_its_schema_is_as_written(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(chunks, "rows_at_a_time", lambda columns: rows)
    path = written(tmp_path, 1, 2, LARGE, "", LARGE - 1, 5, "", LARGE)
    whole = read_table(path, keep_codes=True)
    found = read_table(path, schema=schema_of(whole))
    assert list(map(repr, found["k"])) == list(map(repr, whole["k"]))
    parts = list(chunks.read_chunks(path, schema_of(whole), (), NO_OPTIONS))
    cells = [cell for part in parts for cell in part.frame["k"].dropna()]
    assert cells == [1, 2, LARGE, LARGE - 1, 5, LARGE]
