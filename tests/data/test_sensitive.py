from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from automl_admm.core.errors import DataError
from automl_admm.data.sensitive import as_frame, known_columns, set_aside, tell_shared

FRAME = pd.DataFrame({"sex": ["f", "m"], "age": [30, 40], "income": [1.0, 2.0]})


def test_sensitive_columns_are_no_features() -> None:
    features, sensitive = set_aside(FRAME, ["age", "sex", "age"])
    assert list(features.columns) == ["income"]
    assert list(sensitive.columns) == ["age", "sex"]
    assert set_aside(FRAME, [])[0].equals(FRAME)
    with pytest.raises(DataError, match=r"no column 'agee'.*Did you mean 'age'"):
        set_aside(FRAME, ["agee"])
    with pytest.raises(DataError, match="no column is left"):
        set_aside(FRAME, list(FRAME.columns))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (FRAME[["sex", "age"]], ["sex", "age"]),
        (FRAME["sex"].set_axis([7, 8]), ["sex"]),
        (pd.Series(["f", "m"]), ["sensitive"]),
        (["f", "m"], ["sensitive"]),
        (np.array([["f", "x"], ["m", "y"]]), ["sensitive_0", "sensitive_1"]),
        ({"sex": ["f", "m"]}, ["sex"]),
        (pl.DataFrame({"sex": ["f", "m"], "age": [3, 4]}), ["sex", "age"]),
        (pl.Series("sex", ["f", "m"]), ["sex"]),
        (pa.table({"sex": ["f", "m"]}), ["sex"]),
    ],
)
def test_what_python_users_give(given: Any, names: list[str]) -> None:
    frame = as_frame(given, 2)
    assert list(frame.columns) == names
    assert list(frame[names[0]]) == ["f", "m"]
    assert list(frame.index) == [0, 1]


def test_what_fits_no_rows_is_refused() -> None:
    with pytest.raises(DataError, match="has 2 rows, and X has 3"):
        as_frame(["f", "m"], 3)
    with pytest.raises(DataError, match="two columns of sensitive_features are named 'sex'"):
        as_frame(FRAME[["sex", "sex"]], 2)
    with pytest.raises(DataError, match="is no table"):
        as_frame(np.zeros((2, 2, 2)), 2)


def test_limits_see_sensitive_columns_and_those_of_x_that_they_name() -> None:
    X = FRAME.set_axis([5, 6])
    known = known_columns(pd.DataFrame({"sex": ["a", "b"]}, index=[2, 3]), X, ["sex", "age"])
    assert list(known["sex"]) == ["a", "b"]
    assert list(known["age"]) == [30, 40]
    assert "income" not in known
    assert known_columns(None, np.zeros((3, 2)), []).shape == (3, 0)
    with pytest.raises(DataError, match=r"'agee'.*Did you mean 'age'"):
        known_columns(None, X, ["agee"])


def test_a_column_of_the_same_name_and_other_values_is_told() -> None:
    X = pd.DataFrame({"sex": ["f", None, "m"], "age": [20, 30, 40]})
    alike = as_frame({"sex": ["f", None, "m"], "age": [20.0, 30.0, 40.0], "town": list("abc")}, 3)
    others = as_frame({"sex": ["f", "f", "m"], "age": ["young", "old", "old"]}, 3)
    (told,) = tell_shared(others, X)
    assert told.startswith("sensitive_features has 'sex' and 'age' with other values than X")
    (told,) = tell_shared(alike, X)
    assert told.startswith("sensitive_features has 'sex' and 'age', as X has: pipelines learn from")
    assert not [*tell_shared(alike, X.to_numpy()), *tell_shared(None, X)]
