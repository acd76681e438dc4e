"""The parts of models of every form that may ship."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from automl_admm.pipelines.ensembles.all_classes import AllClasses
from automl_admm.pipelines.ensembles.voting import vote
from automl_admm.pipelines.model_parts import count_parts
from automl_admm.pipelines.stacking import StackedPredictions
from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier
from automl_admm.plugins.model_parts import ModelParts

ROWS, COLUMNS = 90, 4
X = np.random.default_rng(0).normal(size=(ROWS, COLUMNS))
TWO = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)
THREE = TWO + (X[:, 2] > 0)
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def counted(model: Any, y: Any = TWO) -> ModelParts:
    return count_parts(model.fit(X, y))


def steps(*models: Any) -> Pipeline:
    return Pipeline([(str(place), one) for place, one in enumerate(models)])


@pytest.mark.parametrize(
    ("model", "trees"),
    [
        (TREE, 1),
        (RandomForestClassifier(7, max_depth=2), 7),
        (AdaBoostClassifier(TREE, n_estimators=3), 3),
        (CalibratedClassifierCV(TREE, cv=2), 2),
    ],
)
def test_trees_are_counted(model: Any, trees: int) -> None:
    found = counted(model)
    assert (found.trees, found.depth, found.coefficients) == (trees, 2, None)
    assert found.leaves is not None
    assert 3 * trees <= found.leaves <= 4 * trees


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=2, max_depth=2),
        HistGradientBoostingClassifier(max_iter=2, max_depth=2),
    ],
)
def test_boosting_has_a_tree_a_round_and_class(model: Any) -> None:
    assert counted(model).trees == 2
    assert counted(model, THREE).trees == 6
    assert counted(model).depth == 2


def test_a_tree_that_asks_nothing_has_one_leaf() -> None:
    assert counted(TREE, np.zeros(ROWS)) == ModelParts(None, trees=1, leaves=1, depth=0)


def test_weights_other_than_zero_are_counted() -> None:
    assert counted(LogisticRegression()).coefficients == COLUMNS
    assert counted(LogisticRegression(), THREE).coefficients == 3 * COLUMNS
    sparse = LogisticRegression(l1_ratio=1.0, solver="liblinear", C=0.05).fit(X, TWO)
    assert count_parts(sparse).coefficients == np.count_nonzero(sparse.coef_) < COLUMNS
    descent = SGDClassifier(random_state=0).fit(X, TWO)
    assert count_parts(descent.sparsify()) == ModelParts(COLUMNS)
    network = MLPClassifier((5,), max_iter=1, solver="lbfgs")
    with pytest.warns(match="lbfgs"):
        assert counted(network).coefficients == 5 * COLUMNS + 5


@pytest.mark.parametrize("model", [KNeighborsClassifier(), GaussianNB(), SVC()])
def test_other_models_have_nothing_to_count(model: Any) -> None:
    assert counted(model) == ModelParts()


def test_a_constant_has_nothing_of_everything() -> None:
    assert counted(steps(DummyClassifier())) == ModelParts(0, 0, 0, 0)


def test_steps_before_the_model_are_no_part_of_it() -> None:
    assert counted(steps(StandardScaler(), steps(StandardScaler(), TREE))).trees == 1


def test_a_stack_has_the_models_whose_predictions_it_reads() -> None:
    inner = StackedPredictions(steps(RandomForestClassifier(3, max_depth=1)), cv=2)
    beside = FeatureUnion([("features", "passthrough"), ("predictions", inner)])
    assert counted(steps(beside, TREE)).trees == 4
    assert counted(steps(beside, LogisticRegression())) == ModelParts()


def test_an_ensemble_has_the_parts_of_its_members() -> None:
    members = {name: steps(TREE).fit(X, TWO) for name in ("a", "b")}
    model = vote(members, [1, 2], [0, 1])
    one = count_parts(members["a"])
    assert one.leaves is not None
    assert count_parts(model) == ModelParts(None, trees=2, leaves=2 * one.leaves, depth=2)
    mixed = {**members, "c": steps(LogisticRegression()).fit(X, TWO)}
    assert count_parts(vote(mixed, [1, 1, 1], [0, 1])) == ModelParts()


def test_decisions_around_a_model_change_no_count() -> None:
    fitted = steps(TREE).fit(X, TWO)
    bare = count_parts(fitted)
    wrapped = FixedThresholdClassifier(FrozenEstimator(fitted), threshold=0.3).fit(X, TWO)
    weighed = WeightedClassifier(FrozenEstimator(fitted), class_weights=[1.0, 2.0]).fit(X, TWO)
    for model in (wrapped, weighed, AllClasses.around(fitted, [0, 1, 2])):
        assert count_parts(pickle.loads(pickle.dumps(model))) == bare


class Rules(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A plugin's model, which says its own parts."""

    told: Any = ModelParts(leaves=5)

    def fit(self, X: Any, y: Any) -> Rules:
        self.classes_ = np.unique(y)
        return self

    def count_model_parts(self) -> Any:
        return self.told


def test_a_model_of_a_plugin_says_its_own() -> None:
    assert counted(steps(StandardScaler(), Rules())) == ModelParts(leaves=5)


def test_one_that_says_something_else_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rules, "told", 5)
    with pytest.raises(TypeError, match=r"Rules\.count_model_parts\(\) must return a ModelParts"):
        counted(Rules())
