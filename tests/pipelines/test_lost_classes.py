"""Rows to learn from without one of the classes: the others keep their places in all answers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import LinearSVC

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import NotCertifiedError
from automl_admm.pipelines.ensembles.all_classes import AllClasses, knowing_all

ROWS, LATE = 600, 500
RNG = np.random.default_rng(3)
X = pd.DataFrame(RNG.normal(size=(ROWS, 3)), columns=list("abc"))
OLD = np.where(X.a > 0.3, "b", np.where(X.b > 0, "c", "d")).astype(object)
IS_NEW = (np.arange(ROWS) >= LATE) & (RNG.random(ROWS) < 0.3)
Y = np.where(IS_NEW, "a new one", OLD)
TRAIN, VALID = np.arange(LATE), np.arange(LATE, ROWS)


def search(*limits, **settings):
    fixed = {"grammar": "tiny", "max_evaluations": 1, "executor": "inline", "random_state": 1}
    chosen = fixed | {"scoring": "accuracy", "ensemble": False, "constraints": limits} | settings
    return AutoMLClassifier(**chosen)


@pytest.mark.parametrize("label", ["b", "c", "d"])
def test_a_limit_on_one_class_is_measured_by_its_own_scores(label):
    """Read by its place among all classes, the column was that of the next one."""
    limits = f'auc{{class="{label}"}} >= 0.1', f'recall{{class="{label}"}} >= 0.1'
    found = search(*limits, cv=[(TRAIN, VALID)]).fit(X, Y)
    model = clone(found.best_pipeline_).fit(X.iloc[TRAIN], Y[TRAIN])
    chances = model.predict_proba(X.iloc[VALID])[:, list(model.classes_).index(label)]
    is_own = Y[VALID] == label
    told = {name: values[0] for name, values in found.cv_results_.items() if "class=" in name}
    auc, recall = told.values()
    assert auc == pytest.approx(roc_auc_score(is_own, chances))
    assert recall == pytest.approx((model.predict(X.iloc[VALID])[is_own] == label).mean())


@pytest.mark.parametrize(
    "limit", ["macro_recall >= 0.1", 'confusion{true="b",predicted="c"} <= 0.9']
)
def test_all_classes_together_are_measured(limit):
    found = search(limit, cv=[(TRAIN, VALID)]).fit(X, Y)
    assert np.isfinite(found.best_score_)


def test_folds_that_lack_a_class_and_folds_that_do_not_go_together():
    splits = [(np.arange(300), np.arange(300, LATE)), (np.arange(550), np.arange(550, ROWS))]
    found = search('recall{class="c"} >= 0.1', cv=splits, max_evaluations=2).fit(X, Y)
    assert set(found.cv_results_["status"]) == {"success"}


def test_labels_of_one_row_each_are_errors_in_a_certificate():
    """Scores by folds leave them out, so the search is within the limit, and new rows are not."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": np.repeat([0.0, 1.0], 1000)})
    y = np.where(table.x > 0, "high", "low").astype(object)
    alone = rng.permutation(len(y))[:200]
    y[alone] = [f"typo {row}" for row in alone]
    with (
        pytest.warns(UserWarning, match="200 classes of one row each, such as 'typo"),
        pytest.raises(NotCertifiedError, match=r"error <= 0\.06"),
    ):
        search("error <= 0.06", certify=0.95).fit(table, y)
    with pytest.warns(UserWarning, match="classes of one row"):
        found = search("error <= 0.2", certify=0.95, random_state=2).fit(table, y)
    assert set(found.classes_) == set(y)
    assert found.predict_proba(table.head(3)).sum(axis=1) == pytest.approx(np.ones(3))
    (finding,) = found.certificate_.findings
    assert finding.bound > 0.1


@pytest.mark.parametrize("known", [["b", "c"], ["b", "c", "d"]])
def test_scores_of_unknown_classes_come_last(known):
    rows = np.isin(OLD, known)
    fitted = LinearSVC().fit(X[rows], OLD[rows])
    model = knowing_all(fitted, ["a", "b", "c", "d"])
    assert isinstance(model, AllClasses)
    assert not hasattr(model, "predict_proba")
    scores = model.decision_function(X)
    assert (model.classes_[scores.argmax(axis=1)] == fitted.predict(X)).all()
    assert (model.predict(X) == fitted.predict(X)).all()
    assert (scores[:, 0] < scores[:, 1:3].min(axis=1)).all()


def test_a_model_of_all_classes_stays_as_it_is():
    fitted = LogisticRegression().fit(X, OLD)
    assert knowing_all(fitted, ["b", "c", "d"]) is fitted
    assert knowing_all(fitted, None) is fitted


@pytest.mark.parametrize("scoring", ["neg_log_loss", "d2_log_loss_score"])
def test_a_metric_of_probabilities_knows_the_class_that_is_lacking(scoring):
    found = search(scoring=scoring, cv=[(TRAIN, VALID)]).fit(X, Y)
    assert np.isfinite(found.best_score_)


@pytest.mark.parametrize("seed", range(4))
def test_a_class_that_is_set_aside_alone_has_a_log_loss(seed):
    y = OLD.copy()
    y[seed] = "typo"
    settings = {"certify": 0.9, "scoring": "neg_log_loss", "random_state": seed}
    with pytest.warns(UserWarning, match="a class of one row"):
        found = search("error <= 0.6", **settings).fit(X, y)
    assert "typo" in found.classes_


def test_of_one_class_all_is_certain():
    fitted = HistGradientBoostingClassifier(max_iter=2).fit(X.head(50), np.full(50, "b"))
    model = knowing_all(fitted, ["a", "b"])
    assert (model.predict_proba(X) == [0.0, 1.0]).all()
