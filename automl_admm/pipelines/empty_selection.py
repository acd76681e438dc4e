"""Selectors without a selected column keep the best one: a model needs at least one.

The result is still a plain scikit-learn object.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

SELECTORS = "sklearn.feature_selection"


def is_selector(component: Any) -> bool:
    """Return True for a selector with a possibly empty selection."""
    # A pipeline without a selector need not wait for scikit-learn's: who has one has imported them.
    selectors: Any = sys.modules.get(SELECTORS)
    by_variance = () if selectors is None else selectors.VarianceThreshold
    return hasattr(component, "score_func") or isinstance(component, by_variance)


def fit_selector(selector: Any, X: Any, y: Any) -> Any:
    """Fit a selector; if its selection is empty, return one with the best column instead."""
    if hasattr(selector, "score_func"):
        return _fit_by_score(selector, X, y)
    return _fit_by_variance(selector, X)


def _fit_by_score(selector: Any, X: Any, y: Any) -> Any:
    from sklearn.feature_selection import SelectKBest

    if selector.fit(X, y).get_support().any():
        return selector
    return SelectKBest(selector.score_func, k=1).fit(X, y)


def _fit_by_variance(selector: Any, X: Any) -> Any:
    """Lower the threshold to half the largest variance; constant columns all stay.

    Half, so that the column with the largest variance passes on other rows, too.
    """
    from sklearn.preprocessing import FunctionTransformer

    try:
        return selector.fit(X)
    except ValueError:
        # It raises where nothing is above the threshold, with the variances known by then.
        largest = float(np.max(getattr(selector, "variances_", np.nan)))
        if not np.isfinite(largest):
            raise
    if largest == 0.0:
        return FunctionTransformer().fit(X)
    return selector.set_params(threshold=largest / 2).fit(X)
