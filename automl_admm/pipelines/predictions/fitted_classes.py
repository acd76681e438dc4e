"""Check the classes of a fitted pipeline: scores are read, and labels made, by their order.

Everything here reads the columns of probabilities in the sorted order of the labels. A classifier
with another order would be scored one way and shipped another. Such an outcome is `invalid`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.core.errors import InvalidOutcome
from automl_admm.pipelines.labels import list_labels
from automl_admm.pipelines.predictions.checks import number_labels
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.wrappers import Remembered

# A component that predicts numbers in place of labels does so in every row.
ROWS_ASKED = 20


def check_classes(pipeline: Any, rows: Table) -> None:
    """Raise unless the `classes_` are the labels of the training rows, in sorted order."""
    if rows.classes is None:
        return
    expected = np.sort(np.asarray(rows.classes)[np.flatnonzero(np.bincount(rows.y))])
    name, _ = pipeline.steps[-1]
    due = f"the sorted labels of its training rows are due: {list_labels(expected)}"
    if not hasattr(pipeline, "classes_"):
        raise InvalidOutcome(f"component '{name}' has no classes_ after its fit, where {due}")
    found = np.atleast_1d(np.asarray(pipeline.classes_))
    if not np.array_equal(found, expected):
        raise InvalidOutcome(
            f"the classes_ of component '{name}' are {list_labels(found)}, where {due}"
        )


def check_labels(remembered: Remembered, rows: Table) -> None:
    """Raise if a component of anybody else predicts labels that are not in the target.

    Call it where nothing has asked for decisions: the model that ships will be asked for them.
    """
    if rows.classes is None or remembered.is_known:
        return
    try:
        _check_first(np.asarray(remembered.first_labels(rows.X, ROWS_ASKED)), rows)
    except InvalidOutcome as problem:
        name, _ = remembered.steps[-1]
        due = f"predict of component '{name}' has to return labels of the target"
        raise InvalidOutcome(f"{due}, {list_labels(rows.classes)}: {problem}") from problem


def _check_first(labels: Any, rows: Table) -> None:
    asked = min(ROWS_ASKED, len(rows.y))
    if labels.shape != (asked,):
        raise InvalidOutcome(f"it returned the shape {labels.shape} for {asked} rows")
    number_labels(labels, rows.classes)
