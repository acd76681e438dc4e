"""The importance of the user's own columns to a fitted estimator, by permutation."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.core.errors import DataError
from automl_admm.core.messages import say_value
from automl_admm.data.columns import quantities_of
from automl_admm.data.python_rows import plain_rows, plain_target
from automl_admm.data.unique_names import with_unique_names
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of


def permute(
    estimator: Any, metric: Metric, classes: Any, X: Any, y: Any, **settings: Any
) -> tuple[Any, Any]:
    """Return the mean loss of score by shuffling each column, and its standard deviation.

    `classes` are the labels of the search, the positive one last; None for quantities. The
    settings are those of scikit-learn's `permutation_importance`.
    """
    from sklearn.inspection import permutation_importance
    from sklearn.utils.validation import column_or_1d

    target = np.asarray(plain_target(y if np.ndim(y) == 1 else column_or_1d(y, warn=True)))
    if classes is None:
        target = numbers = quantities_of(target, "the target")
    else:
        numbers = _numbers_of(target, classes)

    def score(fitted: Any, rows: Any, _: Any) -> float:
        return score_of(metric, fitted, Table(rows, numbers, classes))

    rows, _ = with_unique_names(plain_rows(X))
    found = permutation_importance(estimator, rows, target, scoring=score, **settings)
    return found.importances_mean, found.importances_std


def _numbers_of(target: Any, classes: Any) -> Any:
    """Return the place of each label in `classes`; raise for a label that was not in training."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    numbers = [places.get(label) for label in target.tolist()]
    if None in numbers:
        unknown = say_value(target[numbers.index(None)])
        raise DataError(f"the target holds {unknown}, which is no class of fit.")
    return np.array(numbers, dtype=int)


def importance_frame(names: Any, means: Any, deviations: Any) -> Any:
    """Return the importances as a frame by column, the most important first."""
    import pandas as pd

    frame = pd.DataFrame(
        {"importance": means, "std": deviations}, index=pd.Index(names, name="column")
    )
    return frame.sort_values("importance", ascending=False, kind="stable")
