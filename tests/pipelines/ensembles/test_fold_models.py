"""Fold models: kept by a rule, the same when fitted anew, and averaged class by class."""

from __future__ import annotations

import io
import math
import pickle
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import Pipeline

from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.limits import Limit
from automl_admm.core.results import EvaluationResult
from automl_admm.data.row_roles import Roles
from automl_admm.data.time_splits import forward_folds
from automl_admm.pipelines.as_code import code_of
from automl_admm.pipelines.ensembles.all_classes import AllClasses
from automl_admm.pipelines.ensembles.fold_models import MODELS, FoldModels, Keeping
from automl_admm.pipelines.fit_results import FinalFitResult
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.shipping import PICKLE
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.model_file import OUR_TYPES, trusted_types
from automl_admm.runs.finish.ways import describe_folds
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.search.starts import default_start

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.normal(size=(90, 3)), columns=list("abc"))
NUMBERS = X.sum(axis=1).to_numpy() + 0.3 * RNG.normal(size=90)
THREE = np.array(["low", "mid", "top"])[np.digitize(NUMBERS, [-0.7, 0.7])]
GRAMMAR = "%import components (decision_tree)\n\nstart: decision_tree\n"


def work_of(folder: Path, y: Any = THREE, **options: Any) -> PipelineWork:
    path = folder / "trees.lark"
    path.write_text(GRAMMAR)
    is_number = y.dtype.kind == "f"
    known = {
        "executor": "inline",
        "max_evaluations": 1,
        "cv": 3,
        "task": "regression" if is_number else "classification",
    }
    config = RunConfig(grammar=path, **(known | options))
    return prepare(config, X, y).work


def with_roles(work: PipelineWork, roles: Roles) -> PipelineWork:
    known = work.table
    return replace(work, table=Table(known.X, known.y, known.classes, roles=roles))


def evaluated(work: PipelineWork, folder: Path, keeping: Keeping | None = None) -> Any:
    folder.mkdir(exist_ok=True)
    return work.evaluate(default_start(work.space.space), 0, folder, keeping=keeping)


def shipped(work: PipelineWork, folder: Path, content: bytes | None) -> tuple[Any, FinalFitResult]:
    folder.mkdir()
    found = work.fit_folds(default_start(work.space.space), 0, folder, models=content)
    return pickle.loads((folder / PICKLE).read_bytes()), found


def assert_learned(model: Any, y: Any, rows: Any, weights: Any = None) -> None:
    """A model is what a fit on these rows alone would be."""
    again = clone(model)
    again.steps[-1][1].fit(X.iloc[rows], y[rows], sample_weight=weights)
    answers = ("predict_proba",) if y.dtype.kind == "U" else ("predict",)
    for name in answers:
        assert (getattr(again.steps[-1][1], name)(X) == getattr(model, name)(X)).all()


def test_kept_models_and_those_fitted_anew_are_the_same_mean(tmp_path: Path) -> None:
    work = work_of(tmp_path)
    found = evaluated(work, tmp_path / "one", Keeping())
    content = (tmp_path / "one" / MODELS).read_bytes()
    assert list(found.files) == [MODELS]
    assert EvaluationResult.from_json(found.as_json()) == found
    kept, told = shipped(work, tmp_path / "kept", content)
    anew, _ = shipped(work, tmp_path / "anew", None)
    assert isinstance(kept, VotingClassifier)
    assert kept.weights == [1, 1, 1]
    answers = kept.predict_proba(X)
    assert (answers == anew.predict_proba(X)).all()
    by_hand = np.mean([one.predict_proba(X) for one in kept.estimators_], axis=0)
    assert answers == pytest.approx(by_hand)
    for (train, _), model in zip(work.splits, kept.estimators_, strict=True):
        assert_learned(model, THREE, train)
    assert told.fit_seconds > 0
    assert code_of(kept).pipeline.count("DecisionTreeClassifier(") == 3


def test_a_class_that_a_fold_lacks_keeps_its_column(tmp_path: Path) -> None:
    rows = np.arange(90)
    tops = np.flatnonzero(THREE == "top")
    cv = [(np.setdiff1d(rows, tops), tops), (rows[10:], rows[:10])]
    work = work_of(tmp_path, cv=cv, scoring="accuracy")
    model, _ = shipped(work, tmp_path / "out", None)
    lacking, whole = model.estimators_
    assert isinstance(lacking, AllClasses)
    assert list(lacking.estimator_.classes_) == ["low", "mid"]
    found = model.predict_proba(X)
    assert list(model.classes_) == ["low", "mid", "top"]
    assert found.sum(axis=1) == pytest.approx(np.ones(90))
    expected = whole.predict_proba(X) / 2
    expected[:, :2] += lacking.estimator_.predict_proba(X) / 2
    assert found == pytest.approx(expected)
    assert set(model.predict(X)) <= set(THREE)
    file = io.BytesIO()
    skops.io.dump(model, file)
    trusted = sorted(trusted_types(load_plugins()))
    assert any(name.endswith("AllClasses") for name in OUR_TYPES)
    again = skops.io.loads(file.getvalue(), trusted=trusted)
    assert (again.predict_proba(X) == found).all()
    anew = clone(model).fit(X, THREE)
    assert set(anew.predict(X)) == set(THREE)


def test_a_regression_is_averaged_and_weights_count(tmp_path: Path) -> None:
    work = work_of(tmp_path, NUMBERS)
    weights = 1.0 + 5.0 * (NUMBERS > 0)
    work = with_roles(work, Roles(weights=weights))
    model, _ = shipped(work, tmp_path / "out", None)
    assert isinstance(model, VotingRegressor)
    by_hand = np.mean([one.predict(X) for one in model.estimators_], axis=0)
    assert model.predict(X) == pytest.approx(by_hand)
    train, _ = work.splits[0]
    assert_learned(model.estimators_[0], NUMBERS, train, weights[train])


def test_in_the_order_of_time_the_last_model_ships_alone(tmp_path: Path) -> None:
    work = work_of(tmp_path)
    folds = forward_folds(np.arange(90), 3)
    work = replace(with_roles(work, Roles(times=np.arange(90))), splits=folds)
    model, _ = shipped(work, tmp_path / "out", None)
    assert isinstance(model, Pipeline)
    assert_learned(model, THREE, folds[-1][0])
    told = describe_folds(work, "it is late")
    rows = len(folds[-1][0])
    assert str(told) == f"the model of one fold, learned from {rows} of 90 rows: it is late"


def test_of_a_holdout_the_only_model_ships_as_it_is(tmp_path: Path) -> None:
    work = work_of(tmp_path, cv=0.25)
    model, _ = shipped(work, tmp_path / "out", None)
    assert isinstance(model, Pipeline)
    assert_learned(model, THREE, work.splits[0][0])


def classifiers(*made: Any) -> FoldModels:
    return FoldModels(tuple(one.fit(X, THREE) for one in made), 1.0, 1.0)


def test_without_probabilities_there_is_no_mean() -> None:
    two = classifiers(RidgeClassifier(), RidgeClassifier())
    assert not two.has_mean
    with pytest.raises(InvalidOutcome, match="no mean of its fold models"):
        two.together(np.unique(THREE))
    one = classifiers(RidgeClassifier())
    assert one.has_mean
    assert one.together(np.unique(THREE)) is one.models[0]


def test_what_is_too_large_or_cannot_be_pickled_is_not_kept(tmp_path: Path) -> None:
    models, path = classifiers(LogisticRegression(), LogisticRegression()), tmp_path / MODELS
    assert models.write(path, 100_000)
    size = path.stat().st_size
    assert models.write(path, size)
    assert not models.write(path, size - 1)
    assert not path.exists()
    models.models[0].lock = threading.Lock()
    assert not models.write(path, 100_000)
    assert not path.exists()
    assert not models.write(tmp_path / "none" / MODELS, 100_000)


def test_only_the_best_so_far_keeps_its_models(tmp_path: Path) -> None:
    limits = [Limit("size", 2.0)]

    def wants(loss: float, size: float, best: float = 0.3) -> bool:
        return Keeping(best).wants(EvaluationResult(loss, (size,)), limits)

    assert wants(0.2, 1.0)
    assert not wants(0.4, 1.0)
    assert not wants(0.2, 3.0)
    assert wants(0.4, 3.0, best=math.inf)
    work = work_of(tmp_path)
    found = evaluated(work, tmp_path / "worse", Keeping(-1.0))
    assert found.files == {}
    assert not (tmp_path / "worse" / MODELS).exists()
    found = evaluated(work, tmp_path / "large", Keeping(most_bytes=10))
    assert found.files == {}
