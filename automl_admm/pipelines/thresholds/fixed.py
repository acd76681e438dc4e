"""A fitted pipeline with its thresholds, as it ships: an object that decides by itself."""

from __future__ import annotations

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

    The last of the classes is the positive one. Its fit looks only at the labels and needs two of
    them.
    """
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import FixedThresholdClassifier

    fixed = FixedThresholdClassifier(
        FrozenEstimator(pipeline),
        threshold=threshold,
        pos_label=positive_of(classes) if is_turned(classes) else None,
        response_method=response_of(pipeline),
    )
    return fixed.fit(np.reshape(classes, (-1, 1)), classes)


def _fix_band(pipeline: Any, upper: float, lower: float, classes: Any) -> Any:
    """Return a fitted pipeline that leaves rows between two thresholds undecided."""
    from sklearn.frozen import FrozenEstimator

    from automl_admm.pipelines.thresholds.abstaining_classifier import AbstainingClassifier

    fixed = AbstainingClassifier(
        FrozenEstimator(pipeline),
        threshold=upper,
        lower_threshold=lower,
        response_method=response_of(pipeline),
        pos_label=positive_of(classes) if is_turned(classes) else None,
    )
    return fixed.fit(np.reshape(classes, (-1, 1)), classes)


def _fix_weights(pipeline: Any, thresholds: Thresholds, classes: Any, cost: Cost | None) -> Any:
    """Return a fitted pipeline with weights of its classes; the fit sees only the labels."""
    from sklearn.frozen import FrozenEstimator

    from automl_admm.pipelines.thresholds.weighted_classifier import WeightedClassifier

    fixed = WeightedClassifier(
        FrozenEstimator(pipeline),
        class_weights=list(thresholds.by_class.values()),
        # Plain lists: skops and the script of the run write them as they are.
        costs=None if cost is None else list(map(list, cost.table)),
        temperature=thresholds.temperature,
        least_share=thresholds.least_share,
    )
    return fixed.fit(np.reshape(classes, (-1, 1)), classes)
