"""Classes of a few rows: some of scikit-learn's classifiers refuse them."""

from __future__ import annotations

from typing import Any

import numpy as np

# A stacked model is fitted on a part of the rows: so many leave it two of each class.
FEWEST_ROWS = 4
# The share that early stopping puts aside, halved for a stacked model.
SHARE_ASIDE = 0.05


def fit_rare(component: Any, X: Any, y: Any) -> Any:
    """Fit an estimator; one with a covariance for each class gets two rows for a lonely one.

    They lie a standard deviation of each column around it, so their mean is the row.
    """
    if not has_covariances(component):
        return component.fit(X, y)
    numbers, counts = np.unique(np.asarray(y), return_inverse=True, return_counts=True)[1:]
    alone = counts[numbers] == 1
    if len(counts) == 1 or not alone.any():
        return component.fit(X, y)
    places = np.append(np.arange(len(alone)), np.flatnonzero(alone))
    side = np.append(np.where(alone, 1.0, 0.0), np.full(int(alone.sum()), -1.0))
    spread = np.std(np.asarray(X, dtype=float), axis=0)
    return component.fit(taken(X, places) + side[:, None] * spread, taken(y, places))


def has_covariances(component: Any) -> bool:
    """Return True for an estimator with a covariance matrix for each class."""
    return {"shrinkage", "reg_param"} <= set(component.get_params(deep=False))


def stop_validating(component: Any, y: Any) -> None:
    """Turn early stopping off where the rows put aside for it could lack a class."""
    from sklearn.base import is_classifier

    if not is_classifier(component):
        return
    counts = np.unique(np.asarray(y), return_counts=True)[1]
    if counts.min() >= FEWEST_ROWS and SHARE_ASIDE * len(y) >= len(counts):
        return
    known = component.get_params()
    component.set_params(**{name: off for name in known for off in _off(name, known)})


def _off(name: str, known: dict[str, Any]) -> list[bool | None]:
    """Return the value that turns early stopping off, if this parameter turns it on."""
    outer, _, own = name.rpartition("__")
    switch = f"{outer}__early_stopping" if outer else "early_stopping"
    if own == "early_stopping" and known[name]:
        return [False]
    # Some have a switch beside it, others stop early if it is a number.
    if own == "n_iter_no_change" and known[name] is not None and switch not in known:
        return [None]
    return []


def taken(values: Any, places: Any) -> Any:
    """Return rows of a frame or an array."""
    return values.iloc[places] if hasattr(values, "iloc") else np.asarray(values)[places]
