"""Parquet files in a time that is given: rows of all row groups, and the same again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from automl_admm.data.reading import parquet_rows, timed_reading
from automl_admm.data.reading.parquet_rows import rows_again, rows_in_time
from automl_admm.data.reading.shares import read_share, share_of_pieces
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_again, read_in_time

ROWS = 20_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds of columns, some with gaps in one row group alone; sorted by class."""
    row = np.arange(ROWS)
    frame = pd.DataFrame({"row": row, "real": row / 7, "truth": row % 2 == 0})
    frame["gap"] = frame["row"].astype("Int64").mask(row > 19_000)
    frame["doubt"] = frame["truth"].astype("boolean").mask(row < 100)
    frame["text"] = np.where(row % 3 == 0, "a", "b")
    frame["town"] = pd.Categorical(np.where(row < 9000, "Ulm", "Bonn"))
    frame["y"] = np.where(row < ROWS // 2, "no", "yes")
    frame[7] = 1.0
    frame.columns = frame.columns.astype(str)
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    frame.sample(frac=1.0, random_state=0).sort_values("y").to_parquet(path, row_group_size=2500)
    return path


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "BATCH", 300)
    monkeypatch.setattr(timed_reading, "SHORT_BYTES", 0)


def test_all_batches_together_are_the_table_as_it_is_read_whole(large: Path) -> None:
    frame, share = read_in_time(large, 1e6)
    assert share is None
    pd.testing.assert_frame_equal(frame, read_table(large))


@pytest.mark.parametrize(("together", "groups"), [(64, 8), (64, 20), (1, 20), (64, 1)])
@pytest.mark.parametrize("looks", [0, 20])
def test_where_the_time_ends_rows_from_all_over_a_sorted_file_are_there(
    large: Path, together: int, groups: int, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_rows, "MOST_TOGETHER", together)
    path = large.with_name(f"{groups}.parquet")
    pd.read_parquet(large).to_parquet(path, row_group_size=-(-ROWS // groups))
    clock = iter([False] * looks)
    frame, rows, pieces = rows_in_time(path, lambda: next(clock, True))
    assert rows == ROWS
    assert len(frame) < ROWS
    assert 0.35 < (frame["y"] == "yes").mean() < 0.65
    share = share_of_pieces(path.stat().st_size, pieces, rows)
    assert share is not None
    assert share.part == len(frame) / ROWS
    assert share.reach > 0.8
    assert read_share(str(share)) == share
    again = read_again(path, None, share)
    assert list(again["row"]) == list(frame["row"])
    whole = read_table(path)
    assert list(whole[whole["row"].isin(frame["row"])]["row"]) == list(again["row"])


def test_of_a_file_too_large_to_be_seen_the_beginning_is_read(
    large: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_rows, "MOST_CELLS", 0)
    path = large.with_name("one.parquet")
    pd.read_parquet(large).to_parquet(path)
    frame, rows, pieces = rows_in_time(path, lambda: True)
    share = share_of_pieces(path.stat().st_size, pieces, rows)
    assert share is not None
    assert share.reach == share.part == len(frame) / ROWS < 0.5


ODD_TABLES = {
    "plain": lambda numbers: pd.DataFrame({"a": numbers, "b": numbers.astype("float32")}),
    "gaps": lambda numbers: pd.DataFrame({"a": np.where(numbers % 3 == 0, np.nan, numbers)}),
    "texts": lambda numbers: pd.DataFrame({"a": [f"t{n % 7}" for n in numbers], "b": numbers}),
    "categories": lambda numbers: pd.DataFrame(
        {"a": pd.Categorical([f"t{n % 7}" for n in numbers], ordered=True)}
    ),
    "times": lambda numbers: pd.DataFrame({"a": pd.to_datetime(numbers, unit="h", utc=True)}),
    "lists": lambda numbers: pd.DataFrame({"a": [[int(n), 1] for n in numbers], "b": numbers}),
    "records": lambda numbers: pd.DataFrame({"a": [{"b": int(n)} for n in numbers], "c": numbers}),
    "dots": lambda numbers: pd.DataFrame({"a.b": numbers, "a": -numbers}),
    "index": lambda numbers: pd.DataFrame({"a": numbers}, index=pd.Index(numbers * 2, name="row")),
}


@pytest.mark.parametrize("make", ODD_TABLES.values(), ids=ODD_TABLES)
@pytest.mark.parametrize("is_late", [False, True])
def test_columns_one_by_one_are_the_batches_side_by_side(
    make: Callable[[Any], pd.DataFrame],
    is_late: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "odd.parquet"
    make(np.arange(2000)).to_parquet(path, row_group_size=900)
    frame, rows, pieces = rows_in_time(path, lambda: is_late)
    monkeypatch.setattr(parquet_rows, "TALL", 0)
    again, rows_seen, pieces_again = rows_in_time(path, lambda: is_late)
    pd.testing.assert_frame_equal(frame, again)
    size = path.stat().st_size
    shares = [share_of_pieces(size, one, rows) for one in (pieces, pieces_again)]
    assert shares[0] == shares[1]
    assert (shares[0] is not None) is is_late
    assert rows == rows_seen == 2000
    assert 0 < len(again) < 2000 or not is_late


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("tall", [0, 10_000])
@pytest.mark.parametrize("is_range", [False, True])
def test_an_index_that_is_asked_for_is_a_column_of_all_batches(
    is_range: bool, is_late: bool, tall: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, row = tmp_path / "indexed.parquet", np.arange(2000)
    frame = pd.DataFrame({"id": row * 7, "x": row / 3})
    index = pd.RangeIndex(0, 14_000, 7) if is_range else pd.Index(list(row * 7)).repeat(1)
    frame[["x"]].set_index(index.rename("id")).to_parquet(path, row_group_size=900)
    monkeypatch.setattr(parquet_rows, "TALL", tall)
    found, _, pieces = rows_in_time(path, lambda: is_late, ("id",))
    assert (found["id"] == (found["x"] * 21).round()).all()
    assert found["id"].tolist() == rows_again(path, pieces, ("id",))["id"].tolist()
    batches = [batch["id"] for batch in parquet_rows.row_batches(path, 300, {"id"})]
    assert pd.concat(batches).tolist() == frame["id"].tolist()


def test_two_columns_of_one_name_are_never_read_by_it(tmp_path: Path) -> None:
    path = tmp_path / "twice.parquet"
    columns = [pa.array(range(200_000)), pa.array([1.5] * 200_000)]
    pq.write_table(pa.Table.from_arrays(columns, names=["a", "a"]), path)
    frame, _, _ = rows_in_time(path, lambda: False)
    assert frame.iloc[7].tolist() == [7, 1.5]


def test_a_tall_file_needs_no_batches(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_rows, "TALL", 0)
    monkeypatch.setattr(parquet_rows, "_batches", None)
    frame, share = read_in_time(large, 1e6)
    assert share is None
    pd.testing.assert_frame_equal(frame, read_table(large))
