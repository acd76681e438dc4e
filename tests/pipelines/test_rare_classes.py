"""Classes of one, two and three rows: every classifier of the default grammar takes them."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import LinearSVC

from automl_admm.core.structure.pipeline_space import Branches, Step, all_modules
from automl_admm.grammar import load_grammar
from automl_admm.pipelines.build import build_pipeline, fit_pipeline, predict_scores
from automl_admm.pipelines.stacking import StackedPredictions, deal
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import BuildContext

PLUGINS = load_plugins()
COMPONENTS = PLUGINS.components["classification"]
EVERYWHERE = frozenset(one.name for known in PLUGINS.components.values() for one in known)
GRAMMAR = load_grammar("default", COMPONENTS, PLUGINS.grammars, EVERYWHERE).pipelines
ESTIMATORS = sorted(
    {
        module.component
        for module in all_modules(GRAMMAR.shape)
        if COMPONENTS.get(module.component).role == "estimator"
    }
)
# Values that make some of them put rows aside to stop early, and keep the others short.
EARLY = {
    "gradient_boosting": (("n_iter_no_change", 5), ("n_estimators", 20)),
    "mlp": (("early_stopping", True),),
    "hist_gradient_boosting": (("max_iter", 10),),
    "categorical_boosting": (("max_iter", 10),),
}


def table(sizes, rows=120):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(rows, 3)), columns=list("abc"))
    X["d"] = rng.choice(list("xyz"), rows)
    y = np.where(X["a"] > 0, "often", "also").astype(object)
    start = 0
    for number, size in enumerate(sizes):
        y[start : start + size] = f"rare {number}"
        start += size
    return X, y


def fitted(steps, X, y):
    context = BuildContext(
        "classification", ("a", "b", "c"), ("d",), levels=(3,), classes=len(np.unique(y))
    )
    return fit_pipeline(build_pipeline(steps, COMPONENTS, context, 0), steps, COMPONENTS, X, y)


@pytest.mark.parametrize("sizes", [(1,), (2,), (3,), (1, 1, 1, 2, 3)], ids=str)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_class_of_few_rows_neither_fails_nor_warns(name, sizes):
    X, y = table(sizes)
    step = Step(name, EARLY.get(name, ()))
    steps = (
        [step] if COMPONENTS.get(name).needs else [Step("impute"), Step("standard_scaler"), step]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(c|C)onverge")
        model = fitted(steps, X, y)
    assert list(model.classes_) == sorted(set(y))
    assert np.isfinite(predict_scores(model, X)).all()


@pytest.mark.parametrize("name", ["hist_gradient_boosting", "categorical_boosting"])
def test_boosting_that_stops_early_on_many_rows_takes_a_class_of_one_row(name):
    X, y = table((1,), rows=10_100)
    step = Step(name, (("max_iter", 3),))
    steps = [step] if COMPONENTS.get(name).needs else [Step("impute"), step]
    assert "rare 0" in fitted(steps, X, y).classes_


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("inner", ["logistic_regression", "linear_svm", "k_neighbors", "mlp"])
def test_stacked_predictions_have_every_class_in_every_fold(inner, size):
    X, y = table((size, 1))
    steps = (
        Step("impute"),
        Branches("stack", ((Step(inner, EARLY.get(inner, ())),),)),
        Step("gaussian_nb"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*(c|C)onverge")
        model = fitted(steps, X, y)
    assert np.isfinite(predict_scores(model, X)).all()


def test_scores_of_a_class_that_a_fold_lacked_are_no_huge_numbers():
    X, y = table((1,))
    stacked = StackedPredictions(LinearSVC(), random_state=0)
    assert np.abs(stacked.fit_transform(X[["a", "b", "c"]], y)).max() < 100


@pytest.mark.parametrize("stratified", [True, False])
def test_every_row_is_predicted_once_and_by_a_model_of_others(stratified):
    y = np.array(["a"] * 30 + ["b"] * 7 + ["c"] * 2 + ["d"])
    parts = deal(y, 5, 0, stratified=stratified)
    assert sorted(np.concatenate([valid for _, valid in parts])) == list(range(40))
    for train, valid in parts:
        both = set(train) & set(valid)
        assert both <= ({39} if stratified else set())
        assert not stratified or set(y[train]) == set("abcd")


def test_early_stopping_stays_on_where_classes_have_rows_enough():
    X, y = table((), rows=120)
    model = fitted([Step("impute"), Step("gradient_boosting", EARLY["gradient_boosting"])], X, y)
    assert model[-1].n_iter_no_change == 5
    X, y = table((1,))
    model = fitted([Step("impute"), Step("gradient_boosting", EARLY["gradient_boosting"])], X, y)
    assert model[-1].n_iter_no_change is None


def test_a_lonely_row_is_the_mean_of_its_class():
    X, y = table((1,))
    model = fitted([Step("impute"), Step("qda")], X, y)
    place = list(model.classes_).index("rare 0")
    assert np.allclose(model[-1].means_[place], model[:-1].transform(X.head(1))[0])
