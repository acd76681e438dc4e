"""LightGBM as estimators whose models are texts in LightGBM's own format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import lightgbm
import numpy as np

from automl_admm_boost.boosted import (
    PATIENCE,
    Boosted,
    BoostedClassifier,
    BoostedRegressor,
    Floats,
    shape_of,
)
from automl_admm_boost.rounds import Rows

REGRESSIONS = {"squared_error": "regression", "absolute_error": "regression_l1"}


class _LightGBM(Boosted):
    """The part of LightGBM."""

    learning_rate: float
    num_leaves: int
    min_child_samples: int
    reg_lambda: float
    colsample_bytree: float
    subsample: float
    _booster: Any

    def _train(
        self, rows: Rows, outputs: int, rounds: int, aside: Rows | None, start: Any = None
    ) -> tuple[bytes, int]:
        settings = self._settings(len(rows.y)) | self._objective(outputs)
        data = self._dataset(rows, settings)
        if aside is None:
            booster = lightgbm.train(settings, data, rounds, init_model=start)
            return booster.model_to_string().encode(), rounds
        stop = lightgbm.early_stopping(PATIENCE, verbose=False)
        valid = self._dataset(aside, settings, data)
        booster = lightgbm.train(settings, data, rounds, valid_sets=[valid], callbacks=[stop])
        return b"", max(int(booster.best_iteration), 1)

    def _objective(self, outputs: int) -> dict[str, Any]:
        if outputs == 0:
            return {"objective": REGRESSIONS[getattr(self, "loss", "squared_error")]}
        if outputs == 2:
            return {"objective": "binary"}
        return {"objective": "multiclass", "num_class": outputs}

    def _settings(self, rows: int) -> dict[str, Any]:
        return {
            "learning_rate": self.learning_rate,
            "num_leaves": self.num_leaves,
            # A leaf of a small table may not need so many rows that there is no split at all.
            "min_data_in_leaf": max(min(self.min_child_samples, rows // 10), 1),
            "min_data_in_bin": 3 if rows > 100 else 1,
            "lambda_l2": self.reg_lambda,
            "feature_fraction": self.colsample_bytree,
            "bagging_fraction": self.subsample,
            "bagging_freq": 1 if self.subsample < 1.0 else 0,
            "feature_pre_filter": False,
            "seed": self._seed,
            # Else it measures which of two ways is faster, and the order of sums differs.
            "force_col_wise": True,
            "deterministic": True,
            "num_threads": self._threads,
            "verbosity": -1,
        }

    def _dataset(self, rows: Rows, settings: dict[str, Any], like: Any = None) -> Any:
        return lightgbm.Dataset(
            rows.X,
            rows.y,
            weight=rows.weights,
            categorical_feature=self.categorical_features or "auto",
            params=settings,
            reference=like,
        )

    def _read(self, model: bytes) -> Any:
        return lightgbm.Booster(model_str=model.decode())

    def _raw(self, X: Floats) -> Floats:
        found: Floats = np.asarray(self._booster.predict(X, num_threads=self._threads))
        return found

    def _shapes(self) -> Iterator[tuple[int, int]]:
        for tree in self._booster.dump_model()["tree_info"]:
            yield shape_of(tree["tree_structure"], _children)


def _children(node: Any) -> list[Any]:
    return [node[side] for side in ("left_child", "right_child") if side in node]


class LightGBMClassifier(BoostedClassifier, _LightGBM):
    """A classifier of LightGBM; parameters are those of its `LGBMClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LightGBMClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn wants each by name
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        reg_lambda: float = 0.0,
        colsample_bytree: float = 1.0,
        subsample: float = 1.0,
        class_weight: Any = None,
        early_stopping: bool = False,
        warm_start: bool = False,
        categorical_features: list[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.subsample = subsample
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class LightGBMRegressor(BoostedRegressor, _LightGBM):
    """A regressor of LightGBM; parameters are those of its `LGBMRegressor`.

    >>> import numpy as np
    >>> X = np.arange(200.0)[:, None]
    >>> LightGBMRegressor(n_estimators=50).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.95
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn wants each by name
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        reg_lambda: float = 0.0,
        colsample_bytree: float = 1.0,
        subsample: float = 1.0,
        loss: str = "squared_error",
        early_stopping: bool = False,
        warm_start: bool = False,
        categorical_features: list[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.subsample = subsample
        self.loss = loss
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
