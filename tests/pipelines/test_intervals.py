"""Prediction intervals: the place of the error that is their width, and what they hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
import skops.io
from sklearn.base import clone
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.pipelines.intervals import IntervalRegressor, ends, half_width, least_count


@pytest.mark.parametrize(
    ("rows", "coverage", "place"),
    [(9, 0.9, 9), (8, 0.9, None), (99, 0.9, 90), (100, 0.9, 91), (1, 0.5, 1), (0, 0.5, None)],
)
def test_the_width_is_the_error_at_its_place(rows: int, coverage: float, place: int | None) -> None:
    errors = np.arange(1.0, rows + 1) * np.where(np.arange(rows) % 2, 1, -1)
    assert half_width(errors, coverage) == (math.inf if place is None else place)


def test_intervals_hold_their_share_of_new_rows_on_average() -> None:
    rng, held = np.random.default_rng(0), []
    for _ in range(300):
        known, new = rng.standard_t(2, 39), rng.standard_t(2, 50)
        held.append(np.mean(np.abs(new) <= half_width(known, 0.9)))
    assert 0.89 < np.mean(held) < 0.915  # exactly 36 / 40


def test_rows_in_groups_are_no_more_than_their_groups() -> None:
    rng, held = np.random.default_rng(0), []
    clusters = np.repeat(np.arange(19), rng.integers(1, 40, 19))
    for _ in range(300):
        known = rng.normal(size=19)[clusters] + 0.1 * rng.normal(size=len(clusters))
        new = rng.normal(size=50) + 0.1 * rng.normal(size=50)
        held.append(np.mean(np.abs(new) <= half_width(known, 0.9, clusters)))
    assert 0.895 < np.mean(held) < 0.95


@pytest.mark.parametrize("rows", [0, 1, 8, 9, 10, 39])
def test_a_group_for_each_row_changes_nothing(rows: int) -> None:
    rng = np.random.default_rng(rows)
    errors, clusters = rng.normal(size=rows), rng.permutation(rows)
    assert half_width(errors, 0.9, clusters) == half_width(errors, 0.9)


def test_so_many_groups_give_intervals_an_end() -> None:
    clusters = np.repeat(np.arange(9), 7)
    assert math.isfinite(half_width(np.ones(63), 0.9, clusters))
    assert math.isinf(half_width(np.ones(56), 0.9, clusters[:56]))
    assert least_count(0.9) == 9


def test_groups_are_given_to_the_fit_one_for_each_row() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    ridge, made = Ridge().fit(X, X[:, 0]), np.where(X[:, 0] < 20, "a", "b")
    intervals = IntervalRegressor(ridge, coverage=0.8)
    assert math.isfinite(intervals.fit(X, X[:, 0]).half_width_)
    assert math.isinf(intervals.fit(X, X[:, 0], groups=made).half_width_)
    with pytest.raises(DataError, match="groups has 39 rows, and y has 40"):
        intervals.fit(X, X[:, 0], groups=made[1:])


@pytest.mark.parametrize("low", np.round(np.arange(-40, 40) / 7, 1).tolist())
def test_rows_with_just_the_error_of_the_width_lie_within_it(low: float) -> None:
    y = np.tile([low, low + 1.0, low + 1.0], 30).round(1)
    middle = DummyRegressor(strategy="median").fit(y[:, None], y)
    lower, upper = IntervalRegressor(middle).fit(y[:, None], y).predict_interval(y[:, None]).T
    assert ((lower <= y) & (y <= upper)).all()
    assert np.allclose(upper - lower, 2.0)


def test_ends_hold_a_value_of_single_precision_and_may_be_infinite() -> None:
    narrow, y = np.array([0.1, 1e7], dtype=np.float32), np.array([0.4, 1e7 + 0.3])
    width = float(np.max(np.abs(narrow.astype(float) - y)))
    lower, upper = ends(narrow, width)
    assert ((lower <= y) & (y <= upper)).all()
    assert [one.tolist() for one in ends([2.0], math.inf)] == [[-math.inf], [math.inf]]


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90, math.nan, "0.9"])
def test_a_coverage_that_is_no_share_is_refused(coverage: float) -> None:
    with pytest.raises(ConfigurationError, match="between 0 and 1"):
        half_width(np.ones(3), coverage)


def test_masked_values_to_calibrate_with_are_refused() -> None:
    X = np.arange(40.0).reshape(-1, 1)
    ridge, mask = Ridge().fit(X, X[:, 0]), np.arange(40) < 10
    with pytest.raises(DataError, match="no finite error"):
        IntervalRegressor(ridge).fit(X, np.ma.array(np.where(mask, 1e6, X[:, 0]), mask=mask))
    with pytest.raises(DataError, match="the group in 'groups' is missing"):
        IntervalRegressor(ridge).fit(X, X[:, 0], groups=np.ma.array(np.arange(40), mask=mask))


def test_errors_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="no finite error"):
        half_width(np.array([1.0, math.nan]), 0.5)


def test_it_is_a_plain_estimator_that_is_saved_without_code() -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = X[:, 0] + 0.1 * X[:, 1]
    ridge = Ridge().fit(X[:30], y[:30])
    with pytest.raises(NotFittedError):
        IntervalRegressor(ridge).predict_interval(X)
    made = IntervalRegressor(ridge, coverage=0.8).fit(X[30:], y[30:])
    ends = made.predict_interval(X)
    assert np.allclose(ends.mean(axis=1), ridge.predict(X))
    assert np.mean((ends[30:, 0] <= y[30:]) & (y[30:] <= ends[30:, 1])) >= 0.8
    assert clone(made).get_params()["coverage"] == 0.8
    content = skops.io.dumps(made)
    trusted = ["automl_admm.pipelines.intervals.IntervalRegressor"]
    assert set(skops.io.get_untrusted_types(data=content)) <= set(trusted)
    assert np.array_equal(skops.io.loads(content, trusted=trusted).predict_interval(X), ends)
