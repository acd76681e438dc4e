"""Estimators made of decision trees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from automl_admm.builtin.components.boosting import (
    build_hist_classifier,
    build_hist_regressor,
    build_native_classifier,
    build_native_regressor,
)
from automl_admm.builtin.components.declare import (
    Arguments,
    choice,
    estimator,
    flag,
    growing,
    levels,
    of,
    real,
    switch,
    whole,
)
from automl_admm.core.space import Choice, Parameter
from automl_admm.plugins.growth import Growth
from automl_admm.plugins.records import ComponentPlugin, LearningTask

ENSEMBLE = "sklearn.ensemble"
TREE = "sklearn.tree"
Declared = tuple[Parameter | Choice, ...]


def _is_patient(model: Any) -> bool:
    """Return True without early stopping: its count begins anew in a fit that goes on."""
    return model.n_iter_no_change is None


def _has_fewer_trees(model: Any) -> bool:
    return bool(model.n_estimators_ < model.n_estimators)


def _has_fewer_rounds(model: Any) -> bool:
    return bool(model.n_iter_ < model.max_iter)


def _does_not_stop(model: Any) -> bool:
    """Return True without early stopping, which begins by itself above 10 000 rows."""
    return not model.do_early_stopping_


# Measured with scikit-learn 1.9.1: a fit that stopped early and goes on adds trees that a fit from
# the start does not have. One that stopped with its very last tree looks as if it had not stopped.
GRADIENT = Growth(may_grow=_is_patient, has_stopped=_has_fewer_trees)
HISTOGRAMS = Growth(may_grow=_does_not_stop, has_stopped=_has_fewer_rounds)


# Table A2, continuous and discrete parameters: decision_tree 3c 3d; random_forest and extra_trees
# 1c 5d; ada_boost 1c 2d; gradient_boosting 3c 6d. It lists classifiers only.
def components() -> Iterator[ComponentPlugin]:
    """Yield trees, forests and boosted trees for both tasks."""
    yield from decision_trees()
    yield from forests()
    yield from ada_boosts()
    yield from gradient_boostings()
    yield from hist_gradient_boostings()


def decision_trees() -> Iterator[ComponentPlugin]:
    """Yield single trees; for regression without thresholds that depend on the target's unit."""
    size = (whole("max_depth", 1, 20, 8), whole("min_samples_leaf", 1, 50, 5, log=True))
    share = real("max_features", 0.1, 1.0, 1.0)
    yield estimator(
        "decision_tree",
        "one tree",
        "classification",
        of(TREE, "DecisionTreeClassifier"),
        share,
        real("min_impurity_decrease", 0.0, 0.05, 0.0),
        real("ccp_alpha", 0.0, 0.05, 0.0),
        *size,
        switch("criterion", "gini", "entropy"),
    )
    yield estimator(
        "decision_tree",
        "one tree",
        "regression",
        of(TREE, "DecisionTreeRegressor"),
        share,
        real("min_weight_fraction_leaf", 0.0, 0.1, 0.0),
        *size,
    )


def forests() -> Iterator[ComponentPlugin]:
    """Yield bagged trees and trees with random thresholds."""
    for name, prefix, bagged in (
        ("random_forest", "RandomForest", True),
        ("extra_trees", "ExtraTrees", False),
    ):
        # Each forest's own default in scikit-learn.
        bootstrap = flag("bootstrap", default=bagged)
        classifier = estimator(
            name,
            "mean of many trees",
            "classification",
            of(ENSEMBLE, f"{prefix}Classifier"),
            *forest_parameters(share=0.25),
            switch("criterion", "gini", "entropy"),
            bootstrap,
        )
        regressor = estimator(
            name,
            "mean of many trees",
            "regression",
            of(ENSEMBLE, f"{prefix}Regressor"),
            *forest_parameters(share=0.6),
            bootstrap,
        )
        yield from (growing(one, "n_estimators") for one in (classifier, regressor))


def forest_parameters(share: float) -> Declared:
    """Declare the parameters shared by forests; `share` of the columns is tried at each split."""
    return (
        real("max_features", 0.05, 1.0, share, log=True),
        whole("n_estimators", 10, 500, 100, log=True),
        whole("min_samples_split", 2, 20, 2),
        whole("min_samples_leaf", 1, 20, 1),
    )


def ada_boosts() -> Iterator[ComponentPlugin]:
    """Yield trees boosted by weighting rows."""
    rate = real("learning_rate", 0.01, 2.0, 0.5, log=True)
    count = whole("n_estimators", 20, 500, 50, log=True)
    yield estimator(
        "ada_boost",
        "small trees, each on the errors of the others",
        "classification",
        of(ENSEMBLE, "AdaBoostClassifier", boosted_classifier),
        rate,
        count,
        whole("max_depth", 1, 10, 1),
    )
    yield estimator(
        "ada_boost",
        "small trees, each on the errors of the others",
        "regression",
        of(ENSEMBLE, "AdaBoostRegressor", boosted_regressor),
        rate,
        count,
        whole("max_depth", 1, 10, 3),
    )


def boosted_classifier(values: Arguments) -> Arguments:
    """Make the tree to boost from its depth."""
    return _with_tree(values, "DecisionTreeClassifier", 1)


def boosted_regressor(values: Arguments) -> Arguments:
    """Make the tree to boost from its depth."""
    return _with_tree(values, "DecisionTreeRegressor", 3)


def _with_tree(values: Arguments, name: str, depth: int) -> Arguments:
    # Depth belongs to the inner tree, not to AdaBoost.
    tree = getattr(import_module(TREE), name)(max_depth=values.pop("max_depth", depth))
    return {**values, "estimator": tree}


def gradient_boostings() -> Iterator[ComponentPlugin]:
    """Yield the older gradient boosting without histograms: slower, fine on few rows."""
    parameters: Declared = (
        real("learning_rate", 0.01, 1.0, 0.1, log=True),
        real("subsample", 0.3, 1.0, 1.0),
        real("max_features", 0.1, 1.0, 1.0),
        whole("n_estimators", 20, 500, 100, log=True),
        whole("max_depth", 1, 10, 3),
        whole("min_samples_split", 2, 20, 2),
        whole("min_samples_leaf", 1, 20, 1),
        levels("max_leaf_nodes", 4, 8, 16, 32, 64, None, default=None),
        levels("n_iter_no_change", 5, 10, 20, None, default=None),
    )
    kind = "boosted trees, for few rows"
    factory = of(ENSEMBLE, "GradientBoostingClassifier")
    classifier = estimator("gradient_boosting", kind, "classification", factory, *parameters)
    yield growing(classifier, "n_estimators", GRADIENT)
    factory = of(ENSEMBLE, "GradientBoostingRegressor")
    # One more than in Table A2: the table has no regressors.
    losses = choice("loss", "squared_error", "huber", "absolute_error")
    regressor = estimator("gradient_boosting", kind, "regression", factory, *parameters, losses)
    yield growing(regressor, "n_estimators", GRADIENT)


def hist_gradient_boostings() -> Iterator[ComponentPlugin]:
    """Yield gradient boosting on histograms: for numbers, and for the raw table."""
    parameters: Declared = (
        real("learning_rate", 0.01, 1.0, 0.1, log=True),
        real("l2_regularization", 1e-6, 100.0, 1e-6, log=True),
        real("max_features", 0.1, 1.0, 1.0),
        whole("max_iter", 20, 500, 100, log=True),
        whole("max_leaf_nodes", 3, 255, 31, log=True),
        whole("min_samples_leaf", 1, 200, 20, log=True),
    )
    kinds: tuple[tuple[LearningTask, Declared], ...] = (
        ("classification", (switch("class_weight", None, "balanced"),)),
        ("regression", (switch("loss", "squared_error", "absolute_error"),)),
    )
    factories = {"classification": build_hist_classifier, "regression": build_hist_regressor}
    native = {"classification": build_native_classifier, "regression": build_native_regressor}
    for task, more in kinds:
        numeric = estimator(
            "hist_gradient_boosting",
            "boosted trees, for many rows",
            task,
            factories[task],
            *parameters,
            *more,
        )
        yield growing(numeric, "max_iter", HISTOGRAMS)
        boosting = estimator(
            "categorical_boosting",
            "boosted trees on the raw table, which split sets of levels",
            task,
            native[task],
            *parameters,
            *more,
        )
        boosting = growing(boosting, "max_iter", HISTOGRAMS)
        yield replace(boosting, needs=frozenset({"categorical"}))
