"""Weights, groups and times of rows: read, checked, taken."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.row_roles import (
    NO_COLUMNS,
    NO_ROLES,
    RoleColumns,
    columns_given,
    counted_rows,
    take_columns,
)

TARGET = np.arange(4)
ZONED = dt.datetime(2026, 1, 2, 10, tzinfo=dt.UTC)


def roles_of(**columns):
    given = {"weight": None, "group": None, "time": None} | columns
    return columns_given(TARGET, given["weight"], given["group"], given["time"]).read()


def test_weights_have_a_mean_of_one_whatever_their_unit():
    small, large = roles_of(weight=[1, 2, 3, 4]), roles_of(weight=[1e300, 2e300, 3e300, 4e300])
    assert small.weights.mean() == pytest.approx(1.0)
    np.testing.assert_allclose(small.weights, large.weights)


def test_equal_weights_are_no_weights_but_are_known_to_be_there():
    roles = roles_of(weight=[0.1, 0.1, 0.1, 0.1])
    assert roles.weights is None
    assert roles.hashes is not None


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ([1, -1, 1, 1], "is negative in 1 of 4 rows, first in row 1"),
        ([1, 1, np.nan, 1], "is missing in 1 of 4 rows, first in row 2"),
        ([np.inf, 1, 1, np.inf], "is infinite in 2 of 4 rows, first in row 0"),
        ([0, 0, 0, 0], "all weights in 'sample_weight' are zero"),
        ([1e300, 1e300, 0, 1e-300], "is 0 beside the mean weight in 1 of 4 rows, first in row 3"),
        (["a", "b", "c", "d"], "is no number but 'a' in 4 of 4 rows, first in row 0"),
        (["1", "2", "x", "4"], "is no number but 'x' in 1 of 4 rows, first in row 2"),
        ([True, True, False, True], "are no numbers"),
        ([1, 2, 3], "sample_weight has 3 rows, and y has 4"),
        (np.ones((4, 1)), "has the shape"),
        (2.0, "has the shape"),
    ],
)
def test_weights_that_make_no_sense_are_refused_in_a_line(weights, said):
    with pytest.raises(DataError, match=said):
        roles_of(weight=weights)


def test_rows_with_a_weight_of_zero_are_left_out():
    columns = columns_given(TARGET, [1, 0, 2, 0], None, None)
    frame = pd.DataFrame({"a": [10, 11, 12, 13]}, index=[7, 8, 9, 10])
    X, y, sensitive, kept = counted_rows(frame, TARGET, frame[["a"]], columns)
    assert list(X["a"]) == [10, 12]
    assert list(y) == [0, 2]
    assert len(sensitive) == 2
    np.testing.assert_allclose(kept.read().weights, [2 / 3, 4 / 3])


def test_without_a_role_nothing_is_known():
    assert NO_COLUMNS.read() is NO_ROLES
    assert NO_ROLES.part([0, 1]) is NO_ROLES


def test_groups_are_numbered_and_moments_ordered():
    assert list(roles_of(group=["b", "a", "b", "c"]).clusters) == [1, 0, 1, 2]
    assert list(
        roles_of(time=["2026-02-01", "2025-12-31", "2026-02-01T00:00:01", "2026-02-01"]).times
    ) == [1, 0, 2, 1]
    assert list(roles_of(time=[3.5, -1, 3.5, 9]).times) == [1, 0, 1, 2]
    assert list(roles_of(time=pd.to_datetime(["2026", "2024", "2025", "2026"])).times) == [
        2,
        0,
        1,
        2,
    ]


def test_whole_numbers_beyond_floating_point_keep_their_order():
    first = 2**62
    assert list(roles_of(time=[first + 1, first, first + 2, first]).times) == [1, 0, 2, 0]


def masked_floats(values):
    """Return floats of pandas in which NaN is no NA, as after 0 / 0 in pandas 2."""
    return pd.Series(pd.arrays.FloatingArray(np.array(values), np.zeros(len(values), dtype=bool)))


def arrow_floats(values):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.array(values, from_pandas=False)))


@pytest.mark.parametrize("role", ["weight", "group", "time"])
@pytest.mark.parametrize("made", [masked_floats, arrow_floats])
def test_nan_is_missing_in_all_kinds_of_floats(made, role):
    with pytest.raises(DataError, match="is missing in 2 of 4 rows, first in row 1"):
        roles_of(**{role: made([1.0, np.nan, np.nan, 3.0])})
    found = roles_of(**{role: made([1.0, 2.0, 1.0, 3.0])})
    plain = roles_of(**{role: [1.0, 2.0, 1.0, 3.0]})
    for one in ("weights", "clusters", "times", "hashes"):
        np.testing.assert_array_equal(getattr(found, one), getattr(plain, one))


@pytest.mark.parametrize("made", [masked_floats, arrow_floats])
def test_nan_is_missing_among_categories_of_numbers(made):
    with pytest.raises(DataError, match="is missing in 2 of 4 rows, first in row 1"):
        roles_of(group=made([1.0, np.nan, np.nan, 3.0]).astype("category"))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"group": ["a", None, "b", "a"]}, "the group in 'groups' is missing in 1 of 4"),
        ({"time": [1, 2, np.nan, 3]}, "the time in 'time' is missing in 1 of 4"),
        ({"time": [1, 2, np.inf, 3]}, "is infinite in 1 of 4"),
        # In January or in February?
        (
            {"time": ["2026-01-02", "01/02/2026", "2026-01-03", "2026-01-04"]},
            "'01/02/2026' in row 1",
        ),
        (
            {"time": ["2026-01-02T10:00", "2026-01-02T10:00Z", "2026-01-03 10:00", "2026-01-04"]},
            "'2026-01-02T10:00Z' in row 1 .from 0., with a zone, and others are without",
        ),
        (
            {"time": [ZONED, ZONED, ZONED.replace(tzinfo=None), ZONED]},
            "in row 2 .from 0., without a zone",
        ),
        (
            {"time": [dt.date(2026, 1, 1), ZONED, dt.date(2026, 1, 2), dt.date(2026, 1, 3)]},
            "in row 1 .from 0., with a zone, and others are without",
        ),
        (
            {"time": ["2026-01-02T10+01:00", "2026-01-02T10Z", "2026-01-03", "2026-01-04T1:00Z"]},
            "in row",
        ),
        ({"time": ["4", "3", "01/02/2026", "1"]}, "'01/02/2026' in row 2"),
        ({"time": [True, False, True, True]}, "holds bool"),
        ({"group": ["a"] * 4, "time": [1, 2, 3, 4]}, "cannot both decide"),
    ],
)
def test_groups_and_times_that_make_no_sense_are_refused_in_a_line(columns, said):
    with pytest.raises(DataError, match=said):
        roles_of(**columns)


def test_columns_of_a_table_are_taken_out_of_it():
    frame = pd.DataFrame({"x": [1, 2], "w": [1.0, 3.0], "site": ["a", "b"]})
    rest, columns = take_columns(frame, {"weight": "w", "group": "site", "time": None})
    assert list(rest) == ["x"]
    assert columns.names() == {"weight": "w", "group": "site"}
    assert list(columns.frame()) == ["w", "site"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ({"weight": "wieght"}, "there is no column 'wieght' to be the weight"),
        ({"weight": "w", "group": "w"}, "column 'w' cannot be the weight and the group"),
        ({"weight": "w", "group": "x"}, "no column is left to predict from"),
    ],
)
def test_columns_that_cannot_have_a_role_are_named(names, said):
    frame = pd.DataFrame({"x": [1, 2], "w": [1.0, 3.0]})
    with pytest.raises(DataError, match=said):
        take_columns(frame, names)


def test_a_changed_weight_changes_the_hash_of_its_row_alone():
    before, after = roles_of(weight=[1, 2, 3, 4]).hashes, roles_of(weight=[1, 2, 3, 5]).hashes
    assert list(before == after) == [True, True, True, False]


def test_a_part_of_the_roles_has_the_roles_of_its_rows():
    part = roles_of(weight=[1, 2, 3, 4], group=["a", "b", "a", "b"]).part(np.array([3, 0]))
    np.testing.assert_allclose(part.weights, [1.6, 0.4])
    assert list(part.clusters) == [1, 0]
    assert part.times is None


def test_columns_take_a_part_of_their_rows():
    columns = RoleColumns(weight=pd.Series([1.0, 2.0, 3.0], name="w"))
    assert list(columns.part([2, 0]).weight) == [3.0, 1.0]


@pytest.mark.parametrize(
    ("names", "cells", "said"),
    [
        (
            {"weight": "w"},
            {"w": [1.0, -1.0]},
            r"is negative in 1 of 2 rows, first in f.csv, line 3",
        ),
        ({"weight": "w"}, {"w": [1.0, np.nan]}, "is missing in .* first in f.csv, line 3"),
        ({"group": "g"}, {"g": ["a", None]}, "first in f.csv, line 3"),
        ({"group": "g"}, {"g": [1.0, np.inf]}, "group in 'g' is infinite .* f.csv, line 3"),
        ({"time": "t"}, {"t": ["2026-01-01", "soon"]}, "'soon' in f.csv, line 3"),
    ],
)
def test_a_row_of_a_file_is_told_by_its_line(names, cells, said):
    frame = pd.DataFrame({"a": [1, 2], **cells})
    _, columns = take_columns(frame, names, "y", lambda row: f"f.csv, line {row + 2}")
    with pytest.raises(DataError, match=said):
        columns.read()
    kept = columns.part([1])
    with pytest.raises(DataError, match="row 0"):  # its rows have other numbers than the file
        kept.read()


def test_the_target_as_a_weight_is_told():
    with pytest.raises(DataError, match="'y' is the column to predict, and cannot be the weight"):
        take_columns(pd.DataFrame({"a": [1]}), {"weight": "y"}, "y")


@pytest.mark.parametrize("role", ["weight", "group", "time"])
@pytest.mark.parametrize("kind", ["float16", "float32"])
def test_beside_a_number_beyond_its_type_the_others_have_the_hash_of_training(role, kind):
    column = pd.Series([0.1, 7.3, 2.5, 1000.3], dtype=kind, name="more")
    trained = RoleColumns(**{role: column}).read()
    wide = pd.Series([*column.astype(float), 1e40], name="more")
    later = RoleColumns(**{role: wide}).read(narrow={role: kind})
    np.testing.assert_array_equal(later.placed[:4], trained.placed)
    np.testing.assert_array_equal(later.canonical[:4], trained.canonical)
