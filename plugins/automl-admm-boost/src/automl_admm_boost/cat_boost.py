"""CatBoost as estimators whose models are bytes in CatBoost's own format, cbm."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import catboost
import numpy as np

from automl_admm_boost.boosted import (
    PATIENCE,
    Boosted,
    BoostedClassifier,
    BoostedRegressor,
    Floats,
    in_32_bits,
)
from automl_admm_boost.rounds import Rows

NOTHING_DRAWN = "Too few sampling units"
REGRESSIONS = {"squared_error": "RMSE", "absolute_error": "MAE"}


class _CatBoost(Boosted):
    """The part of CatBoost."""

    learning_rate: float
    max_depth: int
    reg_lambda: float
    colsample_bytree: float
    _booster: Any

    def _train(
        self, rows: Rows, outputs: int, rounds: int, aside: Rows | None, start: Any = None
    ) -> tuple[bytes, int]:
        del start  # a fit that goes on is another model: levels are counted anew
        settings = self._settings() | self._objective(outputs) | {"iterations": rounds}
        data = self._pool(rows)
        if aside is None:
            return _bytes_of(_fitted(settings, data)), rounds
        stopping = {"eval_set": self._pool(aside), "early_stopping_rounds": PATIENCE}
        return b"", int(_fitted(settings, data, **stopping).get_best_iteration() or 0) + 1

    def _objective(self, outputs: int) -> dict[str, Any]:
        if outputs == 0:
            loss = REGRESSIONS[getattr(self, "loss", "squared_error")]
            return {"loss_function": loss, "allow_const_label": True}
        if outputs == 2:
            return {"loss_function": "Logloss"}
        return {"loss_function": "MultiClass", "classes_count": outputs}

    def _settings(self) -> dict[str, Any]:
        return {
            "learning_rate": self.learning_rate,
            "depth": self.max_depth,
            "l2_leaf_reg": self.reg_lambda,
            "rsm": self.colsample_bytree,
            "random_seed": self._seed,
            "thread_count": self._threads,
            "allow_writing_files": False,
            "verbose": False,
        }

    def _pool(self, rows: Rows) -> Any:
        return catboost.Pool(self._split(rows.X), rows.y, weight=rows.weights)

    def _split(self, X: Floats) -> Any:
        """Return the table in two parts, figures and levels: levels are texts to CatBoost."""
        native = self.categorical_features or []
        others = [place for place in range(X.shape[1]) if place not in native]
        levels = np.where(np.isnan(X[:, native]), -1, X[:, native]).astype(np.int64)
        return catboost.FeaturesData(
            num_feature_data=np.ascontiguousarray(in_32_bits(X[:, others]), dtype=np.float32)
            if others
            else None,
            cat_feature_data=levels.astype(str).astype(object) if native else None,
        )

    def _read(self, model: bytes) -> Any:
        return catboost.CatBoost().load_model(blob=model)

    def _raw(self, X: Floats) -> Floats:
        kind = "Probability" if hasattr(self, "classes_") else "RawFormulaVal"
        pool = catboost.Pool(self._split(X))
        found = self._booster.predict(pool, prediction_type=kind, thread_count=self._threads)
        found = np.asarray(found, dtype=np.float64)
        return found[:, 1] if found.ndim == 2 and found.shape[1] == 2 else found

    def _shapes(self) -> Iterator[tuple[int, int]]:
        # All nodes of one level ask the same: a tree of depth d has 2^d leaves.
        for leaves in map(int, self._booster.get_tree_leaf_counts()):
            yield leaves, leaves.bit_length() - 1


def _fitted(settings: dict[str, Any], data: Any, **stopping: Any) -> Any:
    """Fit CatBoost on the rows that it draws in each round, else on all of them."""
    made = catboost.CatBoost(settings)
    try:
        return made.fit(data, **stopping)
    except catboost.CatBoostError as problem:
        # It draws by the size of gradients, and none is left where every row is right.
        if NOTHING_DRAWN not in str(problem):
            raise
    return catboost.CatBoost(settings | {"bootstrap_type": "No"}).fit(data, **stopping)


def _bytes_of(made: Any) -> bytes:
    """Return the model as the file that CatBoost would write."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cbm"
        made.save_model(str(path))
        return path.read_bytes()


class CatBoostClassifier(BoostedClassifier, _CatBoost):
    """A classifier of CatBoost."""

    def __init__(  # noqa: PLR0913 - scikit-learn wants each by name
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        reg_lambda: float = 3.0,
        colsample_bytree: float = 1.0,
        class_weight: Any = None,
        early_stopping: bool = False,
        categorical_features: list[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.class_weight = class_weight
        self.early_stopping = early_stopping
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs


class CatBoostRegressor(BoostedRegressor, _CatBoost):
    """A regressor of CatBoost."""

    def __init__(  # noqa: PLR0913 - scikit-learn wants each by name
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 6,
        reg_lambda: float = 3.0,
        colsample_bytree: float = 1.0,
        loss: str = "squared_error",
        early_stopping: bool = False,
        categorical_features: list[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.reg_lambda = reg_lambda
        self.colsample_bytree = colsample_bytree
        self.loss = loss
        self.early_stopping = early_stopping
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs
