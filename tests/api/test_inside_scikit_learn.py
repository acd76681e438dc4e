"""The estimators inside scikit-learn's own: ensembles, searches, calibration, pipelines."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_classification
from sklearn.ensemble import (
    BaggingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from automl_admm import AutoMLClassifier, AutoMLRegressor

QUICK = {
    "grammar": "tiny",
    "cv": 2,
    "max_evaluations": 1,
    "theta_solver": "random",
    "executor": "inline",
    "random_state": 0,
}


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=90), "b": rng.choice(["u", "v"], 90)})
    X.loc[3, "a"] = np.nan
    return X, np.where(X["a"].fillna(0) * 3 + (X["b"] == "u") + rng.normal(size=90) > 0.5, "y", "n")


@pytest.fixture(scope="module")
def numbers() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=80) / 5


@pytest.fixture
def classifier() -> AutoMLClassifier:
    return AutoMLClassifier(**QUICK)


@pytest.fixture
def regressor() -> AutoMLRegressor:
    return AutoMLRegressor(**QUICK)


def test_it_is_calibrated(classifier: AutoMLClassifier, table: Any) -> None:
    X, y = table
    for ensemble in (True, False):
        model = CalibratedClassifierCV(classifier, cv=2, ensemble=ensemble).fit(X, y)
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)
        assert model.score(X, y) > 0.6


def test_it_is_stacked_and_votes(classifier: AutoMLClassifier, table: Any) -> None:
    X, y = table
    two = [("one", classifier), ("other", AutoMLClassifier(**QUICK | {"random_state": 1}))]
    stack = StackingClassifier(two, final_estimator=LogisticRegression(), cv=2).fit(X, y)
    assert stack.score(X, y) > 0.6
    for voting in ("hard", "soft"):
        assert VotingClassifier(two, voting=voting).fit(X, y).score(X, y) > 0.6


def test_a_regressor_is_stacked_and_votes(regressor: AutoMLRegressor, numbers: Any) -> None:
    X, y = numbers
    two = [("one", regressor), ("ridge", Ridge())]
    assert StackingRegressor(two, final_estimator=Ridge(), cv=2).fit(X, y).score(X, y) > 0.8
    assert VotingRegressor(two).fit(X, y).score(X, y) > 0.8
    changed = TransformedTargetRegressor(regressor, func=np.sinh, inverse_func=np.arcsinh)
    assert changed.fit(X, np.arcsinh(y)).score(X, np.arcsinh(y)) > 0.5
    assert MultiOutputRegressor(regressor).fit(X, np.c_[y, -y]).predict(X).shape == (80, 2)


def test_it_is_bagged_thresholded_and_one_of_many(classifier: AutoMLClassifier, table: Any) -> None:
    X, y = table
    bag = BaggingClassifier(classifier, n_estimators=2, random_state=0)
    assert bag.fit(X[["a"]].fillna(0), y).score(X[["a"]].fillna(0), y) > 0.6
    tuned = TunedThresholdClassifierCV(
        classifier, cv=2, thresholds=5, scoring="balanced_accuracy"
    ).fit(X, y)
    assert set(tuned.predict(X)) <= {"n", "y"}
    three = np.where(X["a"].fillna(0) > 1, "z", y)
    assert set(OneVsRestClassifier(classifier).fit(X, three).predict(X)) <= {"n", "y", "z"}


def test_it_is_cross_validated_by_many_metrics(classifier: AutoMLClassifier, table: Any) -> None:
    X, y = table
    metrics = {"auc": "roc_auc", "loss": "neg_log_loss", "accuracy": "accuracy"}
    found = cross_validate(
        classifier, X, y, cv=2, scoring=metrics, return_estimator=True, return_train_score=True
    )
    assert found["test_auc"].shape == (2,)
    assert np.isfinite(found["test_loss"]).all()
    assert [len(one.feature_names_in_) for one in found["estimator"]] == [2, 2]
    assert cross_val_predict(classifier, X, y, cv=2, method="predict_proba").shape == (90, 2)


def test_its_parameters_are_searched(classifier: AutoMLClassifier, table: Any) -> None:
    grid = {"max_evaluations": [1, 2], "constraints": [(), ["columns <= 1"]]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = GridSearchCV(classifier.set_params(on_infeasible="closest"), grid, cv=2)
        search.fit(*table)
    assert search.best_params_.keys() == grid.keys()
    assert search.best_estimator_.n_evaluations_ in (1, 2)


def test_it_is_the_last_step_of_a_pipeline(table: Any, numbers: Any) -> None:
    X, y = table
    drop = FunctionTransformer(lambda frame: frame.drop(columns="b"))
    model = Pipeline([("drop", drop), ("search", AutoMLClassifier(**QUICK))]).fit(X, y)
    assert list(model["search"].feature_names_in_) == ["a"]
    assert model.set_params(search__max_evaluations=2)["search"].max_evaluations == 2
    scaled = make_pipeline(StandardScaler(), AutoMLRegressor(**QUICK)).set_output(
        transform="pandas"
    )
    scaled.fit(*numbers)
    assert list(scaled[-1].feature_names_in_) == ["x0", "x1", "x2"]
    assert scaled.score(*numbers) > 0.8


def test_log_probabilities_are_logarithms(classifier: AutoMLClassifier, table: Any) -> None:
    X, y = table
    fitted = classifier.fit(X, y)
    assert np.exp(fitted.predict_log_proba(X)) == pytest.approx(fitted.predict_proba(X))
    assert fitted.predict_log_proba(X.head(1)).shape == (1, 2)


def test_log_probabilities_are_there_only_with_probabilities(table: Any) -> None:
    start = "impute() standard_scaler() linear_svm()"
    asked = QUICK | {"grammar": "default", "scoring": "accuracy", "starts": start}
    fitted = AutoMLClassifier(**asked, constraints=["columns <= 20"]).fit(*table)
    assert not hasattr(fitted, "predict_proba")
    assert not hasattr(fitted, "predict_log_proba")
    assert hasattr(fitted, "decision_function")


@pytest.mark.parametrize("kind", [AutoMLClassifier, AutoMLRegressor])
def test_names_and_number_of_columns(kind: Any, numbers: Any) -> None:
    X, y = numbers
    target = y > 0 if kind is AutoMLClassifier else y
    plain = kind(**QUICK).fit(X, target)
    assert plain.n_features_in_ == 3
    assert not hasattr(plain, "feature_names_in_")
    named = kind(**QUICK).fit(pd.DataFrame(X, columns=list("abc")), target)
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    assert named.n_features_in_ == 3
    with pytest.raises(ValueError, match="expecting 3 features"):
        plain.predict(X[:, :2])
    with pytest.raises(ValueError, match="feature names"):
        named.predict(pd.DataFrame(X, columns=list("abd")))
    assert is_classifier(plain) is (kind is AutoMLClassifier)
    assert is_regressor(plain) is (kind is AutoMLRegressor)


def test_a_copy_by_pickle_predicts_the_same_and_reports_the_same(
    classifier: AutoMLClassifier, table: Any
) -> None:
    X, y = table
    fitted = classifier.set_params(constraints=["columns <= 2"], time_budget="60s").fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert (again.predict_proba(X) == fitted.predict_proba(X)).all()
    pd.testing.assert_frame_equal(again.leaderboard(), fitted.leaderboard())
    assert again._repr_html_()
    fresh = clone(again)
    assert fresh.get_params() == fitted.get_params()
    assert fresh.time_budget == "60s"
    assert not hasattr(fresh, "n_features_in_")


def test_scikit_learns_own_importances_agree(regressor: AutoMLRegressor, numbers: Any) -> None:
    X, y = numbers
    fitted = regressor.fit(X, y)
    ours = fitted.permutation_importances(X, y, random_state=0)
    theirs = permutation_importance(fitted, X, y, random_state=0)
    assert fitted.feature_importances_ == pytest.approx(theirs.importances_mean)
    assert ours["std"].to_numpy() == pytest.approx(
        theirs.importances_std[ours.index.to_numpy(dtype=int)]
    )


def test_a_model_without_probabilities_says_how_to_get_them(tmp_path: Path) -> None:
    grammar = tmp_path / "margins.lark"
    grammar.write_text("start: linear_svm\n%import components (linear_svm)\n", encoding="utf-8")
    X, y = make_classification(80, random_state=0)
    settings: dict[str, Any] = {
        "max_evaluations": 1,
        "cv": 2,
        "executor": "inline",
        "scoring": "roc_auc",
        # Beside a limit on costs no probabilities are made of scores.
        "constraints": ["columns <= 20"],
    }
    search = AutoMLClassifier(grammar, **settings).fit(X, y)
    assert not hasattr(search, "predict_proba")
    with pytest.raises(AttributeError) as refused:
        search.predict_proba(X)
    assert "With scoring='neg_log_loss' only a pipeline with probabilities" in str(
        refused.value.__cause__
    )


class OfTwo(AutoMLClassifier):
    """A class of a user's own, with parameters of its own."""

    def __init__(self, level: int = 1) -> None:
        super().__init__(**QUICK)
        self.level = level


class OfMany(AutoMLClassifier):
    """One that may be cancelled, too."""

    def __init__(self, level: int = 1, *, cancel: Any = None) -> None:
        super().__init__(**QUICK, cancel=cancel)
        self.level = level


def test_a_class_of_ones_own_is_cloned_by_its_own_parameters(table: Any) -> None:
    assert clone(OfTwo(level=2)).get_params() == {"level": 2}
    event = Event()
    assert clone(OfMany(level=2, cancel=event)).get_params() == {"level": 2, "cancel": event}
    assert len(cross_validate(OfTwo(level=2), *table, cv=2)["test_score"]) == 2
