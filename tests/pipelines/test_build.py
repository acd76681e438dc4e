"""Building and fitting pipelines: the same as scikit-learn's own, with sizes that fit the data."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.svm import LinearSVC

from automl_admm.builtin.components import components as builtin_components
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.space import Choice, Condition, Parameter
from automl_admm.core.structure.pipeline_space import Step
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.plugins.records import BuildContext, ComponentPlugin
from automl_admm.plugins.registry import Registry

CONTEXT = BuildContext("classification", (0, 1, 2, 3))


def registry(*more):
    found = Registry("component")
    for record in (*builtin_components(), *more):
        if "classification" in record.tasks:
            found.add(record, "tests")
    return found


def rows(count=80, columns=4):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(count, columns))
    return X, np.where(X[:, 0] + 0.3 * rng.normal(size=count) > 0, "b", "a")


def test_steps_are_named_after_their_components():
    steps = [Step("pca"), Step("standard_scaler"), Step("pca"), Step("gaussian_nb")]
    pipeline = build_pipeline(steps, registry(), CONTEXT, 0)
    assert list(pipeline.named_steps) == ["pca", "standard_scaler", "pca_2", "gaussian_nb"]


def test_everything_that_draws_is_seeded_and_on_one_core():
    bagging = ComponentPlugin(
        name="bagging",
        summary="bagged forests",
        role="estimator",
        factory=lambda *_: BaggingClassifier(RandomForestClassifier(n_jobs=-1)),
    )
    steps = [Step("nystroem"), Step("bagging")]
    found = build_pipeline(steps, registry(bagging), CONTEXT, 5).get_params()
    seeds = {name: value for name, value in found.items() if name.endswith("random_state")}
    assert set(seeds) >= {"bagging__random_state", "bagging__estimator__random_state"}
    assert set(seeds.values()) == {5}
    assert {found[name] for name in found if name.endswith("n_jobs")} <= {None, 1}
    assert found["bagging__estimator__n_jobs"] == 1


def test_a_class_of_others_is_told_to_keep_to_one_core():
    class Greedy(LinearSVC):
        def __init__(self, *, n_jobs=None):
            super().__init__()
            self.n_jobs = n_jobs

    greedy = ComponentPlugin(
        name="greedy", summary="x", role="estimator", factory=lambda *_: Greedy()
    )
    pipeline = build_pipeline([Step("greedy")], registry(greedy), CONTEXT, 0)
    assert pipeline[-1].n_jobs == 1


def test_any_seed_of_a_hash_will_do():
    pipeline = build_pipeline([Step("random_forest")], registry(), CONTEXT, 2**63 + 11)
    assert pipeline[-1].random_state == 11


def test_a_parameter_left_out_takes_the_declared_default():
    pipeline = build_pipeline(
        [Step("decision_tree", (("criterion", "entropy"),))], registry(), CONTEXT, 0
    )
    assert pipeline[-1].max_depth == 8
    assert pipeline[-1].criterion == "entropy"


def test_a_parameter_with_a_condition_is_not_filled_in():
    seen = []
    plugin = ComponentPlugin(
        name="odd",
        summary="x",
        role="estimator",
        factory=lambda values, _: seen.append(dict(values)) or LinearSVC(),
        parameters=(
            Choice("kernel", ("linear", "rbf")),
            Parameter("tol", 0.0, 1.0, when=Condition("kernel", ("rbf",))),
            Parameter("C", 0.0, 2.0),
        ),
    )
    build_pipeline([Step("odd")], registry(plugin), CONTEXT, 0)
    assert seen == [{"kernel": "linear", "C": 1.0}]


def test_only_the_first_step_knows_the_columns():
    pipeline = build_pipeline(
        [Step("impute"), Step("impute"), Step("hist_gradient_boosting")],
        registry(),
        BuildContext("classification", ("a",), ("b",)),
        0,
    )
    assert [type(step).__name__ for step in pipeline] == [
        "ColumnTransformer",
        "SimpleImputer",
        "HistGradientBoostingClassifier",
    ]


def test_an_unknown_component_and_no_component_are_errors():
    with pytest.raises(UnknownNameError, match="gaussian_nb"):
        build_pipeline([Step("gausian_nb")], registry(), CONTEXT, 0)
    with pytest.raises(ConfigurationError, match="at least one step"):
        build_pipeline([], registry(), CONTEXT, 0)


@pytest.mark.parametrize(
    "names",
    [
        ("decision_tree",),
        ("standard_scaler", "pca", "logistic_regression"),
        ("sparse_random_projection", "extra_trees"),
        ("select_percentile", "linear_svm"),
    ],
)
def test_fitting_is_what_scikit_learn_does_where_nothing_is_lowered(names):
    X, y = rows()
    steps = [
        Step(name, (("n_components", 3),) if name.endswith("projection") else ()) for name in names
    ]
    pipeline = build_pipeline(steps, registry(), CONTEXT, 3)
    ours = fit_pipeline(pipeline, steps, registry(), X, y)
    theirs = clone(pipeline).fit(X, y)
    assert np.array_equal(predict_scores(ours, X), predict_scores(theirs, X))


def test_sizes_are_lowered_to_what_arrives_at_the_step():
    X, y = rows(count=30)
    steps = [
        Step("quantile_transformer", (("n_quantiles", 500),)),
        Step("nystroem", (("n_components", 12),)),
        Step("truncated_svd", (("n_components", 64),)),
        Step("k_neighbors", (("n_neighbors", 99),)),
    ]
    pipeline = build_pipeline(steps, registry(), CONTEXT, 0)
    fitted = fit_pipeline(pipeline, steps, registry(), X, y)
    assert fitted["quantile_transformer"].n_quantiles == 30
    assert fitted["nystroem"].n_components == 12
    assert fitted["truncated_svd"].n_components == 12
    assert fitted["k_neighbors"].n_neighbors == 30
    assert pipeline["truncated_svd"].n_components == 64


def test_the_result_can_be_cloned_and_fitted_again():
    X, y = rows()
    steps = [Step("factor_analysis", (("n_components", 50),)), Step("gaussian_nb")]
    fitted = fit_pipeline(build_pipeline(steps, registry(), CONTEXT, 0), steps, registry(), X, y)
    again = clone(fitted).fit(X, y)
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert list(fitted.classes_) == ["a", "b"]


def test_the_names_of_the_columns_are_remembered():
    X, y = rows()
    frame = pd.DataFrame(X, columns=list("abcd"))
    steps = [Step("impute"), Step("gaussian_nb")]
    context = BuildContext("classification", tuple("abcd"))
    fitted = fit_pipeline(
        build_pipeline(steps, registry(), context, 0), steps, registry(), frame, y
    )
    assert list(fitted.feature_names_in_) == list("abcd")


@pytest.mark.parametrize(
    ("name", "shape"), [("gaussian_nb", (80, 2)), ("linear_svm", (80,)), ("svm", (80,))]
)
def test_scores_are_probabilities_or_else_distances(name, shape):
    X, y = rows()
    steps = [Step(name)]
    fitted = fit_pipeline(build_pipeline(steps, registry(), CONTEXT, 0), steps, registry(), X, y)
    scores = predict_scores(fitted, X)
    assert scores.shape == shape
    assert scores.dtype == float


def test_scores_are_predictions_where_there_is_nothing_else():
    X, _ = rows()
    model = KMeans(2, n_init=1, random_state=0).fit(X)
    assert np.array_equal(predict_scores(model, X), model.predict(X))
