"""Boosting on histograms finds the same bins in less time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.ensemble._hist_gradient_boosting import binning
from sklearn.utils.stats import _weighted_percentile

from automl_admm.pipelines.weighted_binning import Percentiles, quick_binning

RANKS = np.linspace(0, 100, 101)
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=701),
        RNG.integers(0, 9, 300).astype(float),  # ties
        np.array([3.0]),
        np.array([-np.inf, 1.0, np.inf, 2.0]),
        np.append(RNG.normal(size=50), np.nan),
    ],
    ids=["numbers", "ties", "one", "infinite", "gap"],
)
@pytest.mark.parametrize("weighing", ["equal", "unequal", "zeros", "whole"])
def test_percentiles_are_the_same_to_the_last_bit(values: Any, weighing: str) -> None:
    weights = {
        "equal": np.ones(len(values)),
        "unequal": RNG.random(len(values)) + 0.1,
        "zeros": RNG.integers(0, 2, len(values)).astype(float) + np.eye(len(values))[0],
        "whole": RNG.integers(1, 4, len(values)),
    }[weighing]
    quick = Percentiles(_weighted_percentile)
    for rank in RANKS:
        expected = _weighted_percentile(values, weights, rank, average=True)
        np.testing.assert_array_equal(quick(values, weights, rank, average=True), expected)


def test_what_is_no_plain_column_is_left_to_the_original() -> None:
    asked: list[Any] = []
    quick = Percentiles(lambda *given, **more: asked.append((len(given), more)))
    table, column, weights = np.ones((4, 2)), np.ones(4), np.ones(4)
    quick(table, weights, 50, average=True)
    quick(column, weights, RANKS, average=True)
    quick(column, weights, 50)
    quick(column, weights)
    assert asked == [(3, {"average": True}), (3, {"average": True}), (3, {}), (2, {})]


def test_other_weights_of_the_same_column_count() -> None:
    quick, values = Percentiles(_weighted_percentile), np.arange(5.0)
    heavy = np.array([1.0, 1.0, 1.0, 1.0, 99.0])
    assert quick(values, np.ones(5), 50, average=True) == 2.0
    assert quick(values, heavy, 50, average=True) == 4.0


def test_boosting_is_the_same_model_and_asks_for_sorted_columns() -> None:
    X = RNG.normal(size=(400, 3))
    y = (X[:, 0] + RNG.normal(size=400) > 1).astype(int)
    model = HistGradientBoostingClassifier(max_iter=5, class_weight="balanced", random_state=0)
    expected = model.fit(X, y).predict_proba(X)
    with quick_binning():
        assert isinstance(binning._weighted_percentile, Percentiles)
        found = model.fit(X, y).predict_proba(X)
    assert binning._weighted_percentile is _weighted_percentile
    assert (found == expected).all()
