"""Rows whose score moves if a column is blank or its numbers are noisy, as the model answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.builtin.constraints.robustness import Noise, constraints
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evidence import Evidence, Rate
from automl_admm.core.unknown_values import why_unknown
from automl_admm.data.spreads import spreads_of
from automl_admm.plugins.configured import configure
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

RECORDS = {record.name: record for record in constraints()}
ROWS = pd.DataFrame(
    {
        "age": pd.array([20, 40, 60, 80], dtype="int8"),
        "town": pd.Categorical(["a", "b", None, "a"]),
        "day_year": [2020.0, np.nan, 2022.0, 2023.0],
        "day_month": [1.0, np.nan, 3.0, 4.0],
        "flag": [True, False, True, True],
    }
)
ORIGINS = {"day_year": "day", "day_month": "day"}


class Model:
    """The score is 0.5 without anything; an age and a town of 'a' add to it."""

    classes_ = np.array(["no", "yes"])

    def predict_proba(self, X: Any) -> Any:
        assert list(X.columns) == list(ROWS.columns)
        age = X["age"].to_numpy(dtype=float, na_value=np.nan)
        up = 0.5 + np.where(np.isnan(age), 0.0, age / 1000)
        up += np.where((X["town"] == "a").to_numpy(), 0.2, 0.0)
        up += np.where(X["day_month"].notna().to_numpy(), 0.05, 0.0)
        return np.column_stack([1 - up, up])


def seen(
    model: Any = None, X: Any = ROWS, origins: Any = ORIGINS, **known: Any
) -> EvaluatedPipeline:
    y = np.zeros(len(X))
    given = model or Model(), X, y, y, 0.0, 0.0
    return EvaluatedPipeline(*given, origins=origins, **known)


def blank(least: float, evaluated: EvaluatedPipeline) -> Evidence:
    function: Any = RECORDS["blank_moves"].numbered(least).function
    return function(evaluated)  # type: ignore[no-any-return]


def test_the_worst_column_of_the_user_counts() -> None:
    before = ROWS.copy(deep=True)
    found: Any = blank(0.045, seen())
    assert found.parts == {
        "column 'age'": Rate(2, 4, "rows with a value in column 'age'"),
        "column 'town'": Rate(2, 3, "rows with a value in column 'town'"),
        "column 'day'": Rate(3, 3, "rows with a value in column 'day'"),
        "column 'flag'": Rate(0, 4, "rows with a value in column 'flag'"),
    }
    assert found.value == 1.0
    assert blank(0.1, seen()).value == pytest.approx(2 / 3)
    assert blank(0.2, seen()).value == 0.0  # a move of just so much is none
    pd.testing.assert_frame_equal(ROWS, before)


def test_arrays_several_classes_quantities_and_labels_have_moves_too() -> None:
    X = np.array([[1.0, 5.0], [np.nan, 6.0], [3.0, 7.0]])

    class Three:
        def predict_proba(self, X: Any) -> Any:
            assert isinstance(X, np.ndarray)
            lost = np.isnan(X[:, 1])
            return np.where(lost[:, None], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4])

    class Quantity:
        def predict(self, X: Any) -> Any:
            return np.nan_to_num(X[:, 0]) * 10.0

    class Labels(Quantity):
        classes_ = np.array([0, 1])

        def predict(self, X: Any) -> Any:
            return (np.nan_to_num(X[:, 0]) > 2).astype(int)

    assert blank(0.35, seen(Three(), X)).value == 1.0
    assert blank(0.45, seen(Three(), X)).value == 0.0
    assert blank(20, seen(Quantity(), X)).value == 0.5
    assert blank(0.5, seen(Labels(), X)).value == 0.5


class Far:
    """A quantity far from 0 to which the second column adds nothing, and the first its value."""

    def __init__(self, kind: str, zero: float) -> None:
        self.kind, self.zero = kind, zero

    def predict(self, X: Any) -> Any:
        return (self.zero + np.nan_to_num(X[:, 0])).astype(self.kind)


@pytest.mark.parametrize(("kind", "zero"), [("float64", 2e10), ("float32", 5e5)])
def test_scores_far_from_0_move_by_what_they_move(kind: str, zero: float) -> None:
    X = np.array([[5.5, 1.0], [-7.0, 1.0], [0.0, 1.0]])
    assert blank(5, seen(Far(kind, zero), X)).value == pytest.approx(2 / 3)
    assert blank(6, seen(Far(kind, zero), X)).value == pytest.approx(1 / 3)


@pytest.mark.parametrize(("kind", "zero"), [("float64", 2e16), ("float32", 1e8)])
def test_nothing_is_told_where_rounding_is_more_than_the_number(kind: str, zero: float) -> None:
    X = np.array([[16.0, 1.0], [-16.0, 1.0], [0.0, 1.0]])
    told = why_unknown(blank(5, seen(Far(kind, zero), X)))
    assert f"up to {zero:.3g}, are too large beside 5" in told
    assert "their spread" in why_unknown(blank(0, seen(Far(kind, zero), X)))
    assert blank(20, seen(Far(kind, zero), X)).value == 0.0


def test_nothing_to_blank_is_told() -> None:
    empty = ROWS[["age"]].astype(float) * np.nan
    assert "no column that has a value" in why_unknown(blank(0.1, seen(X=empty)))


def test_an_empty_cell_that_is_read_as_a_value_is_blank() -> None:
    """Of a mark it is False, of numbers with words between them a missing one and no word."""
    X = pd.DataFrame({"mark": [True, False, False], "temp": [1.5, np.nan, np.nan]})
    X["temp.broken"] = [0.0, 1.0, 0.0]

    class Watching:
        def predict(self, X: Any) -> Any:
            assert X["mark"].dtype == bool
            assert X["temp.broken"].isin([0.0, 1.0]).all()
            return X["mark"] * 2.0 + X["temp.broken"]

    blanks = {"mark": False, "temp.broken": 0.0}
    found: Any = blank(0.5, seen(Watching(), X, {"temp.broken": "temp"}, blanks=blanks))
    assert found.parts == {
        "column 'mark'": Rate(1, 1, "rows with a value in column 'mark'"),
        "column 'temp'": Rate(1, 2, "rows with a value in column 'temp'"),
    }


def test_the_rows_of_a_proof_have_no_say_in_its_columns() -> None:
    some = ROWS.assign(age=np.nan)
    assert "column 'age'" not in parts_of(blank(0.1, seen(X=some)))
    found = blank(0.1, seen(X=some, filled=("age", "day")))
    assert set(parts_of(found)) == {"column 'age'", "column 'day'"}
    assert why_unknown(found) == "has no rows with a value in column 'age'"


def parts_of(evidence: Any) -> dict[str, Rate]:
    return dict(evidence.parts)


def noisy(model: Any, X: Any, spreads: Any = None, **options: float) -> Rate:
    record = configure(RECORDS["noise_moves"], options)
    function: Any = record.function
    return function(  # type: ignore[no-any-return]
        seen(model, X, spreads=spreads_of(X) if spreads is None else spreads)
    )


class Sum:
    """A quantity: the sum of the numbers, which are moved, and nothing else is."""

    def predict(self, X: Any) -> Any:
        assert X["flag"].dtype == bool
        assert X["town"].tolist()[0] == "a"
        return X["age"].to_numpy(dtype=float, na_value=np.nan)


@pytest.mark.parametrize("zero", [0.0, 2000.0])
def test_each_number_moves_by_a_part_of_the_spread_wherever_its_zero_is(zero: float) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": np.round(rng.normal(size=400) * 100) + zero, "town": "a"})
    X["flag"] = True
    spreads, given = spreads_of(X), list[float]()
    assert spreads == {"age": pytest.approx(X["age"].std(ddof=0))}

    class Watching(Sum):
        def predict(self, X: Any) -> Any:
            given.extend(X["age"])
            return super().predict(X)

    found = noisy(Watching(), X, by=0.1, more_than=0.0)
    assert found == Rate(400, 400, "rows with a number")
    first, second = np.array(given[:400]), np.array(given[400:])
    assert np.abs(second - first) == pytest.approx(0.1 * spreads["age"])
    assert 0.4 < np.mean(second > first) < 0.6
    # The same noise for a row alone, in another order, and from another type of numbers.
    given.clear()
    noisy(Watching(), X[::-1].reset_index(drop=True), spreads, by=0.1)
    assert given[400:] == second[::-1].tolist()
    given.clear()
    noisy(Watching(), X.astype({"age": "Float64"})[:1], spreads, by=0.1)
    assert given[1] == pytest.approx(second[0])


def test_rows_without_a_number_and_columns_without_a_spread_do_not_count() -> None:
    X = pd.DataFrame({"age": [0.0, np.nan, np.inf, 1e300, 5.0], "town": "a", "flag": True})
    assert spreads_of(X)["age"] == pytest.approx(1e300 * np.sqrt(2) / 3)
    found = noisy(Sum(), X, by=0.5, more_than=1.0)
    assert (found.events, found.trials) == (3, 3)
    assert noisy(Sum(), X.assign(age=3.0)).trials == 0
    record: Any = configure(RECORDS["noise_moves"], {})
    assert "nobody wrote down" in why_unknown(record.function(seen(Sum(), X)))


def test_words_for_wrong_numbers() -> None:
    for options, why in (({"by": 0.0}, "by is a part"), ({"more_than": -1.0}, "more_than is")):
        with pytest.raises(Exception, match=why):
            configure(RECORDS["noise_moves"], options)
    assert Noise().by == 0.05


def test_noise_in_a_table_without_numbers_is_refused() -> None:
    """No number of rows would help."""
    with pytest.raises(ConfigurationError, match="no column of this table holds numbers"):
        noisy(None, ROWS[["town", "flag"]])
