"""Weights in a fit: given to the estimator, or by rows drawn in proportion to them."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from automl_admm.pipelines.weighting import drawn_rows, fit_estimator

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))


def test_an_estimator_with_weights_is_given_them():
    y, weights = X[:, 0] + RNG.normal(size=60), RNG.random(60)
    ours = fit_estimator(Ridge(), X, y, weights)
    np.testing.assert_allclose(ours.coef_, Ridge().fit(X, y, sample_weight=weights).coef_)


def test_another_is_fitted_on_rows_in_proportion_to_their_weights():
    y = np.resize([0, 1], 60)
    weights = np.where(y == 1, 3.0, 1.0)
    fitted = fit_estimator(KNeighborsClassifier(n_neighbors=60), X, y, weights)
    # All rows are neighbours, so the probability is the share of the drawn rows.
    assert fitted.predict_proba(X[:1])[0, 1] == pytest.approx(0.75, abs=0.02)


@pytest.mark.parametrize("rows", [1, 7, 60])
def test_every_row_is_drawn_its_share_of_times(rows):
    weights = RNG.random(rows) + 1e-9
    counts = np.bincount(drawn_rows(weights, np.zeros(rows)), minlength=rows)
    assert counts.sum() == rows
    assert np.all(np.abs(counts - rows * weights / weights.sum()) < 1 + 1e-9)


def test_equal_weights_draw_every_row_once():
    assert list(drawn_rows(np.ones(9), np.arange(9)[::-1])) == list(range(9))


def test_no_class_is_lost_however_little_it_weighs():
    labels = np.array(["a"] * 50 + ["b"] * 3)
    weights = np.array([1.0] * 50 + [1e-9, 2e-9, 1e-9])
    drawn = drawn_rows(weights, labels, is_class=True)
    assert set(labels[drawn]) == {"a", "b"}
    assert 51 in drawn


def test_a_regression_needs_no_row_of_every_value():
    y = np.arange(60.0)
    fit_estimator(KNeighborsRegressor(), X, y, np.r_[np.ones(30), np.full(30, 1e-12)])
