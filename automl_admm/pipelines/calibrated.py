"""A fitted model of two classes with calibrated probabilities, as a plain scikit-learn object."""

from __future__ import annotations

from typing import Any

import numpy as np

# The name of the model inside of the `StackingClassifier` around it.
NAME = "calibrated"


def calibrated(model: Any, slope: float, intercept: float, response: str) -> Any:
    """Return a fitted model whose probability of its last class is σ(slope · s + intercept).

    s are its scores by the method `response`. It is a `StackingClassifier` of this model alone,
    whose final estimator has these two numbers. It is what a `fit` would leave, without the fit,
    which asks for rows. Of a mean of models, which has no such scores, each model is calibrated.
    """
    from sklearn.ensemble import StackingClassifier
    from sklearn.frozen import FrozenEstimator
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import LabelEncoder

    if not hasattr(model, response):
        numbers = slope, intercept, response
        model.estimators_ = [calibrated(one, *numbers) for one in model.estimators_]
        return model
    last = LogisticRegression()
    last.classes_, last.n_features_in_ = np.array([0, 1]), 1
    last.coef_, last.intercept_ = np.array([[slope]]), np.array([intercept])
    found = StackingClassifier(
        [(NAME, FrozenEstimator(model))],
        final_estimator=LogisticRegression(),
        cv="prefit",
        stack_method=response,
    )
    found.estimators_, found.stack_method_, found.final_estimator_ = [model], [response], last
    labels = LabelEncoder().fit(model.classes_)
    vars(found)["_label_encoder"], found.classes_ = labels, labels.classes_
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        found.feature_names_in_ = names
    return found


Numbers = tuple[float, float, str]


def without_calibration(model: Any) -> tuple[Any, Numbers | None]:
    """Return the model inside of a calibrated one, and the arguments that calibrated it."""
    if _is_calibrated(model):
        last = model.final_estimator_
        numbers = float(last.coef_[0, 0]), float(last.intercept_[0])
        return model.estimators[0][1].estimator, (*numbers, str(model.stack_method))
    # Of a mean every model has the same numbers; the parameters of the mean know none of them.
    if type(model).__name__ == "VotingClassifier" and _is_calibrated(model.estimators_[0]):
        return model, without_calibration(model.estimators_[0])[1]
    return model, None


def _is_calibrated(model: Any) -> bool:
    is_stack = type(model).__name__ == "StackingClassifier"
    return is_stack and [name for name, _ in model.estimators] == [NAME]
