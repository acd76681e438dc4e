"""The contract of components passes a sound one, and finds each fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier

from automl_admm.plugin_api import ComponentPlugin
from automl_admm.testing.contracts import ComponentContract


class Sound(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A tree."""

    def __init__(self, random_state: Any = None) -> None:
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.tree_ = DecisionTreeClassifier(max_depth=3, random_state=0)
        self.tree_.fit(X, y, sample_weight)
        self.classes_ = self.tree_.classes_
        return self

    def predict_proba(self, X: Any) -> Any:
        return self.tree_.predict_proba(X)

    def predict(self, X: Any) -> Any:
        return self.tree_.predict(X)


class Texting(Sound):
    def predict(self, X: Any) -> Any:
        return super().predict(X).astype(str)


class Careless(Sound):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return super().fit(X, y)


class Moody(Sound):
    def predict_proba(self, X: Any) -> Any:
        return super().predict_proba(X) + np.random.default_rng().normal()


class Talkative(Sound):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        print("fitting")  # noqa: T201
        return super().fit(X, y, sample_weight)


class Picky(Sound):
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        if np.unique(y, return_counts=True)[1].min() < 2:
            raise ValueError("a class has one row")
        return super().fit(X, y, sample_weight)


def contract_of(kind: type) -> ComponentContract:
    """The contract of a component that builds this class."""

    class Contract(ComponentContract):
        draws = 1

        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="mine",
                summary="a tree",
                role="estimator",
                tasks=("classification",),
                factory=lambda values, context: kind(),
            )

    return Contract()


PROMISES: list[tuple[type, Callable[[ComponentContract], None]]] = [
    (Texting, ComponentContract.test_labels_of_any_type_come_back),
    (Careless, ComponentContract.test_weights_count),
    (Moody, ComponentContract.test_the_same_seed_gives_the_same_model),
    (Picky, ComponentContract.test_a_class_of_one_row_is_no_obstacle),
]


@pytest.mark.parametrize(("kind", "promise"), PROMISES)
def test_a_fault_is_found_and_a_sound_one_passes(kind: type, promise: Any) -> None:
    promise(contract_of(Sound))
    with pytest.raises((AssertionError, ValueError)):
        promise(contract_of(kind))


def test_prints_are_found(capfd: pytest.CaptureFixture[str]) -> None:
    contract_of(Sound).test_it_is_silent(capfd)
    with pytest.raises(AssertionError):
        contract_of(Talkative).test_it_is_silent(capfd)


def test_types_that_nobody_trusts_are_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="trusted_types lack"):
        contract_of(Sound).test_a_saved_model_predicts_the_same_elsewhere(tmp_path)
