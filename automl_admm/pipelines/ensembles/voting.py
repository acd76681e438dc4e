"""Fitted pipelines as one model of scikit-learn, which averages their predictions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from automl_admm.core.errors import InvalidOutcome


def vote(members: Mapping[str, Any], weights: Sequence[int], classes: Any | None) -> Any:
    """Return a `VotingClassifier` or `VotingRegressor` of fitted pipelines, fitted as well.

    It is what its own `fit` would leave, without the fits: so it can be cloned and fitted anew.
    Only `named_estimators_` is left out, which would be in the file once more. Of classes the
    probabilities are averaged. A regression has no `classes`.
    """
    from sklearn.base import clone
    from sklearn.ensemble import VotingClassifier, VotingRegressor
    from sklearn.preprocessing import LabelEncoder

    pairs, weights = [(name, clone(one)) for name, one in members.items()], list(weights)
    if classes is None:
        model = VotingRegressor(pairs, weights=weights)
    else:
        model = VotingClassifier(pairs, voting="soft", weights=weights)
        model.le_ = LabelEncoder().fit(np.asarray(classes))
        model.classes_ = model.le_.classes_
        _check_classes(members, model.classes_)
    model.estimators_ = list(members.values())
    names = getattr(model.estimators_[0], "feature_names_in_", None)
    if names is not None:
        model.feature_names_in_ = names
    return model


def _check_classes(members: Mapping[str, Any], classes: Any) -> None:
    """Raise if the columns of the probabilities are not of the same classes."""
    for name, member in members.items():
        if not np.array_equal(member.classes_, classes):
            raise InvalidOutcome(f"{name} knows other classes than the target has")
