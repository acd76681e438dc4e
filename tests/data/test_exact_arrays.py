"""No whole number is rounded on its way from numpy, polars, Arrow and lists."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather

from automl_admm.core.errors import DataError
from automl_admm.data.exact_arrays import exact_array, frame_of_arrow, polars_values, without_mask
from automl_admm.data.plain_types import exact_whole, inferred, is_rounded
from automl_admm.data.python_rows import plain_rows, plain_target, schema_of_rows
from automl_admm.data.reading.tables import read_table
from automl_admm.data.row_roles import columns_given
from automl_admm.data.sensitive import as_frame

LARGE = 2**53 + 1
WIDE = 2**63 + 1
CELLS = [LARGE, None, LARGE - 1]
DECIMALS = [Decimal(LARGE), None, Decimal(LARGE - 1)]
IDS = [2**53 + place for place in range(4)]


def whole(column: Any) -> list[int | None]:
    return [None if pd.isna(value) else exact_whole(value) for value in column.tolist()]


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame({"k": CELLS}),
        pl.DataFrame({"k": DECIMALS}),
        pa.table({"k": CELLS}),
        pa.table({"k": pa.array(DECIMALS, type=pa.decimal128(20, 0))}),
        pa.record_batch({"k": pa.array(CELLS)}),
        pd.DataFrame({"k": pd.Series(DECIMALS, dtype=pd.ArrowDtype(pa.decimal128(20, 0)))}),
    ],
)
def test_tables_keep_all_digits_beside_gaps(table):
    assert whole(plain_rows(table)["k"]) == CELLS


@pytest.mark.skipif(not hasattr(pl, "Int128"), reason="an old polars has no wide integers")
def test_wide_integers_of_polars_are_as_wide_as_need_be():
    assert polars_values(pl.Series([7, 8], dtype=pl.Int128)).dtype == np.int64
    assert polars_values(pl.Series([7, None], dtype=pl.Int128)).dtype == float
    assert polars_values(pl.Series([2**100, None], dtype=pl.Int128)).tolist() == [2**100, None]
    assert plain_target(pl.Series(IDS, dtype=pl.Int128)).tolist() == IDS


def test_small_whole_numbers_have_the_types_that_they_had():
    assert plain_rows(pl.DataFrame({"k": pl.Series([1, 2], dtype=pl.Int8)}))["k"].dtype == np.int8
    assert plain_rows(pl.DataFrame({"k": [1, None]}))["k"].dtype == float
    assert frame_of_arrow(pa.table({"k": [1, None]}))["k"].dtype == float


def test_types_of_pandas_and_their_index_come_back_from_arrow():
    frame = pd.DataFrame({"k": pd.array(CELLS, dtype="Int64")}, index=[4, 4, 5])
    back = frame_of_arrow(pa.Table.from_pandas(frame))
    assert back["k"].dtype == "Int64"
    objects = pd.DataFrame({"k": pd.Series(CELLS, dtype=object, index=[4, 4, 5])})
    back = frame_of_arrow(pa.Table.from_pandas(objects))
    assert whole(back["k"]) == CELLS
    assert back.index.tolist() == [4, 4, 5]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([[WIDE, 0.5], [3, 1.5]], [WIDE, 3]),
        ([[WIDE, 1], [-5, 2]], [WIDE, -5]),
        ([[LARGE, 0.5], [LARGE - 1, 1.5]], [LARGE, LARGE - 1]),
        ([[LARGE, 0.5], [None, 1.5]], [LARGE, None]),
        (np.ma.masked_array([[LARGE, 1], [3, 1]], [[False, False], [True, False]]), [LARGE, None]),
        (np.array([[WIDE, 1], [None, 2]], dtype=object), [WIDE, None]),
    ],
)
def test_rows_of_lists_and_objects_keep_all_digits(rows, expected):
    found = plain_rows(rows)
    assert whole(inferred(pd.DataFrame(found)[0])) == expected
    assert schema_of_rows(found).columns[0].holds == "number"


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ([1, 2], np.int64),
        ([1, 0.5], float),
        ([1e300, 0.5], float),
        (np.array([1e300, np.nan]), float),
        ([[LARGE, 0.5]], object),
        (pa.array(CELLS), object),
        (pl.Series(CELLS), object),
        (pa.chunked_array([[1, None]]), float),
    ],
)
def test_objects_stand_only_where_floats_would_round(given, dtype):
    assert exact_array(given).dtype == dtype


@pytest.mark.parametrize(
    ("value", "expected"),
    [(LARGE, True), (2**53, False), (10**400, True), (Decimal(LARGE), True), (1e300, False)],
)
def test_numbers_that_floats_round(value, expected):
    assert is_rounded(value) is expected


@pytest.mark.parametrize(
    "given",
    [
        np.array(IDS, dtype=object),
        [Decimal(one) for one in IDS],
        [WIDE, WIDE + 1, 0.5, 1.5],
        [WIDE, WIDE + 1, -1, -2],
        pd.Series([Decimal(one) for one in IDS]),
        pl.Series([Decimal(one) for one in IDS]),
        pa.array([Decimal(one) for one in IDS]),
    ],
)
def test_roles_and_sensitive_columns_tell_all_rows_apart(given):
    y = np.arange(4)
    order = np.argsort(np.argsort(np.array(list(exact_array(given)), dtype=object)))
    assert columns_given(y, None, None, given).read().times.tolist() == order.tolist()
    assert len(set(columns_given(y, None, given, None).read().clusters.tolist())) == 4
    assert as_frame(given, 4).iloc[:, 0].nunique() == 4
    assert as_frame({"id": given}, 4)["id"].nunique() == 4
    nested = [[one, 0.5] for one in exact_array(given).tolist()]
    assert as_frame(nested, 4).iloc[:, 0].nunique() == 4


def test_an_infinite_time_is_refused_in_objects_too():
    from automl_admm.core.errors import DataError

    with pytest.raises(DataError, match="is infinite in 1 of 2 rows"):
        columns_given([0, 1], None, None, np.array([2**70, np.inf], dtype=object)).read()


def test_targets_of_decimals_are_numbers():
    assert plain_target([Decimal(one) for one in IDS]).tolist() == IDS
    assert plain_target(pl.Series([Decimal("0.5"), Decimal("2.0")])).tolist() == [0.5, 2.0]


@pytest.mark.skipif(not hasattr(pl, "CompatLevel"), reason="an old polars writes no views")
def test_lists_of_views_as_polars_writes_them_are_lists_of_text(tmp_path: Path) -> None:
    frame = pl.DataFrame({"n": [1, 2], "tags": [["a", "b"], ["c"]]})
    table = frame.to_arrow(compat_level=pl.CompatLevel.newest())
    assert "view" in str(table.schema)
    assert [list(cell) for cell in frame_of_arrow(table)["tags"]] == [["a", "b"], ["c"]]
    frame.write_ipc(tmp_path / "list.arrow")
    read = read_table(tmp_path / "list.arrow")
    assert [list(cell) for cell in read["tags"]] == [["a", "b"], ["c"]]


@pytest.mark.parametrize(
    ("beneath", "dtype"),
    [
        ([7, 1], float),
        ([LARGE, LARGE], object),
        ([LARGE, 1], float),
        ([0.5, 1.5], np.float64),
        (["a", "b"], object),
        ([True, False], object),
        (np.array(["2020-01-01", "2020-01-02"], dtype="M8[ns]"), "M8[ns]"),
    ],
)
def test_a_mask_is_a_gap_whatever_is_beneath(beneath, dtype):
    values = np.array(beneath)
    found = exact_array(np.ma.array(values, mask=[True, False]))
    assert found.dtype == dtype
    assert pd.isna(found[0])
    assert found[1] == values[1]
    unmasked = without_mask(np.ma.array(values))
    assert type(unmasked) is np.ndarray
    assert unmasked.dtype == values.dtype


@pytest.mark.parametrize(
    "given",
    [
        ["a", np.nan, "b"],
        ("a", np.float64("nan"), "b"),
        ["a", np.ma.masked, "b"],
        list(np.ma.array(["a", "x", "b"], mask=[0, 1, 0])),
    ],
    ids=["list", "tuple", "constant", "masked"],
)
def test_a_gap_among_texts_is_no_text(given):
    """numpy makes the text "nan" of it, which was a class of its own."""
    found = exact_array(given)
    assert [found[0], found[2]] == ["a", "b"]
    assert pd.isna(found).tolist() == [False, True, False]
    with pytest.raises(DataError, match="the target is missing in 1 of 3 rows"):
        plain_target(given)


def test_texts_without_a_gap_stay_an_array_of_text():
    assert exact_array(["a", "b"]).dtype.kind == "U"


@pytest.mark.parametrize(
    "levels", [["a", None, "c"], ["a", "c", "a"], [1.5, None, float("nan")], [True, False, None]]
)
@pytest.mark.parametrize("pieces", [1, 2])
def test_a_dictionary_of_arrow_may_have_a_level_twice_or_a_missing_one(levels, pieces):
    codes = pa.array([0, 1, 2, None], type=pa.int8())
    one = pa.DictionaryArray.from_arrays(codes, pa.array(levels), ordered=True)
    column = frame_of_arrow(pa.table({"k": pa.chunked_array([one] * pieces)}))["k"]
    told = [None if pd.isna(value) else value for value in [*levels, None] * pieces]
    assert [None if pd.isna(value) else value for value in column] == told
    assert column.cat.ordered


def test_a_sound_dictionary_of_arrow_keeps_its_levels_and_their_order():
    views = pa.array(["z", "a", "unused"], type=pa.string_view())
    one = pa.DictionaryArray.from_arrays(pa.array([1, 0, None]), views)
    assert list(frame_of_arrow(pa.table({"k": one}))["k"].cat.categories) == ["z", "a", "unused"]


def test_a_type_of_arrow_that_pandas_lacks_is_told_in_a_line(tmp_path: Path):
    parts = [pa.array([1.5, 2.5]), pa.array(["a", "b"])]
    table = pa.table({"k": pa.UnionArray.from_sparse(pa.array([0, 1], type=pa.int8()), parts)})
    feather.write_feather(table, tmp_path / "union.feather", compression="uncompressed")
    column = pd.Series(pd.arrays.ArrowExtensionArray(table["k"]))
    for read in (
        lambda: frame_of_arrow(table),
        lambda: read_table(tmp_path / "union.feather"),
        lambda: plain_rows(column.to_frame()),
        lambda: plain_target(column),
    ):
        with pytest.raises(DataError, match=r"unknown to pandas: .+sparse_union.+ Turn it into"):
            read()
