"""Count the parts of a fitted model, through pipelines, ensembles, stacks and wrappers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from automl_admm.plugins.model_parts import ModelParts

# The method by which an estimator of a plugin says its own parts.
OWN = "count_model_parts"
# Beside several models: one that joins their predictions, and one that boosting begins with.
BESIDE = ("final_estimator_", "init_")
# A model around one other. Models of several have such an attribute, too, which is not fitted.
INNER = ("estimator_", "regressor_", "best_estimator_")


def count_parts(model: Any) -> ModelParts:
    """Return the parts of a fitted model; those of its predictors, not of the steps before them.

    A stack counts the models whose predictions are its columns, too.
    """
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import Pipeline

    if hasattr(type(model), OWN):
        return _own_parts(model)
    if isinstance(model, Pipeline):
        return ModelParts.together(map(count_parts, _predictors(model)))
    if isinstance(model, FrozenEstimator):
        return count_parts(model.estimator)
    return _of_trees(model) or _of_members(model) or _of_weights(model)


def _own_parts(model: Any) -> ModelParts:
    """Return what an estimator says of itself; raise if it is no such record."""
    found = getattr(model, OWN)()
    if not isinstance(found, ModelParts):
        name = type(model).__name__
        raise TypeError(f"{name}.{OWN}() must return a ModelParts, not {type(found).__name__}")
    return found


def _predictors(step: Any) -> Iterator[Any]:
    """Yield the last step of a pipeline, and the models of stacks in the steps before it."""
    for _, before in step.steps[:-1]:
        yield from _stacked(before)
    yield step.steps[-1][1]


def _stacked(step: Any) -> Iterator[Any]:
    """Yield the models whose predictions a transformer passes on."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import FeatureUnion, Pipeline

    from automl_admm.pipelines.stacking import StackedPredictions

    if isinstance(step, StackedPredictions):
        yield step.estimator_
    inner: list[Any] = []
    if isinstance(step, Pipeline):
        inner = [one for _, one in step.steps]
    elif isinstance(step, FeatureUnion):
        inner = [one for _, one in step.transformer_list]
    elif isinstance(step, ColumnTransformer):
        inner = [one for _, one, _ in step.transformers_]
    for one in inner:
        yield from _stacked(one)


def _of_trees(model: Any) -> ModelParts | None:
    """Return the parts of one tree of scikit-learn, or of its boosting on histograms."""
    tree = getattr(model, "tree_", None)
    if tree is not None:
        return ModelParts.of_trees([int(tree.n_leaves)], [int(tree.max_depth)])
    rounds = getattr(model, "_predictors", None)
    if rounds is None:
        return None
    trees = [tree for one in rounds for tree in one]
    leaves = [int(tree.get_n_leaf_nodes()) for tree in trees]
    return ModelParts.of_trees(leaves, [int(tree.get_max_depth()) for tree in trees])


def _of_members(model: Any) -> ModelParts | None:
    """Return the parts of the models in a model; None if there are none in it."""
    members = list(_members(model))
    return ModelParts.together(map(count_parts, members)) if members else None


def _members(model: Any) -> Iterator[Any]:
    """Yield the fitted models in a model."""
    several = getattr(model, "estimators_", None)
    if several is not None:
        # Boosting keeps them in an array. Others go in a list, as a pipeline is a sequence itself.
        yield from several.ravel() if hasattr(several, "ravel") else several
        beside = (getattr(model, name, None) for name in BESIDE)
        yield from (one for one in beside if hasattr(one, "fit"))
    elif hasattr(model, "calibrated_classifiers_"):
        yield from (one.estimator for one in model.calibrated_classifiers_)
    else:
        inner = (getattr(model, name, None) for name in INNER)
        yield from (one for one in inner if hasattr(one, "fit"))


def _of_weights(model: Any) -> ModelParts:
    """Return the weights of a linear model or of a network; nothing for any other model."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if isinstance(model, DummyClassifier | DummyRegressor):
        return ModelParts(0, 0, 0, 0)
    layers = getattr(model, "coefs_", None)
    if layers is None:
        layers = [model.coef_] if hasattr(model, "coef_") else None
    if layers is None:
        return ModelParts()
    return ModelParts(coefficients=sum(map(_other_than_zero, layers)))


def _other_than_zero(weights: Any) -> int:
    """Count the weights of an array, or of a sparse matrix, that are not 0."""
    if hasattr(weights, "count_nonzero"):
        return int(weights.count_nonzero())
    return int(np.count_nonzero(weights))
