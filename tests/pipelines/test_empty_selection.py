"""Selectors that would keep nothing, and what has one column left to work on."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_selection import SelectFwe, SelectKBest, SelectPercentile, VarianceThreshold
from sklearn.preprocessing import FunctionTransformer
from skops.io import dumps, get_untrusted_types

from automl_admm.builtin.components import components as builtin_components
from automl_admm.core.structure.pipeline_space import Branches, Step
from automl_admm.pipelines.build import build_pipeline, fit_pipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import TASKS, BuildContext
from automl_admm.plugins.registry import Registry
from automl_admm.runs.finish.model_file import trusted_types

ROWS = 60
MODEL = Step("decision_tree")


def registry(task="classification"):
    found = Registry("component")
    for record in builtin_components():
        if task in record.tasks:
            found.add(record, "tests")
    return found


def noise(task="classification"):
    """Columns that say nothing of the target; the third says a little, the second varies most."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(ROWS, 4)) * np.array([0.01, 0.3, 0.02, 0.01])
    y = rng.permutation(np.repeat([0.0, 1.0], ROWS // 2))
    X[:, 2] += 0.004 * y
    return X, np.where(y > 0, "yes", "no") if task == "classification" else y


def fitted(steps, X, y, task="classification"):
    context = BuildContext(task, tuple(range(X.shape[1])), ())
    pipeline = build_pipeline(steps, registry(task), context, 0)
    return fit_pipeline(pipeline, steps, registry(task), X, y)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", ["select_fwe", "select_fdr", "select_fpr"])
def test_a_test_that_nothing_passes_keeps_the_best_column(name, task):
    X, y = noise(task)
    model = fitted([Step(name, (("alpha", 1e-9),)), MODEL], X, y, task)
    selector = model.steps[0][1]
    assert isinstance(selector, SelectKBest)
    assert list(selector.get_support()) == list(selector.scores_ == selector.scores_.max())
    assert set(get_untrusted_types(data=dumps(model))) <= trusted_types(load_plugins())
    again = clone(model).fit(X[::2], y[::2])
    assert again.steps[0][1].get_support().sum() == 1


def test_a_percentage_of_one_column_keeps_it():
    X, y = noise()
    steps = [Step("select_percentile", (("percentile", 40),)), MODEL]
    assert isinstance(fitted(steps, X, y).steps[0][1], SelectPercentile)
    assert isinstance(fitted(steps, X[:, :1], y).steps[0][1], SelectKBest)


def test_a_test_that_something_passes_is_left_alone():
    X, y = noise()
    X[:, 1] += y == "yes"
    selector = fitted([Step("select_fwe", (("alpha", 0.01),)), MODEL], X, y).steps[0][1]
    assert isinstance(selector, SelectFwe)
    assert selector.alpha == 0.01


def test_a_threshold_falls_to_below_the_column_that_varies_most():
    X, y = noise()
    model = fitted([Step("variance_threshold", (("threshold", 0.2),)), MODEL], X, y)
    selector = model.steps[0][1]
    assert isinstance(selector, VarianceThreshold)
    assert list(selector.get_support()) == [False, True, False, False]
    assert 0.0 < selector.threshold < 0.2


def test_of_columns_that_do_not_vary_all_stay():
    _, y = noise()
    model = fitted([Step("variance_threshold"), MODEL], np.ones((ROWS, 3)), y)
    assert isinstance(model.steps[0][1], FunctionTransformer)
    assert len(model.predict(np.ones((2, 3)))) == 2


def test_what_no_selector_can_read_is_an_error_still():
    X, y = noise()
    X[0, 0] = np.inf
    for name in ("variance_threshold", "select_fwe"):
        with pytest.raises(ValueError, match="infinity"):
            fitted([Step(name), MODEL], X, y)


def test_selectors_in_branches_keep_a_column_too():
    X, y = noise()
    strict = Step("select_fwe", (("alpha", 1e-9),))
    still = Step("variance_threshold", (("threshold", 0.2),))
    for branches in (
        Branches("union", ((strict, still), (Step("truncated_svd"),))),
        Branches("stack", ((strict, MODEL),)),
        Branches("stack", ((still, MODEL),)),
    ):
        assert len(fitted([branches, MODEL], X, y).predict(X)) == ROWS


def test_one_column_is_projected_nowhere():
    X, y = noise()
    steps = [Step("select_fwe", (("alpha", 1e-9),)), Step("truncated_svd"), MODEL]
    model = fitted(steps, X, y)
    assert isinstance(model.steps[1][1], FunctionTransformer)
    assert isinstance(fitted(steps[1:], X[:, :1], y).steps[0][1], FunctionTransformer)


def test_a_kernel_has_as_many_components_as_its_matrix_has_positive_eigenvalues():
    X, y = noise()
    values = (("kernel", "sigmoid"), ("gamma", 1.0), ("coef0", -1.0), ("n_components", 50))
    kernel = fitted([Step("standard_scaler"), Step("kernel_pca", values), MODEL], X, y).steps[1][1]
    assert 1 <= kernel.n_components < 50
    assert (kernel.eigenvalues_ >= 0).all()


def test_qda_takes_columns_of_small_numbers():
    X, y = noise()
    model = fitted([Step("qda", (("shrinkage", 0.001),))], X * 1e-4, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_qda_takes_a_class_in_which_nothing_varies():
    X, y = noise()
    X[y == "no"] = 0.25
    model = fitted([Step("qda", (("shrinkage", 0.02),))], X[:, :2], y)
    assert np.isfinite(model.predict_proba(X[:, :2])).all()
    assert model.score(X[:, :2], y) > 0.9
    model = fitted([Step("qda", (("shrinkage", 0.02),))], np.ones((ROWS, 1)), y)
    assert len(model.predict(np.ones((2, 1)))) == 2


def test_there_are_no_more_bins_than_rows():
    X, y = noise()
    values = (("n_bins", 50), ("strategy", "kmeans"))
    model = fitted([Step("k_bins_discretizer", values), MODEL], X[:20], y[:20])
    assert model.steps[0][1].n_bins == 20
