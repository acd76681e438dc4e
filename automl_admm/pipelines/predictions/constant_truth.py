"""Scores that divide by the variance of the truth, where the truth has none.

scikit-learn answers 0 there, and 1 for predictions that leave nothing to explain. But it asks if
the computed variance is 0, and that of many times 0.1 is 1.9e-34, as their mean is rounded: R² was
−1e33 and more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from automl_admm.core.explained_variance import is_constant
from automl_admm.core.space import Array
from automl_admm.pipelines.metrics import Metric


def _all_right(errors: Array) -> bool:
    return not errors.any()


# By the name of a scorer of scikit-learn: do such errors leave nothing to explain?
PERFECT: Mapping[str, Callable[[Array], bool]] = MappingProxyType(
    {"r2": _all_right, "explained_variance": is_constant}
)


def score_of_constant(
    metric: Metric, pipeline: Any, X: Any, truth: Any, weights: Any
) -> float | None:
    """Return 0 or 1 if a metric divides by a variance and the truth has none; else None.

    A row without weight is none. Of fewer than two rows nothing is said.
    """
    is_perfect = None if metric.sees_labels else PERFECT.get(metric.name)
    known = slice(None) if weights is None else np.asarray(weights) > 0
    if is_perfect is None or len(truth) < 2 or not is_constant(truth[known]):
        return None
    return float(is_perfect((np.asarray(pipeline.predict(X)) - truth)[known]))
