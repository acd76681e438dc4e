"""XGBoost as estimators whose models are bytes in XGBoost's own format, UBJSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import xgboost

from automl_admm_boost.boosted import (
    PATIENCE,
    Boosted,
    BoostedClassifier,
    BoostedRegressor,
    Floats,
    in_32_bits,
    shape_of,
)
from automl_admm_boost.rounds import Rows

REGRESSIONS = {
    "squared_error": ("reg:squarederror", "rmse"),
    "absolute_error": ("reg:absoluteerror", "mae"),
}


class _XGBoost(Boosted):
    """The part of XGBoost."""

    learning_rate: float
    max_depth: int
    min_child_weight: float
    reg_lambda: float
    colsample_bytree: float
    subsample: float
    _booster: Any

    def _train(
        self, rows: Rows, outputs: int, rounds: int, aside: Rows | None, start: Any = None
    ) -> tuple[bytes, int]:
        settings = self._settings() | self._objective(outputs)
        data = self._matrix(rows)
        if aside is None:
            booster = xgboost.train(settings, data, rounds, xgb_model=start)
            return bytes(booster.save_raw("ubj")), rounds
        booster = xgboost.train(
            settings,
            data,
            rounds,
            evals=[(self._matrix(aside), "aside")],
            early_stopping_rounds=PATIENCE,
            verbose_eval=False,
        )
        return b"", int(booster.best_iteration) + 1

    def _objective(self, outputs: int) -> dict[str, Any]:
        if outputs == 0:
            objective, metric = REGRESSIONS[getattr(self, "loss", "squared_error")]
            return {"objective": objective, "eval_metric": metric}
        if outputs == 2:
            return {"objective": "binary:logistic", "eval_metric": "logloss"}
        return {"objective": "multi:softprob", "num_class": outputs, "eval_metric": "mlogloss"}

    def _settings(self) -> dict[str, Any]:
        return {
            "tree_method": "hist",
            "learning_rate": self.learning_rate,
            "max_depth": self.max_depth,
            "min_child_weight": self.min_child_weight,
            "reg_lambda": self.reg_lambda,
            "colsample_bytree": self.colsample_bytree,
            "subsample": self.subsample,
            "seed": self._seed,
            "nthread": self._threads,
            "verbosity": 0,
        }

    def _matrix(self, rows: Rows) -> Any:
        return xgboost.DMatrix(
            in_32_bits(rows.X),
            rows.y,
            weight=rows.weights,
            feature_types=self._kinds(rows.X.shape[1]),
            enable_categorical=True,
            nthread=self._threads,
        )

    def _kinds(self, columns: int) -> list[str]:
        native = set(self.categorical_features or ())
        return ["c" if place in native else "q" for place in range(columns)]

    def _read(self, model: bytes) -> Any:
        booster = xgboost.Booster()
        booster.load_model(bytearray(model))
        return booster

    def _raw(self, X: Floats) -> Floats:
        self._booster.set_param({"nthread": self._threads})
        data = xgboost.DMatrix(
            in_32_bits(X),
            feature_types=self._kinds(X.shape[1]),
            enable_categorical=True,
            nthread=self._threads,
        )
        return np.asarray(self._booster.predict(data), dtype=np.float64)

    def _shapes(self) -> Iterator[tuple[int, int]]:
        for tree in self._booster.get_dump(dump_format="json"):
            yield shape_of(json.loads(tree), lambda node: node.get("children", ()))


class XGBoostClassifier(BoostedClassifier, _XGBoost):
    """A classifier of XGBoost; parameters are those of its `XGBClassifier`.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> XGBoostClassifier(n_estimators=20).fit(X, y).score(X, y) > 0.95
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn wants each by name
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        reg_lambda: float = 1.0,
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
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.subsample = subsample
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class XGBoostRegressor(BoostedRegressor, _XGBoost):
    """A regressor of XGBoost; parameters are those of its `XGBRegressor`.

    >>> import numpy as np
    >>> X = np.arange(200.0)[:, None]
    >>> XGBoostRegressor(n_estimators=50).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.95
    True
    """

    def __init__(  # noqa: PLR0913 - scikit-learn wants each by name
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        min_child_weight: float = 1.0,
        reg_lambda: float = 1.0,
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
        self.max_depth = max_depth
        self.min_child_weight = min_child_weight
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.subsample = subsample
        self.loss = loss
        self.early_stopping = early_stopping
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
