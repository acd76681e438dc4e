"""Rows whose score moves the wrong way when a column is raised, as the model answers itself."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.builtin.constraints.monotone import constraints
from automl_admm.core.evidence import Evidence, Rate
from automl_admm.core.unknown_values import why_unknown
from automl_admm.pipelines.predictions.wrappers import Numbered

RECORDS = {record.name: record for record in constraints()}
AGES = pd.DataFrame({"age": [18, 40, 100, 60], "sex": ["f", "m", "m", "f"]})


class Hill:
    """A model with the largest score at an age of 50; it takes the rows as they were learned."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X: Any) -> Any:
        assert list(X.columns) == ["age", "sex"]
        assert set(X["sex"]) <= {"f", "m"}
        up = 1 / (1 + np.abs(X["age"].to_numpy(dtype=float) - 50))
        return np.column_stack([1 - up, up])


class Plain:
    """A regression: the score is the prediction, here of one value."""

    def __init__(self, predict: Any) -> None:
        self.predict = predict


def measured(name: str, number: float, model: Any, X: Any) -> Evidence:
    record = RECORDS[name].numbered(number)
    found: Evidence = record.changing(SimpleNamespace(pipeline=model, X=X), "age")
    return found


@pytest.mark.parametrize("kind", ["int64", "uint8", "int8", "float32", "Int64"])
def test_a_row_counts_whose_score_moves_the_wrong_way(kind: str) -> None:
    rows = AGES.astype({"age": kind})
    before = rows.copy(deep=True)
    # 18 and 40 rise by 10; 100, which an int8 could not be raised from by 30, falls.
    assert measured("rising_breaks", 10, Hill(), rows) == Rate(
        2, 4, "rows with a number in the column"
    )
    assert measured("rising_breaks", 200, Hill(), rows).value == 1.0
    assert measured("falling_breaks", 10, Hill(), rows).value == 0.5
    pd.testing.assert_frame_equal(rows, before)


def test_the_positive_class_gives_the_direction() -> None:
    turned = Numbered(Hill(), np.array(["yes", "no"]))
    assert measured("rising_breaks", 5, Hill(), AGES[:2]).value == 0.0
    assert measured("rising_breaks", 5, turned, AGES[:2]).value == 1.0


def test_rows_without_a_number_do_not_count() -> None:
    rows = AGES.assign(age=[18.0, math.nan, math.inf, 60.0])
    found = measured("rising_breaks", 1, Hill(), rows)
    assert (found.events, found.trials) == (1, 2)  # type: ignore[attr-defined]
    none = measured("rising_breaks", 1, Hill(), rows.assign(age=math.nan))
    assert why_unknown(none) == "has no rows with a number in the column"


def test_rounding_is_no_move_and_a_small_quantity_is_one() -> None:
    noise = Plain(lambda X: 1e6 + (X["sex"] == "f") + 4e-10 * (X["age"].to_numpy() < 60))
    assert measured("rising_breaks", 50, noise, AGES).value == 0.0
    tiny = Plain(lambda X: -1e-12 * X["age"].to_numpy())
    assert measured("rising_breaks", 1, tiny, AGES).value == 1.0
    assert measured("falling_breaks", 1, tiny, AGES).value == 0.0


def test_the_last_digit_of_a_score_in_single_precision_is_no_move() -> None:
    def predict(X: Any) -> Any:
        last = 3e-7 * (X["age"] < 60).to_numpy()
        return (1 + (X["sex"] == "f").to_numpy() + last).astype(np.float32)

    assert predict(AGES)[1] > 1.0
    assert measured("rising_breaks", 50, Plain(predict), AGES).value == 0.0


def test_scores_far_from_0_break_by_what_they_differ_in() -> None:
    times = Plain(lambda X: 1.75e12 - 10 * X["age"].to_numpy(dtype=float))
    assert measured("rising_breaks", 1, times, AGES).value == 1.0
    assert measured("falling_breaks", 1, times, AGES).value == 0.0


def test_nothing_is_told_where_rounding_may_hide_a_break() -> None:
    times = Plain(lambda X: 1.75e17 - 10 * X["age"].to_numpy(dtype=float))
    assert "too large beside their spread" in why_unknown(measured("rising_breaks", 5, times, AGES))
    assert measured("falling_breaks", 5, times, AGES).value == 0.0
    same = Plain(lambda X: np.full(len(X), 1.75e17))
    assert measured("rising_breaks", 5, same, AGES).value == 0.0


def test_several_classes_have_no_one_score() -> None:
    several = SimpleNamespace(predict_proba=lambda X: np.full((len(X), 3), 1 / 3))
    assert "several classes" in why_unknown(measured("rising_breaks", 1, several, AGES))
    labels = SimpleNamespace(predict=lambda X: np.zeros(len(X)), classes_=np.arange(3))
    assert "several classes" in why_unknown(measured("rising_breaks", 1, labels, AGES))


def test_a_column_is_raised_by_something() -> None:
    with pytest.raises(ValueError, match="by a number above 0"):
        RECORDS["falling_breaks"].numbered(0.0)
