"""Quick forms of the commonest metrics of decisions, given the numbers of the decided classes.

A scorer of scikit-learn checks labels and answers at each call, which takes some milliseconds on
any rows. Thresholds, and weights of classes, are tried by the hundred on the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table

DecisionScore: TypeAlias = Callable[[Any], float]
# Of a matrix of counts, one row for each true class and one column for each decided one.
Form: TypeAlias = Callable[[Array], float]


def decision_score(metric: Metric, rows: Table) -> DecisionScore | None:
    """Return the score of decisions for these rows; None if the metric has no such form.

    It is the score of the metric's own scorer, but for rounding. All rows must be decided.
    """
    if metric.sees_labels or rows.classes is None:
        return None
    count = len(rows.classes)
    form = (FORMS_OF_TWO if count == 2 else FORMS).get(metric.name)
    if form is None:
        return None
    return partial(_scored, form, np.asarray(rows.y), rows.roles.weights, count)


def _scored(form: Form, y: Any, weights: Any, classes: int, decided: Any) -> float:
    cells = y * classes + np.asarray(decided)
    counts: Any = np.bincount(cells, weights, minlength=classes * classes)
    return form(counts.reshape(classes, classes))


def _accuracy(counts: Array) -> float:
    return _share(np.trace(counts), counts.sum())


def _balanced_accuracy(counts: Array) -> float:
    """Return the mean recall of the classes that have rows."""
    rows = counts.sum(axis=1)
    there = rows > 0
    return float(np.mean(np.diag(counts)[there] / rows[there])) if there.any() else math.nan


def _f1_of_classes(counts: Array) -> Array:
    """Return 2 hits / (rows + calls) of each class that has a row or a call."""
    both = counts.sum(axis=1) + counts.sum(axis=0)
    there = both > 0
    shares: Array = 2.0 * np.diag(counts)[there] / both[there]
    return shares


def _f1_macro(counts: Array) -> float:
    return float(np.mean(_f1_of_classes(counts)))


def _f1(counts: Array) -> float:
    return _share(2.0 * counts[1, 1], counts[1].sum() + counts[:, 1].sum(), nothing=0.0)


def _precision(counts: Array) -> float:
    return _share(counts[1, 1], counts[:, 1].sum(), nothing=0.0)


def _recall(counts: Array) -> float:
    return _share(counts[1, 1], counts[1].sum(), nothing=0.0)


def _share(some: float, total: float, nothing: float = math.nan) -> float:
    return float(some / total) if total > 0 else nothing


FORMS: Mapping[str, Form] = MappingProxyType(
    {
        "accuracy": _accuracy,
        "balanced_accuracy": _balanced_accuracy,
        "f1_macro": _f1_macro,
    }
)
FORMS_OF_TWO: Mapping[str, Form] = MappingProxyType(
    {**FORMS, "f1": _f1, "precision": _precision, "recall": _recall}
)
