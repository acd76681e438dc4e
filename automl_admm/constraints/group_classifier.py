"""A classifier with a decision threshold for each group of rows; scikit-learn has none.

Its own `FixedThresholdClassifier` has one threshold for all rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from automl_admm.constraints.groups import Grouping
from automl_admm.constraints.syntax import GroupColumn
from automl_admm.core.errors import DataError
from automl_admm.pipelines.thresholds.by_group import Names, Thresholds
from automl_admm.pipelines.thresholds.inner_estimator import (
    OfTwoClasses,
    check_two_classes,
    fit_inner,
)


class GroupThresholdClassifier(OfTwoClasses):
    """A classifier of two classes with a decision threshold for each group.

    `columns` are the features of the groups, each with its cut points (none for categories):
    `{"sex": (), "age": (30.0, 40.0)}`. `thresholds` are by the group's name, such as
    `"f, age < 30"`; an unknown group takes the plain `threshold`. A row is of the positive class
    (`pos_label`, or the last class) if `response_method` returns at least the threshold.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        columns: Mapping[str, Sequence[float]],
        thresholds: Mapping[str, float],
        threshold: float = 0.5,
        response_method: str = "predict_proba",
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.columns = columns
        self.thresholds = thresholds
        self.threshold = threshold
        self.response_method = response_method
        self.pos_label = pos_label

    def fit(self, X: Any, y: Any) -> GroupThresholdClassifier:
        """Fit the estimator; the thresholds stay."""
        check_two_classes(y, self.pos_label)
        fit_inner(self, X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Decide each row at the threshold of its group."""
        scores, classes = self.positive_scores(X)
        bar = Thresholds(self.threshold, self.thresholds).of_rows(self.groups_of(X))
        return classes[(scores >= bar).astype(np.intp)]

    def groups_of(self, X: Any) -> Names:
        """The name of the group of every row."""
        return name_groups(X, self.columns, tuple(self.thresholds))

    def unknown_groups(self, X: Any) -> dict[str, int]:
        """Count the rows of each group without a threshold of its own: `threshold` decides them."""
        names = Counter(map(str, self.groups_of(X)))
        return {name: rows for name, rows in names.items() if name not in self.thresholds}


def name_groups(
    X: Any, columns: Mapping[str, Sequence[float]], known: tuple[str, ...] = ()
) -> Names:
    """Return the group name of every row of a frame with these columns, a `known` one if it is."""
    import pandas as pd

    # Limits name columns in text; a frame may have numbers as names, an array has none.
    labels = {str(name): name for name in getattr(X, "columns", ())}
    for name in columns:
        if name not in labels:
            hint = "Give a frame that has it, as the one it was fitted on."
            raise DataError(f"decisions are by the column '{name}', which X has not.", hint=hint)
    frame = pd.DataFrame({name: X[labels[name]] for name in columns})
    parts = tuple(GroupColumn(name, tuple(cuts)) for name, cuts in columns.items())
    return Grouping(parts, known=known)(frame)
