"""Rows are known again whichever type a column has in another file, and other rows are others."""

from __future__ import annotations

import datetime as dt
import itertools
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.canonical_rows import hash_canonically

MOMENT = dt.datetime(2020, 1, 1, 5, tzinfo=dt.timezone(dt.timedelta(hours=2)))


def hashes(values: object, dtype: object = None) -> list[int]:
    column = values if isinstance(values, pd.Series) else pd.Series(values, dtype=dtype)
    return list(map(int, hash_canonically([("", column)], len(column))[0]))


def placed(**columns: list[object]) -> list[int]:
    rows = len(next(iter(columns.values())))
    return list(map(int, hash_canonically(columns.items(), rows)[1]))


ALIKE = {
    "truths": (
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series([True, False, None], dtype=object),
        pd.Series(["True", " false", ""], dtype=object),
        pd.Series([1, 0, None], dtype="Int64"),
    ),
    "numbers": (
        pd.Series([1.5, 2.0, np.nan]),
        pd.Series([Decimal("1.50"), 2, None], dtype=object),
        pd.Series([1.5, 2, None], dtype="category"),
        pd.Series([" 1.5", "2", "NA"], dtype="string"),
        pd.Series([1.5, 2.0, None], dtype="double[pyarrow]"),
    ),
    "narrow numbers": (
        pd.Series([0.1, 7], dtype="float32"),
        pd.Series([np.float32(0.1), 7], dtype=object),
        pd.Series([0.1, 7.0]),
    ),
    "days": (
        pd.Series(pd.to_datetime(["2020-01-01", None])),
        pd.Series([dt.date(2020, 1, 1), None], dtype=object),
        pd.Series(["2020-01-01", None], dtype=object),
        pd.Series(["2020-01-01 00:00:00", None], dtype="category"),
    ),
    "moments": (
        pd.Series([MOMENT], dtype=object),
        pd.Series(pd.to_datetime([MOMENT]).tz_convert("Asia/Tokyo")),
        pd.Series(["2020-01-01T03:00:00Z"]),
        pd.Series([dt.datetime(2020, 1, 1, 3)], dtype="timestamp[us][pyarrow]"),
    ),
    "texts": (
        pd.Series([" State-gov", "007"], dtype=object),
        pd.Series(["State-gov ", "007"], dtype="string[pyarrow]"),
    ),
    "lists": (pd.Series([[1], None]), pd.Series(["[1]", None], dtype=object)),
}


@pytest.mark.parametrize("kind", ALIKE)
def test_the_type_of_a_column_makes_no_difference(kind: str) -> None:
    first, *others = map(hashes, ALIKE[kind])
    assert len(set(first)) == len(first)
    assert all(other == first for other in others)


def test_one_cell_of_another_kind_changes_no_other() -> None:
    assert hashes([True, False, "maybe"], object)[:2] == hashes([True, False])
    assert hashes([17, 18, "A1"], object)[:2] == hashes(["17", "18"]) == hashes([17, 18])


def test_other_values_are_other_rows() -> None:
    values = [
        *(None, 0, 1, 7, "007", "1e999", -1.5, "a", "A", "2020", "2020-13-01", "yes", 10**400),
        *(dt.date(1970, 1, 1), dt.date(2020, 1, 1), dt.date(9999, 12, 31), 10**400 + 1, "1,5"),
    ]
    assert len(set(hashes(values, object))) == len(values)
    assert hashes(values, object)[0] == 0


def test_a_row_with_the_same_cells_in_other_columns_is_another() -> None:
    rows = np.array(list(itertools.product([0, 1], repeat=8)))
    columns = {f"q{place}": [*column] for place, column in enumerate(rows.T)}
    assert len(set(placed(**columns))) == len(rows)
    assert len({int(one) for one in hash_canonically(columns.items(), len(rows))[0]}) == 9
    assert placed(**dict(reversed(columns.items()))) == placed(**columns)
    assert placed(a=[None, "x"], b=["x", None]) == [*placed(b=["x"]), *placed(a=["x"])]


def test_later_versions_find_the_cells_of_this_one_in_their_columns() -> None:
    assert placed(**{"a": [1, None], "ä \ud800": ["Ulm", "x"]}) == [
        13085096789061788640,
        7403761803847688212,
    ]


def test_later_versions_find_the_rows_of_this_one() -> None:
    found = hashes([None, 0, 1.5, "Ulm", "2020-01-01"], object)
    assert found == [
        0,
        16294208416658607535,
        12087477522846441424,
        15104836984183694147,
        10756728622283490386,
    ]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([dt.date(2024, 1, 1), None], dtype="date32[pyarrow]"),
        pd.Series(pd.arrays.SparseArray([0.0, 1.0])),
        pd.Series([dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=5))), None]),
        pd.Series(["\ud800", "b"], dtype=object),
    ],
    ids=["days of Arrow", "sparse", "after the last year", "half of a character"],
)
def test_every_column_has_a_hash(column):
    first, second = hash_canonically([("", column)], 2)[0]
    assert first != second


@pytest.mark.parametrize("kind", ["f4", "f2"])
def test_narrow_numbers_have_the_hash_of_their_text(kind):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=3000) * 10.0 ** rng.integers(-4, 4, 3000)
    narrow = np.array([*wide, 0.1, 3.0, -0.0, np.inf, np.nan, 5e-5]).astype(kind)
    written = pd.Series(narrow.astype(str)).replace("nan", None).astype(float)
    assert hashes(pd.Series(narrow)) == hashes(written)


@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_beside_a_number_beyond_its_type_the_others_have_the_hash_of_training(kind: str) -> None:
    narrow = pd.Series([0.1, -7.3, np.nan, 1000.3], dtype=kind)
    later = pd.Series([*narrow.astype(float), 1e40])
    trained, known = hash_canonically([("a", narrow)], 4), {"a": kind}
    for before, now in zip(trained, hash_canonically([("a", later)], 5, known), strict=True):
        assert [*now[:4]] == [*before]
    assert [*hash_canonically([("a", later)], 5)[0][:4]] != [*trained[0]]
    # Numbers that were wide in training are known as they are, of whatever digits.
    assert [*hash_canonically([("a", later)], 5, known)[0]][4] == hashes([1e40], float)[0]


def written(column: pd.Series) -> list[int]:
    return list(map(int, hash_canonically([("a", column)], len(column))[2]))


@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("read_as", ["float32", "float64", object])
def test_a_number_that_a_reader_widened_has_the_digits_of_its_narrow_type(
    kind: str, read_as: Any
) -> None:
    tenths = [0.1, -7.3, np.nan, 12.7]
    narrow = pd.Series(tenths, dtype=kind).astype("float32")
    known = written(pd.Series(tenths))
    assert written(narrow.astype(float).astype(read_as)) == known
    assert written(pd.Series([*narrow.astype(float), 1e40]))[:4] == known


def test_digits_hang_on_no_other_row_of_the_file() -> None:
    quarters = pd.Series(np.arange(0, 1000, 0.25))
    part = quarters[quarters < 512]
    assert written(quarters)[: len(part)] == written(part)
    tenths = pd.Series(np.arange(2560, 5120) / 10)
    halves = {*written(pd.Series(np.arange(512, 1024) / 2))}
    assert {*written(tenths)} & {*written(quarters)} <= halves


def test_numbers_of_no_narrow_type_and_whole_ones_stay_as_they_are() -> None:
    wide = pd.Series([0.1 + 2**-30, 1 / 3, 2.0**27 + 16, 200.25, 0.0, -(2.0**60), 1e300])
    assert [written(wide)] == [list(map(int, hash_canonically([("a", wide)], 7)[1]))]
