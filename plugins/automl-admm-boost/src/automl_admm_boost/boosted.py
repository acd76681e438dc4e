"""The common part of all estimators: rows in, early stopping, the model as bytes, answers out."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from automl_admm.plugin_api import ModelParts
from automl_admm_boost.rounds import Rows, part_aside
from automl_admm_boost.target_unit import TargetUnit

Floats = NDArray[np.float64]
PATIENCE = 30  # rounds without a better loss before early stopping


class DamagedModelError(ValueError):
    """The saved model is not the one that was fitted."""


class Boosted(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Boosted trees of a library, kept as the bytes of its own format.

    Predictions are always those of a model read from these bytes: a saved model predicts bit by bit
    as it did before. With `early_stopping` a part of the rows finds the number of rounds, and all
    rows are fitted again with this number. In `categorical_features`, places of columns, levels are
    numbered from 0; -1 and NaN are a missing value, a level of its own. With `warm_start`, where
    there is one, a fit without early stopping adds rounds to those of the fit before it.
    """

    n_estimators: int
    early_stopping: bool
    random_state: Any
    n_jobs: int | None
    categorical_features: list[int] | None

    @abstractmethod
    def _train(
        self, rows: Rows, outputs: int, rounds: int, aside: Rows | None, start: Any = None
    ) -> tuple[bytes, int]:
        """Fit the library's model; return its bytes, and the best number of rounds.

        The rounds are added to the model `start`, if there is one.
        """

    @abstractmethod
    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Learn from a target of classes or of numbers."""

    @abstractmethod
    def _read(self, model: bytes) -> Any:
        """Return the library's model, read from its bytes."""

    @abstractmethod
    def _raw(self, X: Floats) -> Floats:
        """Return the library's predictions: values, or probabilities."""

    @abstractmethod
    def _shapes(self) -> Iterator[tuple[int, int]]:
        """Yield the leaves and the depth of each tree."""

    def count_model_parts(self) -> ModelParts:
        """Count the trees for limits on them; a target of one class needs none."""
        check_is_fitted(self)
        shapes = list(self._shapes()) if self.model_ else []
        return ModelParts.of_trees([leaves for leaves, _ in shapes], [depth for _, depth in shapes])

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the trees; a fit that fails leaves the model as it was."""
        before = self.__dict__.copy()  # trees need their own classes and unit
        try:
            self._fit(X, y, sample_weight)
        except BaseException:
            self.__dict__ = before
            raise
        return self

    def _fit_rows(self, X: Floats, y: Any, weights: Any, outputs: int) -> None:
        """Fit on all rows; `outputs` is the number of classes, 0 for a quantity."""
        self._learn_levels(X)
        rows, rounds = Rows(self._numbered(X), y, weights), self.n_estimators
        parts = part_aside(rows, outputs, self.random_state) if self.early_stopping else None
        if parts is not None:
            rounds = self._train(parts[0], outputs, rounds, parts[1])[1]
        done = self._rounds_done()
        if done > rounds:
            raise ValueError(
                f"n_estimators={rounds} must be at least {done}, the rounds there are: "
                "with warm_start a fit adds rounds."
            )
        start = self._booster if done else None
        self.n_iter_ = rounds
        if done < rounds:
            self._keep(self._train(rows, outputs, rounds - done, None, start)[0])

    def _rounds_done(self) -> int:
        """Return the rounds of an earlier fit to go on from; 0 for a fit from the start."""
        goes_on = getattr(self, "warm_start", False) and not self.early_stopping
        return int(self.n_iter_) if goes_on and getattr(self, "model_", b"") else 0

    def may_grow(self) -> bool:
        """Return True if a fit that goes on is that from the start: nothing is drawn anew."""
        drawn = {getattr(self, name, 1.0) for name in ("subsample", "colsample_bytree")}
        return drawn == {1.0} and not self.early_stopping

    def has_stopped(self) -> bool:
        """Return True if early stopping found fewer rounds, and more would change nothing."""
        return bool(self.early_stopping and self.n_iter_ + PATIENCE < self.n_estimators)

    def _keep(self, model: bytes) -> None:
        self.model_ = model
        # Libraries may end the process on bytes that are damaged: they never get to see any.
        self.model_sha256_ = hashlib.sha256(model).hexdigest()
        self._booster = self._read(model)

    def _learn_levels(self, X: Floats) -> None:
        codes = X[:, self.categorical_features or []]
        known = np.where(np.isnan(codes), -1.0, codes)
        self.missing_levels_ = known.max(axis=0, initial=-1.0) + 1.0

    def _numbered(self, X: Floats) -> Floats:
        """Give a missing level the next number, and a new one, below -1, none."""
        places = self.categorical_features
        if not places:
            return X
        X = X.copy()
        codes = X[:, places]
        is_missing = np.isnan(codes) | (codes == -1.0)
        codes = np.where(codes < -1.0, np.nan, codes)
        X[:, places] = np.where(is_missing, self.missing_levels_, codes)
        return X

    def _answers(self, X: Any) -> Floats:
        check_is_fitted(self)
        checked: Any = validate_data(
            self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan"
        )
        return self._raw(self._numbered(checked))

    @property
    def _threads(self) -> int:
        return 1 if self.n_jobs is None else self.n_jobs

    @property
    def _seed(self) -> int:
        """A seed that every library takes."""
        from sklearn.utils import check_random_state

        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state) % 2**31
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the library's object out: its bytes say all."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_booster", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read the library's model from its bytes, if they are those that were fitted."""
        super().__setstate__(state)
        model = state.get("model_")
        if model is None:
            return
        if hashlib.sha256(model).hexdigest() != state.get("model_sha256_"):
            raise DamagedModelError(f"the model in a {type(self).__name__} is damaged: fit again.")
        self._booster = self._read(model) if model else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def in_32_bits(X: Floats) -> Floats:
    """Bring figures into the range of 32 bits: beyond it they are infinite to XGBoost and CatBoost.

    >>> float(in_32_bits(np.array([1e39]))[0]) < 3.5e38
    True
    """
    largest = float(np.finfo(np.float32).max)
    return np.clip(X, -largest, largest)


def shape_of(root: Any, children: Callable[[Any], Sequence[Any]]) -> tuple[int, int]:
    """Return the leaves and the depth of a tree, given the children of any node."""
    leaves, deepest, waiting = 0, 0, [(root, 0)]
    while waiting:  # no recursion: a tree may be deeper than Python allows
        node, depth = waiting.pop()
        below = children(node)
        leaves, deepest = leaves + (not below), max(deepest, depth)
        waiting += [(one, depth + 1) for one in below]
    return leaves, deepest


class BoostedClassifier(ClassifierMixin, Boosted):  # type: ignore[misc]
    """The common part of the classifiers; a target of one class needs no trees."""

    class_weight: Any
    classes_: NDArray[Any]

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(y)
        classes, numbers = np.unique(y, return_inverse=True)
        if self._rounds_done():
            _check_same(self.classes_, classes)
        self.classes_ = classes
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self.class_weight is not None:
            by_class = compute_sample_weight(self.class_weight, y)
            weights = by_class if weights is None else weights * by_class
        if len(self.classes_) == 1:
            self._learn_levels(X)
            self.n_iter_, self.model_, self._booster = 0, b"", None
            self.model_sha256_ = hashlib.sha256(b"").hexdigest()
            return
        self._fit_rows(X, numbers, weights, len(self.classes_))

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class."""
        if len(getattr(self, "classes_", ())) == 1:
            checked: Any = validate_data(self, X, reset=False, ensure_all_finite="allow-nan")
            return np.ones((len(checked), 1))
        found = self._answers(X)
        if found.ndim == 1:
            return np.column_stack([1.0 - found, found])
        # Sums of numbers of 32 bits miss 1 by more than some metrics take.
        return found / found.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> Any:
        """Return the most probable class of each row."""
        places = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[places]


def _check_same(before: NDArray[Any], now: NDArray[Any]) -> None:
    """Raise if a fit that goes on has other classes: its trees would be those of another target."""
    other = set(before.tolist()) ^ set(now.tolist())
    if other:
        one = min(other, key=str)
        said = "is not in y" if one in before.tolist() else "of y is new"
        raise ValueError(
            f"the class {one!r} {said}: with warm_start a fit adds rounds to those of the same "
            "classes; set warm_start=False to fit anew."
        )


class BoostedRegressor(RegressorMixin, Boosted):  # type: ignore[misc]
    """The common part of the regressors; a target far from 0, small or large has its own unit."""

    loss: str
    # Before the first fit; that it is missing is told where a model is asked.
    target_unit_: tuple[float, float] = TargetUnit()

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        X, y = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=True
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
        y = np.asarray(y, dtype=np.float64)
        if not self._rounds_done():  # trees that are added say it in the unit of those there are
            unit = TargetUnit.of(y, weights)
            self.target_unit_ = (unit.middle, unit.size)
        self._fit_rows(X, TargetUnit(*self.target_unit_).within(y), weights, 0)

    def predict(self, X: Any) -> Any:
        """Return the predicted value of each row."""
        return TargetUnit(*self.target_unit_).back(self._answers(X))
