"""Weights of rows in a fit: given to the estimator, or drawn rows in place of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.space import Array
from automl_admm.pipelines.rare_classes import fit_rare, taken

Rows = NDArray[np.intp]
SEED = 0


def fit_estimator(component: Any, X: Any, y: Any, weights: Array | None) -> Any:
    """Fit the last step of a pipeline with the weights of its rows; return it.

    Without a parameter `sample_weight` it is fitted on rows drawn in proportion to their weights.
    """
    from sklearn.base import is_classifier
    from sklearn.utils.validation import has_fit_parameter

    if weights is None:
        return fit_rare(component, X, y)
    if has_fit_parameter(component, "sample_weight"):
        return component.fit(X, y, sample_weight=weights)
    places = drawn_rows(weights, y, is_class=is_classifier(component))
    return fit_rare(component, taken(X, places), taken(y, places))


def drawn_rows(weights: Array, y: Any, *, is_class: bool = False) -> Rows:
    """Draw as many rows as there are, row i floor or ceil (n w_i / Σ w) times.

    Systematic sampling along the sorted targets: of all ways to draw in proportion to weights one
    with little noise, and the same every time. Each class keeps its heaviest row at least.
    """
    known, numbers = np.unique(np.asarray(y), return_inverse=True)
    # Mixed among equals: a period in the rows could fall in step with the points.
    mixed = np.random.default_rng(SEED).permutation(len(weights))
    order = mixed[np.argsort(numbers[mixed], kind="stable")]
    reach = np.cumsum(weights[order])
    points = (np.arange(len(weights)) + 0.5) * (reach[-1] / len(weights))
    places = order[np.minimum(np.searchsorted(reach, points), len(weights) - 1)]
    lost = np.setdiff1d(np.arange(len(known)), numbers[places]) if is_class else ()
    rows_of = (np.flatnonzero(numbers == number) for number in lost)
    heaviest = [int(rows[np.argmax(weights[rows])]) for rows in rows_of]
    return np.sort(np.append(places, np.array(heaviest, dtype=np.intp)))
