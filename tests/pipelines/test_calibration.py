"""Probabilities in the order of the scores: better, or there at all, and no decision changes."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier

from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.as_code import code_of, without_thresholds
from automl_admm.pipelines.calibrated import without_calibration
from automl_admm.pipelines.calibration import Calibration, _Rows, fit_sigmoid, sigmoid
from automl_admm.pipelines.ensembles.task import evaluate_predictions
from automl_admm.pipelines.thresholds.by_group import CALIBRATION, thresholds_in
from automl_admm.pipelines.thresholds.path import DecisionPath
from automl_admm.pipelines.work import PipelineWork
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

ROWS = 400


def rows(labels: tuple[Any, Any] = ("no", "yes")) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    positive = rng.random(ROWS) < 0.3
    X = pd.DataFrame({"a": rng.normal(size=ROWS) + positive, "b": rng.normal(size=ROWS)})
    X["sex"] = np.where(rng.random(ROWS) < 0.3 + 0.3 * positive, "m", "f")
    return X, np.where(positive, labels[1], labels[0])


def work(
    last: str,
    folder: Path,
    *constraints: str,
    labels: tuple[Any, Any] = ("no", "yes"),
    scoring: str = "roc_auc",
    **more: Any,
) -> PipelineWork:
    grammar = folder / f"{last}.lark"
    used = f"%import components (impute, standard_scaler, {last})"
    grammar.write_text(f"{used}\nstart: impute standard_scaler {last}\n")
    config = RunConfig(
        grammar=str(grammar),
        constraints=constraints,
        scoring=scoring,
        max_evaluations=1,
        executor="inline",
        cv=3,
        **more,
    )
    return prepare(config, *rows(labels)).work


def judged(used: PipelineWork, folder: Path) -> EvaluationResult:
    return used.evaluate(default_start(used.space.space), 0, folder)


def shipped(used: PipelineWork, found: EvaluationResult, folder: Path) -> Any:
    used.refit(default_start(used.space.space), 0, folder, **thresholds_in(found.details))
    return pickle.loads((folder / "model.pickle").read_bytes())


# --- the two numbers -----------------------------------------------------------------------------


@given(
    slope=st.floats(0.05, 3.0),
    offset=st.floats(-1.0, 1.0),
    size=st.sampled_from([1e-6, 1.0, 1e6]),
    place=st.sampled_from([0.0, -50.0]),
)
def test_the_numbers_are_where_the_likelihood_is_flat(
    slope: float, offset: float, size: float, place: float
) -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(size=500)
    y = (rng.random(500) < sigmoid(slope * scores + offset)).astype(int)
    moved = scores * size + place * size
    found = fit_sigmoid(moved, y)
    if found is None:
        # A slope that is too small to be seen may be fitted as negative.
        assert slope < 0.4
        return
    chances = sigmoid(found[0] * moved + found[1])
    positive = y.sum()
    targets = np.where(y == 1, (positive + 1) / (positive + 2), 1 / (500 - positive + 2))
    assert (chances - targets).sum() == pytest.approx(0, abs=1e-3)
    assert ((chances - targets) * scores).sum() == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("scores", "y"),
    [
        (np.ones(10), np.arange(10) % 2),
        (np.full(10, 0.3), np.arange(10) % 2),
        (np.arange(10.0), np.zeros(10)),
        (np.arange(10.0), (np.arange(10) < 5).astype(int)),
    ],
    ids=["all alike", "alike but for rounding", "one class", "the wrong way round"],
)
def test_scores_that_tell_nothing_have_no_numbers(scores: Any, y: Any) -> None:
    assert fit_sigmoid(scores, y) is None


def test_separable_and_far_scores_keep_their_order() -> None:
    scores = np.array([-3e5, -2.0, -1.0, 1.0, 2.0, 2e5])
    found = fit_sigmoid(scores, (scores > 0).astype(int))
    assert found is not None
    assert (np.abs(found[0] * scores) <= 31).all()
    separable = np.linspace(-1, 1, 50)
    numbers = fit_sigmoid(separable, (separable > 0).astype(int))
    assert numbers is not None
    chances = Calibration(*numbers, "decision_function").chances(separable)
    assert len(np.unique(chances)) == 50
    assert (chances > 0).all()
    assert (chances < 1).all()


class Known(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted model; its scores are of the last of its sorted labels."""

    classes_ = np.array(["no", "yes"])

    def fit(self, X: Any, y: Any) -> Known:
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[(np.asarray(X)[:, 0] > 0).astype(int)]


class Scoring(Known):
    def decision_function(self, X: Any) -> Any:
        return np.asarray(X)[:, 0]


class Probable(Known):
    def predict_proba(self, X: Any) -> Any:
        yes = sigmoid(np.asarray(X)[:, 0])
        return np.column_stack([1 - yes, yes])


@pytest.mark.parametrize("method", ["decision_function", "predict_proba"])
@pytest.mark.parametrize("classes", [["no", "yes"], ["yes", "no"]], ids=["sorted", "turned"])
def test_the_probability_is_of_the_positive_class_whichever_is_sorted_last(
    method: str, classes: list[str]
) -> None:
    X = np.linspace(-2, 2, 9)[:, None]
    inner = Probable() if method == "predict_proba" else Scoring()
    model = Calibration(0.7, 0.2, method).around(inner, np.array(classes))
    scores = sigmoid(X[:, 0]) if method == "predict_proba" else X[:, 0]
    if classes[-1] == "no":
        scores = 1 - scores if method == "predict_proba" else -scores
    place = list(model.classes_).index(classes[-1])
    assert model.predict_proba(X)[:, place] == pytest.approx(sigmoid(0.7 * scores + 0.2))


# --- evaluations and what ships ------------------------------------------------------------------


@pytest.mark.parametrize("labels", [("no", "yes"), (1, 0)], ids=["text", "turned numbers"])
@pytest.mark.parametrize("limits", [(), ("fpr <= 0.1",)])
def test_scores_become_probabilities_and_every_decision_stays(
    labels: tuple[Any, Any], limits: tuple[str, ...], tmp_path: Path, monkeypatch: Any
) -> None:
    asked = {"labels": labels, "positive": str(labels[1])}
    used = work("linear_svm", tmp_path, *limits, **asked)
    found = judged(used, tmp_path)
    assert set(found.details[CALIBRATION]) == {"slope", "offset", "response"}
    model = shipped(used, found, tmp_path)
    with monkeypatch.context() as patched:
        name = "automl_admm.pipelines.cross_validation.calibrate"
        patched.setattr(name, lambda _work, _seen, _decided, found: found)
        plain = judged(used, tmp_path)
        raw = shipped(used, plain, tmp_path)
    assert CALIBRATION not in plain.details
    assert (found.loss, found.constraints) == (plain.loss, plain.constraints)
    assert found.details["decisions"] == plain.details["decisions"]
    X, y = rows(labels)
    assert not hasattr(raw, "predict_proba")
    assert (model.predict(X) == raw.predict(X)).all()
    place = list(model.classes_).index(labels[1])
    chances, sign = model.predict_proba(X)[:, place], 1 if place else -1
    assert roc_auc_score(y == labels[1], chances) == roc_auc_score(
        y == labels[1], sign * raw.decision_function(X)
    )
    assert log_loss(y == labels[1], chances) < 0.6
    called = np.asarray(model.predict(X)) == labels[1]
    assert (called == (chances >= found.details["threshold"])).all()


def of_two_neighbours(positive: str, folder: Path, *limits: str) -> PipelineWork:
    """Many chances are one half."""
    grammar = folder / "two.lark"
    step = '"k_neighbors" "(" "n_neighbors" "=" "2" "," "weights" "=" "uniform" ")"'
    used = "%import components (impute, k_neighbors)"
    grammar.write_text(f"{used}\nstart: impute k\nk: {step}\n")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.normal(size=600) for name in "abc"})
    is_first = rng.random(600) < sigmoid(1.5 * X["a"] + X["b"])
    config = RunConfig(
        grammar=str(grammar),
        constraints=limits,
        scoring="accuracy",
        positive=positive,
        max_evaluations=1,
        executor="inline",
        cv=3,
    )
    return prepare(config, X, np.where(is_first, "no", "yes")).work


def ties_called(model: Any) -> set[Any]:
    X = pd.DataFrame(np.random.default_rng(1).normal(size=(600, 3)), columns=list("abc"))
    chances = without_calibration(without_thresholds(model))[0].predict_proba(X)
    is_tie = chances[:, 0] == 0.5
    assert is_tie.sum() > 50
    return set(np.asarray(model.predict(X))[is_tie])


@pytest.mark.parametrize("positive", ["no", "yes"])
@pytest.mark.parametrize("limits", [(), ("recall >= 0.9 * baseline",)], ids=["plain", "limit"])
def test_ties_are_decided_as_they_were_validated(
    positive: str, limits: tuple[str, ...], tmp_path: Path
) -> None:
    used = of_two_neighbours(positive, tmp_path, *limits)
    found = judged(used, tmp_path)
    assert CALIBRATION in found.details
    assert ties_called(shipped(used, found, tmp_path)) == {"no"}


def test_decisions_that_no_threshold_makes_are_not_calibrated(tmp_path: Path) -> None:
    used = of_two_neighbours("yes", tmp_path)
    model = used.fit_on(default_start(used.space.space), 0, used.table)
    rows = _Rows.of([used.measure(model, used.table, 0.0)])
    assert rows is not None
    calibration = Calibration(4.0, -2.0, "predict_proba")
    assert rows.moved({}, calibration) is not None
    odd = replace(rows, called=rows.called ^ (np.arange(len(rows.y)) % 7 == 0))
    assert odd.moved({}, calibration) is None


def test_a_gain_that_is_no_noise_but_of_no_use_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    scores = rng.normal(size=300_000)
    chances = sigmoid(scores)
    y = (rng.random(300_000) < sigmoid(1.05 * scores)).astype(int)
    last = "decision_function", "predict_proba", chances > 0.5, np.array(["no", "yes"])
    hardly = _Rows(y, chances, scores, *last)
    assert hardly.calibration(repeats=1.0) is None
    much = _Rows(y, sigmoid(2 * scores), 2 * scores, *last)
    found = much.calibration(repeats=1.0)
    assert found is not None
    assert found.slope == pytest.approx(0.525, abs=0.02)


def test_what_two_numbers_gain_by_chance_changes_nothing() -> None:
    rng = np.random.default_rng(1)
    chances = rng.uniform(0.1, 0.9, 40)
    y = (rng.random(40) < chances).astype(int)
    last = "predict_proba", "predict_proba", chances > 0.5, np.array(["no", "yes"])
    assert _Rows(y, chances, chances, *last).calibration(repeats=1.0) is None


def test_one_row_that_was_held_for_impossible_does_not_hide_the_gain() -> None:
    """Trees that are grown to the end say 0 and 1: the log loss of one such row is 36."""
    rng = np.random.default_rng(0)
    chances = rng.random(500)
    y = (rng.random(500) < 0.2 + 0.6 * chances).astype(int)
    y[0], chances[0] = 1, 0.0
    last = "predict_proba", "predict_proba", chances > 0.5, np.array(["no", "yes"])
    found = _Rows(y, chances, chances, *last).calibration(repeats=1.0)
    assert found is not None
    assert found.chances(np.zeros(1))[0] == pytest.approx(0.2, abs=0.05)


def test_poor_probabilities_become_better_and_good_ones_stay(tmp_path: Path) -> None:
    """Copies of a column make naive Bayes far too sure."""
    X, y = rows()
    X = pd.DataFrame({f"a{n}": X["a"] for n in range(3)})
    config = RunConfig(
        grammar="start: gaussian_nb\n%import components (gaussian_nb)\n",
        max_evaluations=1,
        executor="inline",
        cv=3,
    )
    (tmp_path / "nb.lark").write_text(str(config.grammar))
    used = prepare(replace(config, grammar=str(tmp_path / "nb.lark")), X, y).work
    found = judged(used, tmp_path)
    model = shipped(used, found, tmp_path)
    inner = model.estimator_.estimator.estimators[0][1].estimator
    better, worse = (log_loss(y == "yes", one.predict_proba(X)[:, 1]) for one in (model, inner))
    assert better < 0.6 < worse
    assert CALIBRATION not in judged(work("logistic_regression", tmp_path), tmp_path).details


@pytest.mark.parametrize(
    ("limits", "scoring"),
    [(("brier <= 0.9",), "roc_auc"), ((), "neg_log_loss"), (("columns <= 9",), "roc_auc")],
    ids=["a limit on them", "the metric", "a limit on costs"],
)
def test_probabilities_that_were_measured_stay(
    limits: tuple[str, ...], scoring: str, tmp_path: Path
) -> None:
    used = work("gaussian_nb", tmp_path, *limits, scoring=scoring)
    y, (X, _) = used.table.y, rows()
    sure = np.where(y == 1, 0.9999, 0.0001)
    sure[::5] = 1 - sure[::5]
    order = np.concatenate([valid for _, valid in used.splits])
    given = np.column_stack([1 - sure, sure])[order] + np.linspace(0, 1e-5, len(X))[:, None]
    given = given / given.sum(axis=1, keepdims=True)
    assert CALIBRATION not in evaluate_predictions(used, given).details
    plain = work("gaussian_nb", tmp_path)
    assert CALIBRATION in evaluate_predictions(plain, given).details


def test_the_stops_of_a_certificate_and_the_thresholds_of_groups_move_along(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = work("linear_svm", tmp_path, "fpr_gap[sex] <= 0.05", group_thresholds=True)
    used.certifies = True
    found = judged(used, tmp_path)
    with monkeypatch.context() as patched:
        name = "automl_admm.pipelines.cross_validation.calibrate"
        patched.setattr(name, lambda _work, _seen, _decided, found: found)
        plain = judged(used, tmp_path)
    calibration = Calibration.from_details(found.details[CALIBRATION])
    ours, theirs = (DecisionPath.from_details(one.details) for one in (found, plain))
    assert ours is not None
    assert theirs is not None
    assert len(ours.stops) == len(theirs.stops) > 5
    assert set(found.details["group_thresholds"]) == {"f", "m"}
    moved = [one.thresholds.by_group.get("f", one.thresholds.single) for one in ours.stops]
    before = [one.thresholds.by_group.get("f", one.thresholds.single) for one in theirs.stops]
    assert np.argsort(moved).tolist() == np.argsort(before).tolist()
    inside = np.isfinite(before)
    assert np.array(moved)[inside] == pytest.approx(
        calibration.chances(np.array(before)[inside]), abs=0.02
    )
    assert json.loads(json.dumps(found.details[CALIBRATION])) == found.details[CALIBRATION]


def test_the_code_of_a_calibrated_model_is_that_of_the_one_inside(tmp_path: Path) -> None:
    used = work("linear_svm", tmp_path)
    model = shipped(used, judged(used, tmp_path), tmp_path)
    assert isinstance(model, FixedThresholdClassifier)
    code = code_of(model)
    assert code.problem == ""
    assert "StackingClassifier" not in code.pipeline + code.thresholds
    slope, _, response = code.calibration.split(", ")
    assert float(slope) > 0
    assert response == '"decision_function"'
