"""A fitted pipeline with its thresholds, as it ships: an object that decides by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from automl_admm.pipelines.labels import is_turned, positive_of
from automl_admm.pipelines.thresholds.by_group import GroupRule, Thresholds
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.pipelines.thresholds.single import response_of


def fix(
    pipeline: Any,
    thresholds: Thresholds,
    classes: Any,
    rule: GroupRule | None,
    cost: Cost | None,
) -> Any:
    """Return a fitted pipeline with these thresholds, as it ships.

    The `cost` decides between several classes; of two it has chosen the threshold.
    """
    if thresholds.by_class:
        return _fix_weights(pipeline, thresholds, classes, cost)
    if thresholds.by_group and rule is not None:
        return rule.fix(pipeline, thresholds, response_of(pipeline), classes)
    if thresholds.lower is not None:
        return _fix_band(pipeline, thresholds.single, thresholds.lower, classes)
    return fix_threshold(pipeline, thresholds.single, classes)


def fix_threshold(pipeline: Any, threshold: float, classes: Any) -> Any:
    """Return a fitted pipeline with this threshold, as a plain scikit-learn object.

    The last of the classes is the positive one.
    """
    from sklearn.model_selection import FixedThresholdClassifier

    given = {"threshold": threshold, **_sides(pipeline, classes)}
    return _around(pipeline, classes, FixedThresholdClassifier, given)


def _fix_band(pipeline: Any, upper: float, lower: float, classes: Any) -> Any:
    """Return a fitted pipeline that leaves rows between two thresholds undecided."""
    from automl_admm.pipelines.thresholds.abstaining_classifier import AbstainingClassifier

    given = {"threshold": upper, "lower_threshold": lower, **_sides(pipeline, classes)}
    return _around(pipeline, classes, AbstainingClassifier, given)


def _fix_weights(pipeline: Any, thresholds: Thresholds, classes: Any, cost: Cost | None) -> Any:
    """Return a fitted pipeline with weights of its classes."""
    from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier

    given = {
        "class_weights": list(thresholds.by_class.values()),
        # Plain lists: skops and the script of the run write them as they are.
        "costs": None if cost is None else list(map(list, cost.table)),
        "temperature": thresholds.temperature,
        "least_share": thresholds.least_share,
    }
    return _around(pipeline, classes, WeightedClassifier, given)


def _sides(pipeline: Any, classes: Any) -> dict[str, Any]:
    positive = positive_of(classes) if is_turned(classes) else None
    return {"pos_label": positive, "response_method": response_of(pipeline)}


def _around(pipeline: Any, classes: Any, kind: Any, given: Mapping[str, Any]) -> Any:
    """Return a classifier of this kind; its fit looks only at the labels, and needs two of them."""
    from sklearn.frozen import FrozenEstimator

    fixed = kind(FrozenEstimator(pipeline), **given)
    return fixed.fit(np.reshape(classes, (-1, 1)), classes)
