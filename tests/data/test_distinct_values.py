"""The distinct values of a column are found whatever it holds, and are in place."""

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.distinct_values import find_distinct

HUGE = 10**400


@pytest.mark.parametrize(
    ("column", "codes", "distinct"),
    [
        (pd.Series([HUGE, HUGE + 1, HUGE], dtype=object), [0, 1, 0], [HUGE, HUGE + 1]),
        (pd.Series([HUGE, None, np.nan, 2], dtype=object), [0, -1, -1, 1], [HUGE, 2]),
        (pd.Series(["b", "a", None]).astype("category"), [0, 1, -1], ["b", "a"]),
        (pd.Series([2.5, np.nan, 2.5]), [0, -1, 0], [2.5]),
        (pd.Series([True, None], dtype="boolean"), [0, -1], [True]),
    ],
)
def test_each_cell_has_the_place_of_its_value(column, codes, distinct):
    found, values = find_distinct(column)
    assert found.tolist() == codes
    assert list(values) == distinct


def test_values_are_sorted_if_asked():
    codes, values = find_distinct(pd.Series(["b", "a"]), sort=True)
    assert codes.tolist() == [1, 0]
    assert list(values) == ["a", "b"]


def test_lists_are_left_to_the_caller():
    with pytest.raises(TypeError, match="unhashable"):
        find_distinct(pd.Series([[1], [2]]))
