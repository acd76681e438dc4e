"""Branches of a pipeline as plain scikit-learn objects: built, lowered, fitted, saved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import FeatureUnion
from sklearn.preprocessing import StandardScaler
from skops.io import dumps, get_untrusted_types, loads

from automl_admm.builtin.components import components as builtin_components
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Value
from automl_admm.core.structure.pipeline_space import Branches, Step
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.pipelines.stacking import StackedPredictions, fold_count
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, BuildContext, ComponentPlugin
from automl_admm.plugins.registry import Registry
from automl_admm.runs.finish.model_file import trusted_types

ROWS = 60
FOREST = Step("random_forest", (("n_estimators", 10),))
MODEL = {"classification": Step("logistic_regression"), "regression": Step("ridge")}


def registry(task="classification"):
    found = Registry("component")
    for record in builtin_components():
        if task in record.tasks:
            found.add(record, "tests")
    return found


def table(task="classification"):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=ROWS), "c": rng.choice(list("xyz"), ROWS)})
    frame["b"] = rng.normal(size=ROWS)
    target = frame["b"].to_numpy() + 0.3 * rng.normal(size=ROWS)
    return frame, np.where(target > 0, "yes", "no") if task == "classification" else target


def union(*parts):
    return Branches("union", parts)


def stack(*steps):
    return Branches("stack", (steps,))


def by_type(numeric, categorical):
    return Branches("by_type", (numeric, categorical))


def fitted(steps, task="classification", context=None):
    X, y = table(task)
    known = context or BuildContext(task, ("a", "b"), ("c",))
    pipeline = build_pipeline(steps, registry(task), known, 7)
    return fit_pipeline(pipeline, steps, registry(task), X, y)


SHAPES = {
    "union": (Step("impute"), union((Step("pca"),), (), (Step("select_percentile"),))),
    "stack": (Step("impute"), stack(Step("standard_scaler"), FOREST)),
    "first of all a union": (union((Step("impute"), Step("pca")), (Step("impute"),)),),
    "by_type": (by_type((Step("impute"), Step("standard_scaler")), (Step("impute"),)),),
    "nested": (
        union((by_type((Step("impute"),), (Step("impute"),)),), (Step("impute"), Step("pca"))),
        union((stack(FOREST),), (union((), ()), Step("min_max_scaler"))),
    ),
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", SHAPES)
def test_branches_fit_predict_clone_and_are_saved(name, task):
    steps = (*SHAPES[name], MODEL[task])
    model, (X, y) = fitted(steps, task), table(task)
    scores = predict_scores(model, X)
    assert np.isfinite(scores).all()
    assert np.array_equal(predict_scores(clone(model).fit(X, y), X), scores)
    content = dumps(model)
    trusted = trusted_types(load_plugins())
    assert set(get_untrusted_types(data=content)) <= trusted
    assert np.array_equal(predict_scores(loads(content, trusted=sorted(trusted)), X), scores)


def test_branches_are_plain_scikit_learn():
    steps = (*SHAPES["by_type"], *SHAPES["union"][1:], stack(FOREST), MODEL["classification"])
    model = fitted(steps)
    assert list(model.named_steps) == ["by_type", "union", "stack", "logistic_regression"]
    assert isinstance(model["by_type"], ColumnTransformer)
    assert isinstance(model["union"], FeatureUnion)
    assert [name for name, _ in model["union"].transformer_list] == ["branch_1", "branch_2"]
    assert isinstance(model["stack"].transformer_list[1][1], StackedPredictions)


def test_an_empty_branch_of_a_union_adds_no_columns():
    steps = (Step("impute"), union((Step("standard_scaler"),), ()), Step("gaussian_nb"))
    assert fitted(steps)["gaussian_nb"].n_features_in_ == 5


def test_branches_without_any_component_pass_the_data_on():
    nothing = (union((), (union((), ()),)), by_type((), ()))
    model = fitted((*nothing, Step("impute"), *nothing, Step("gaussian_nb")))
    assert list(model.named_steps) == ["impute", "gaussian_nb"]
    with pytest.raises(ConfigurationError, match="at least one step"):
        build_pipeline(nothing, registry(), BuildContext("classification"), 0)


def test_columns_of_an_empty_part_pass_unchanged():
    model = fitted((by_type((), (Step("impute"),)), Step("gaussian_nb")))
    X, _ = table()
    made = model["by_type"].transform(X)
    assert np.array_equal(made[:, :2], X[["a", "b"]])
    assert made.shape[1] == 5


def test_columns_are_routed_by_place_where_they_have_no_names():
    X, y = table()
    numbers = np.column_stack([X["a"], X["c"].map({"x": 0, "y": 1, "z": 2}), X["b"]])
    steps = (by_type((Step("impute"),), (Step("impute"),)), Step("gaussian_nb"))
    context = BuildContext("classification", (0, 2), (1,))
    pipeline = build_pipeline(steps, registry(), context, 0)
    model = fit_pipeline(pipeline, steps, registry(), numbers, y)
    assert np.array_equal(model["by_type"].transform(numbers)[:, :2], X[["a", "b"]])
    assert model["gaussian_nb"].n_features_in_ == 5


def test_free_text_and_tags_go_with_the_categories_and_are_numbered_with_them():
    context = BuildContext("classification", (1,), (4,), text=(0,), tags=(3,))
    told: list[BuildContext] = []

    def build(values: Mapping[str, Value], context: BuildContext) -> Any:
        told.append(context)
        return StandardScaler()

    seeing = ComponentPlugin(name="seeing", summary="a spy", role="transformer", factory=build)
    components: Registry[ComponentPlugin] = Registry("component")
    components.add(seeing, "tests")
    spy = (Step("seeing"),)
    pipeline = build_pipeline((by_type(spy, spy),), components, context, 0)
    routes = pipeline["by_type"].transformers
    assert [columns for _, _, columns in routes] == [[1], [4, 0, 3]]
    assert told == [
        BuildContext("classification", (0,)),
        BuildContext("classification", (), (0,), (1,), (2,)),
    ]


def test_a_table_without_categories_has_nothing_to_route_there():
    X, y = table()
    steps = (by_type((Step("impute"),), (Step("impute"), Step("truncated_svd"))), FOREST)
    context = BuildContext("classification", ("a", "b"))
    pipeline = build_pipeline(steps, registry(), context, 0)
    model = fit_pipeline(pipeline, steps, registry(), X[["a", "b"]], y)
    assert model["random_forest"].n_features_in_ == 2


def test_sizes_are_lowered_inside_branches():
    svd = Step("truncated_svd", (("n_components", 64),))
    quantiles = Step("quantile_transformer", (("n_quantiles", 500),))
    steps = (
        by_type((Step("impute"), svd), (Step("impute"), svd)),
        union((quantiles,), (Step("standard_scaler"), svd)),
        stack(quantiles, Step("k_neighbors", (("n_neighbors", 99),))),
        Step("gaussian_nb"),
    )
    model = fitted(steps)
    found = model.get_params()
    assert found["by_type__numeric__truncated_svd__n_components"] == 2
    assert found["by_type__categorical__truncated_svd__n_components"] == 3
    assert found["union__branch_1__quantile_transformer__n_quantiles"] == ROWS
    assert found["union__branch_2__truncated_svd__n_components"] == 5
    # A fifth of the rows is left out when it is learnt what to predict for them.
    assert found["stack__predictions__estimator__k_neighbors__n_neighbors"] == ROWS * 4 // 5
    X, y = table()
    assert np.array_equal(clone(model).fit(X, y).predict_proba(X), model.predict_proba(X))


def test_everything_in_branches_is_seeded():
    steps = (Step("impute"), union((Step("nystroem"),), (Step("pca"),)), stack(FOREST), FOREST)
    known = build_pipeline(steps, registry(), BuildContext("classification"), 5).get_params()
    seeds = {name: value for name, value in known.items() if name.endswith("random_state")}
    assert len(seeds) == 5
    assert set(seeds.values()) == {5}


def test_the_predictions_are_of_rows_not_learnt_from():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(200, 3)), rng.integers(2, size=200)
    forest = RandomForestClassifier(20, random_state=0)
    stacked = StackedPredictions(forest, random_state=0)
    out_of_fold = stacked.fit_transform(X, y)[:, 0]
    seen = stacked.transform(X)[:, 0]
    assert ((seen > 0.5) == y).mean() > 0.95
    assert ((out_of_fold > 0.5) == y).mean() < 0.7


@pytest.mark.parametrize(
    ("estimator", "classes", "columns"),
    [
        (LogisticRegression(), 2, 1),
        (LogisticRegression(), 3, 3),
        (RidgeClassifier(), 2, 1),
        (RidgeClassifier(), 3, 3),
        (Ridge(), 3, 1),
    ],
)
def test_a_column_a_class_or_one(estimator, classes, columns):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % classes
    stacked = StackedPredictions(estimator, random_state=0)
    assert stacked.fit_transform(X, y).shape == stacked.transform(X).shape == (60, columns)
    assert len(stacked.get_feature_names_out()) == columns


def test_labels_alone_become_a_column_a_class():
    class Labels(RidgeClassifier):
        decision_function = None

        def __getattribute__(self, name):
            if name == "decision_function":
                raise AttributeError(name)
            return super().__getattribute__(name)

        def predict(self, X):
            return np.resize(self.classes_, len(X))

    X, y = np.random.default_rng(1).normal(size=(30, 2)), np.resize(list("abc"), 30)
    made = StackedPredictions(Labels(), random_state=0).fit(X, y).transform(X)
    assert np.array_equal(made, np.resize(np.eye(3), (30, 3)))


def test_there_are_no_more_folds_than_the_largest_class_has_rows():
    assert fold_count(list("aaabb"), 5, stratified=True) == 3
    assert fold_count(list("ab"), 5, stratified=True) == 2
    assert fold_count([1.0, 2.0, 3.0], 5, stratified=False) == 3
