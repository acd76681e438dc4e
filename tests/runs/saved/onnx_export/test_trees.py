"""Trees in ONNX in double precision: on any row the values of scikit-learn, splits and gaps too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from automl_admm.runs.saved.onnx_export.file import convert
from automl_admm.runs.saved.onnx_export.graph import graph_of
from automl_admm.runs.saved.onnx_export.session import answers_of, feeds_of
from automl_admm.runs.saved.onnx_export.trees import TreesError

FITTED = 300
# These add in the order of scikit-learn, and nothing else is computed of the sum.
EXACT = (
    DecisionTreeClassifier(min_samples_leaf=3),
    DecisionTreeRegressor(max_depth=4),
    RandomForestClassifier(70, class_weight="balanced", random_state=0),
    RandomForestRegressor(40, random_state=0),
    ExtraTreesClassifier(33, min_samples_leaf=2, random_state=0),
    ExtraTreesRegressor(10, random_state=0),
    GradientBoostingRegressor(n_estimators=40),
    HistGradientBoostingRegressor(max_iter=40),
    HistGradientBoostingRegressor(max_iter=5, loss="absolute_error"),
)
NEAR = (
    GradientBoostingClassifier(n_estimators=12),
    GradientBoostingClassifier(n_estimators=5, init="zero"),
    HistGradientBoostingClassifier(max_iter=12),
)


def table(*, with_gaps: bool) -> pd.DataFrame:
    """Return rows of a grid: new ones lie in the midst of those of training, as splits do."""
    rows = pd.DataFrame(
        np.random.default_rng(0).integers(0, 9, (900, 4)) * 0.1, columns=list("abcd")
    )
    rows[:FITTED] = (rows[:FITTED] / 0.2).round() * 0.2
    return rows.mask(rows == 0.4) if with_gaps else rows


def compared(model: Any, classes: int, rows: pd.DataFrame) -> tuple[Any, Any]:
    """Return the answers of a session and those of the model, also on rows that it did not see."""
    rng = np.random.default_rng(1)
    score = rows.fillna(1.0).sum(axis=1).to_numpy()[:FITTED] + rng.normal(size=FITTED)
    y = pd.qcut(score, classes, labels=False) if is_classifier(model) else 100.0 * score
    fit = model.fit(rows[:FITTED], y)
    feeds = feeds_of(rows, np.float64)
    found = answers_of(graph_of(fit, feeds, in_double=True).SerializeToString(), feeds)[-1]
    return found, fit.predict_proba(rows) if is_classifier(model) else fit.predict(rows)[:, None]


def kind(model: Any) -> str:
    return type(model).__name__


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", EXACT, ids=kind)
def test_sums_are_those_of_scikit_learn_to_the_last_bit(model: Any, classes: int) -> None:
    found, told = compared(model, classes, table(with_gaps=False))
    assert found.dtype == np.float64
    assert (found == told).all()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", NEAR, ids=kind)
def test_probabilities_of_boosted_trees_are_in_double_precision(model: Any, classes: int) -> None:
    found, told = compared(model, classes, table(with_gaps=False))
    assert np.abs(found - told).max() < 1e-14


@pytest.mark.parametrize(
    "model", [NEAR[0], NEAR[1], HistGradientBoostingClassifier(min_samples_leaf=2)], ids=kind
)
def test_a_sum_of_0_is_of_the_class_that_scikit_learn_says(model: Any) -> None:
    rows = pd.DataFrame({"a": np.repeat([0.0, 1.0, 2.0], 40)})
    halves = np.tile([0, 1], 20)
    y = np.concatenate([np.arange(40) == 0, halves, np.arange(40) > 0]).astype(int)
    fit = model.fit(rows, y)
    assert (fit.decision_function(rows)[40:80] == 0.0).all()
    feeds = feeds_of(rows, np.float64)
    found = answers_of(graph_of(fit, feeds, in_double=True).SerializeToString(), feeds)[0]
    assert (found == fit.predict(rows)).all()
    assert convert(fit, rows, {}).difference < 1e-6


@pytest.mark.parametrize("model", [EXACT[0], EXACT[3], EXACT[7], NEAR[2]], ids=kind)
def test_gaps_go_where_the_tree_sends_them(model: Any) -> None:
    found, told = compared(model, 2, table(with_gaps=True))
    assert np.abs(found - told).max() < 1e-12


def test_a_column_of_categories_that_no_tree_splits_is_passed_over() -> None:
    """The trees count it first, and so split other columns in the graph."""
    rows = table(with_gaps=False)
    rows.insert(2, "e", np.arange(len(rows)) % 2.0)
    y = (rows["a"] + rows["b"] > 0).astype(int)
    model = HistGradientBoostingClassifier(max_iter=4, max_leaf_nodes=3, categorical_features=[2])
    model.fit(rows[:FITTED], y[:FITTED])
    assert not any(one.nodes["is_categorical"].any() for [one] in model._predictors)
    assert convert(model, rows, {}).difference < 1e-6


@pytest.mark.parametrize("loss", ["poisson", "gamma"])
def test_a_loss_with_a_logarithm_is_written(loss: str) -> None:
    rows = table(with_gaps=False)
    y = np.exp(rows["a"] + rows["b"] * rows["c"])
    model = HistGradientBoostingRegressor(max_iter=20, loss=loss).fit(rows[:FITTED], y[:FITTED])
    assert convert(model, rows, {}).difference < 1e-12


def test_rows_are_filled_and_scaled_before_they_are_rounded_as_trees_do() -> None:
    forest = RandomForestClassifier(30, random_state=0)
    model = make_pipeline(SimpleImputer(), StandardScaler(), forest)
    found, told = compared(model, 2, table(with_gaps=True))
    assert (found == told).all()


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=3, loss="exponential"),
        GradientBoostingRegressor(n_estimators=3, init=DecisionTreeRegressor()),
        HistGradientBoostingClassifier(max_iter=3, categorical_features=[0]),
    ],
    ids=kind,
)
def test_what_is_no_sum_of_plain_trees_is_left_to_the_converter(model: Any) -> None:
    with pytest.raises(TreesError):
        compared(model, 2, table(with_gaps=False))
