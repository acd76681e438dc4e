"""Tables of other libraries are taken as frames, and things that are no tables are named."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import DataError
from automl_admm.data import python_tables
from automl_admm.data.python_rows import plain_rows
from automl_admm.data.python_tables import as_table
from automl_admm.data.sensitive import as_frame

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 1,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=120), "b": rng.choice(["u", "v"], 120)})
    X["c"] = rng.integers(0, 3, 120)
    X.loc[3, "a"] = np.nan
    X.loc[5, "b"] = None
    return X, np.where(X["a"].fillna(0) + (X["b"] == "u") > 0.5, "yes", "no")


def test_frames_of_other_libraries_give_the_same_predictions(
    table: tuple[pd.DataFrame, np.ndarray],
) -> None:
    X, y = table
    expected = AutoMLClassifier(**QUICK).fit(X, y).predict_proba(X)
    frames = {
        "polars": pl.from_pandas(X),
        "polars categories": pl.from_pandas(X).with_columns(pl.col("b").cast(pl.Categorical)),
        "arrow": pa.Table.from_pandas(X),
        "arrow types": X.convert_dtypes(dtype_backend="pyarrow"),
        "nullable": X.convert_dtypes(),
        "sparse column": X.assign(c=X["c"].astype(pd.SparseDtype("int64", 0))),
    }
    for title, frame in frames.items():
        target = pl.Series(y) if title == "polars" else y
        search = AutoMLClassifier(**QUICK).fit(frame, target)
        assert list(search.feature_names_in_) == ["a", "b", "c"], title
        assert search.n_features_in_ == 3
        for rows in (frame, X):
            assert search.predict_proba(rows) == pytest.approx(expected), title
    mixed = AutoMLClassifier(**QUICK).fit(X, y)
    assert mixed.predict_proba(frames["polars"]) == pytest.approx(expected)
    assert mixed.predict_proba(frames["arrow"]) == pytest.approx(expected)


def test_columns_of_polars_keep_their_kinds() -> None:
    moment = dt.datetime(2020, 6, 1, 12, tzinfo=dt.UTC)
    frame = pl.DataFrame(
        {
            "i": [1, None, 3],
            "t": ["a", None, "c"],
            "b": [True, None, False],
            "d": [dt.date(2020, 1, 2), None, dt.date(2021, 1, 2)],
            "z": [moment, None, moment],
        }
    ).with_columns(pl.col("z").dt.convert_time_zone("Europe/Berlin"))
    found = as_table(frame)
    assert [dtype.kind for dtype in found.dtypes] == ["f", "O", "O", "M", "M"]
    assert found.isna().to_numpy()[1].all()
    assert found["z"][0].hour == 14
    assert found["b"].tolist() == [True, None, False]


def test_a_frame_of_sparse_columns_becomes_dense_unless_it_is_huge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.eye(4, format="csr"))
    assert (as_table(frame).to_numpy() == np.eye(4)).all()
    monkeypatch.setattr(python_tables, "MOST_DENSE_BYTES", 100)
    with pytest.raises(DataError, match=r"the sparse columns of X would take .+ as numbers"):
        as_table(frame)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (None, "X is a NoneType, no table"),
        ("data.csv", "X is a str, no table"),
        (Path("data.csv"), r"X is a PosixPath, no table\. Give a frame of pandas or polars"),
        ({"a": [1, 2]}, r"X is a dict, no table\. .+ pandas.DataFrame\(X\)"),
        ({1, 2}, "X is a set, no table"),
        ((row for row in ([1], [2])), "X is a generator, no table"),
        (pd.Series([1.0, 2.0]), r"X is one column, no table\. Make it a frame: X.to_frame\(\)"),
        (pl.Series([1.0, 2.0]), r"X is one column of polars, no table\. .+ X.to_frame\(\)"),
        (pl.LazyFrame({"a": [1, 2]}), r"X is a LazyFrame of polars\. Give X.collect\(\)"),
        (np.array([(1.0, 2)], dtype=[("a", float), ("b", int)]), "X is an array of records"),
        ([{"a": 1}, {"a": 2}], "X is a list of dicts, no table"),
        ([[1, 2], [3]], r"different lengths: row 0 has 2 values, row 1 \(from 0\) has 1"),
        (
            [[1.5, 2], [3, [4]]],
            r"row 1 \(from 0\) of X: column 1 \(from 0\) holds \[4\], and a cell",
        ),
        ([["a", (3, 4)]] * 2, r"row 0 .+ column 1 \(from 0\) holds \(3, 4\), and a cell has one"),
        (
            [[[1], [2]], [[3], [4]]],
            r"row 0 .+ column 0 \(from 0\) holds \[1\], .+ a column of its own",
        ),
        ([[1, np.arange(2)]] * 2, r"row 0 .+ column 1 \(from 0\) holds array\(\[0, 1\]\)"),
        (
            [[1, 2], None],
            r"row 1 \(from 0\) of X is None, no list of values\. Give a list for each",
        ),
    ],
)
def test_what_is_no_table_is_named_in_one_line(given: Any, says: str) -> None:
    with pytest.raises(DataError, match=says) as told:
        AutoMLClassifier(**QUICK).fit(given, [0, 1])
    assert "\n" not in str(told.value)


def test_rows_to_predict_with_a_list_in_a_cell_are_refused_in_one_line() -> None:
    search = AutoMLClassifier(**QUICK).fit([[place, place % 3] for place in range(40)], [0, 1] * 20)
    with pytest.raises(DataError, match=r"row 1 .+ column 0 \(from 0\) holds \[3, 4\]") as told:
        search.predict([[1, 2], [[3, 4], 5]])
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.dok_array])
def test_sparse_matrices_are_refused_in_one_line(kind: Any) -> None:
    with pytest.raises(TypeError, match=r"dense data is required\. Use '.toarray\(\)'") as told:
        AutoMLClassifier(**QUICK).fit(kind(np.eye(20)), [0, 1] * 10)
    assert "\n" not in str(told.value)


def dictionary(levels: Any) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array([1, 0, 2, None]), pa.array(levels))


LISTS = [["a", "b"], ["a", "c"], None, ["b", "c"]]
OF_ARROW = {
    "numbers": pa.array([1, None, 2, 1]),
    "texts": pa.array(["a", None, "b", "a"]),
    "views": pa.array(["a", None, "b", "a"], pa.string_view()),
    "decimals": pa.array([Decimal("1.5"), None, Decimal(2), Decimal(3)]),
    "days": pa.array([dt.date(2026, 1, 2), None, dt.date(2026, 1, 3), None]),
    "a dictionary of numbers": dictionary([5, 2, 7]),
    "a dictionary with a missing level": dictionary(["u", "v", None]),
    "a dictionary with a level twice": dictionary(["u", "v", "u"]),
    "a dictionary of truths": pa.array([True, None, False, True]).dictionary_encode(),
    "runs": pa.RunEndEncodedArray.from_arrays([3, 4], ["a", "b"]),
    "runs of numbers": pa.RunEndEncodedArray.from_arrays([3, 4], [0.5, 1.5]),
    "lists": pa.array(LISTS),
    "lists of one length": pa.array(LISTS, pa.list_(pa.string(), 2)),
    "views of lists": pa.array(LISTS, pa.list_view(pa.string())),
    "intervals": pa.array([pa.MonthDayNano([1, 2, 3])] * 4),
}


@pytest.mark.parametrize("name", OF_ARROW)
def test_a_column_of_arrow_in_a_frame_of_pandas_is_as_in_a_table_of_arrow(name: str) -> None:
    frame = pd.DataFrame({"k": pd.arrays.ArrowExtensionArray(OF_ARROW[name])}, index=[4, 3, 2, 1])
    expected = plain_rows(pa.table({"k": OF_ARROW[name]}))
    pd.testing.assert_frame_equal(plain_rows(frame), expected.set_index(frame.index))
    pd.testing.assert_frame_equal(as_frame(frame, 4), expected)


def test_polars_lists_of_one_length_are_tags_if_they_are_texts() -> None:
    one = as_table(pl.DataFrame({"k": pl.Series(LISTS, dtype=pl.Array(pl.String, 2))}))["k"]
    other = as_table(pa.table({"k": pa.array(LISTS, pa.list_(pa.string(), 2))}))["k"]
    assert [*map(list, one.dropna())] == [*map(list, other.dropna())]
    assert one.isna().equals(other.isna())


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (pl.Series([{"u": 1, "v": 2}] * 3), r"polars' Struct\. Give X.unnest\('s'\)"),
        (pl.Series(np.ones((3, 2))), r"polars' Array\. Make a column of each value of 's'"),
    ],
)
def test_columns_of_several_values_a_cell_are_refused(cells: Any, said: str) -> None:
    with pytest.raises(DataError, match=f"'s' of X has several values in each cell: {said}"):
        as_table(pl.DataFrame({"s": cells}))
