"""Predictions as features: the transformer behind `stack{…}`.

scikit-learn's own stacking transforms its training rows with models that have seen them; a step in
the middle of a pipeline must pass on out-of-fold predictions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

METHODS = ("predict_proba", "decision_function", "predict")


class StackedPredictions(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer with the predictions of an estimator as columns.

    `fit_transform` predicts each row out of fold; `transform` predicts new rows by the model of all
    rows. Two classes need one column, more classes one each.
    """

    def __init__(self, estimator: Any, *, cv: int = 5, random_state: int | None = None) -> None:
        self.estimator = estimator
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> StackedPredictions:
        """Fit the estimator on all rows."""
        self.estimator_ = clone(self.estimator).fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any) -> Any:
        """Fit on all rows, and predict each of them by a model of other rows.

        A row that is alone in its class is in every model: without it there would be no such class.
        """
        self.fit(X, y)
        stratified = is_classifier(self.estimator)
        folds = fold_count(y, self.cv, stratified=stratified)
        split = deal(y, folds, self.random_state, stratified=stratified)
        found = cross_val_predict(self.estimator, X, y, cv=split, method=self._method())
        return self._columns(found)

    def transform(self, X: Any) -> Any:
        """Predict new rows."""
        check_is_fitted(self)
        return self._columns(getattr(self.estimator_, self._method())(X))

    def _method(self) -> str:
        return next(name for name in METHODS if hasattr(self.estimator_, name))

    def _columns(self, predictions: Any) -> Any:
        found = np.asarray(predictions)
        if self._method() == "predict" and is_classifier(self.estimator):
            found = (found[:, None] == self.estimator_.classes_).astype(float)
        if found.ndim == 1:
            return found[:, None]
        # The two probabilities add up to 1: the second column says nothing new.
        return found[:, 1:] if found.shape[1] == 2 else found

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Name the columns: one for a number or for two classes, else one a class."""
        classes = getattr(self.estimator_, "classes_", ())
        count = len(classes) if len(classes) > 2 else 1
        return np.array([f"prediction{place}" for place in range(count)], dtype=object)


def fold_count(y: Any, cv: int, *, stratified: bool) -> int:
    """Return the possible number of folds, at most `cv` and the rows of the largest class."""
    most = np.unique(y, return_counts=True)[1].max() if stratified else len(y)
    # Cross-validation needs two folds, even if scikit-learn then warns of a small class.
    return int(max(min(cv, most), 2))


def deal(y: Any, folds: int, seed: int | None, *, stratified: bool) -> list[tuple[Any, Any]]:
    """Return the rows to learn from and to predict, fold by fold.

    The rows, sorted by class, are dealt to the folds in turn, so that every model sees every class.
    scikit-learn's own splitter warns of classes with fewer rows than folds, and leaves some out.
    """
    codes = np.unique(y, return_inverse=True)[1] if stratified else np.zeros(len(y), dtype=int)
    mixed = np.random.default_rng(seed).permutation(len(codes))
    order = mixed[np.argsort(codes[mixed], kind="stable")]
    alone = (np.bincount(codes)[codes] == 1) & stratified
    dealt = order[~alone[order]]
    fold = np.zeros(len(codes), dtype=int)
    fold[dealt] = np.arange(len(dealt)) % folds
    parts = [(np.flatnonzero((fold != i) | alone), np.flatnonzero(fold == i)) for i in range(folds)]
    return [(learnt, predicted) for learnt, predicted in parts if len(predicted)]
