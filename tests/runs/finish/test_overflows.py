"""Rows that a model cannot take are told with the cause: a large number, or a gap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from automl_admm.core.errors import DataError
from automl_admm.runs.finish.model_file import NO_FILLING, TAME, rows_for_the_model

OVERFLOWS = (
    "the pipeline cannot take these rows: a step of it overflows on large numbers, such as "
    "-1e+308 in column 'b'."
)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(np.random.default_rng(0).normal(size=(80, 2)), columns=["a", "b"])


def fitted(frame: pd.DataFrame, *first: Any) -> Any:
    steps = (*first, StandardScaler(), Nystroem(n_components=20), LogisticRegression())
    return make_pipeline(*steps).fit(frame, frame["a"] > 0)


def refusal(model: Any, rows: Any) -> DataError:
    with pytest.raises(DataError) as raised, rows_for_the_model(model, rows):
        model.predict(rows)
    return raised.value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("first", [(), (SimpleImputer(),)], ids=["bare", "filled"])
def test_a_step_that_overflows_is_told_with_the_largest_number(
    frame: pd.DataFrame, first: tuple[Any, ...]
) -> None:
    large = frame.copy()
    large.loc[1, "a"], large.loc[2, "b"] = 1e307, -1e308
    found = refusal(fitted(frame, *first), large)
    assert (found.message, found.hint) == (OVERFLOWS, TAME)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gaps_beside_it_are_the_cause_only_where_no_step_fills_them(frame: pd.DataFrame) -> None:
    both = frame.copy()
    both.loc[1, "a"], both.loc[2, "b"] = np.nan, -1e308
    assert refusal(fitted(frame, SimpleImputer()), both).message == OVERFLOWS
    assert refusal(fitted(frame), both).hint == NO_FILLING


def test_without_gaps_no_filling_is_asked_for(frame: pd.DataFrame) -> None:
    def predict(rows: Any) -> None:
        raise ValueError("Input X contains NaN.")

    model: Callable[[Any], None] = predict
    with pytest.raises(DataError) as raised, rows_for_the_model(None, frame):
        model(frame)
    assert raised.value.hint is None
