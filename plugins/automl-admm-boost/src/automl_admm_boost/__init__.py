"""LightGBM, XGBoost and CatBoost for automl-admm: components `lightgbm`, `xgboost`, `catboost`.

The estimators are scikit-learn's in form, and saved by skops without a line of foreign code.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from automl_admm.plugin_api import ComponentPlugin, hookimpl
from automl_admm_boost.declared import declare
from automl_admm_boost.libraries import LIBRARIES, find_problem

if TYPE_CHECKING:
    from automl_admm_boost.cat_boost import CatBoostClassifier, CatBoostRegressor
    from automl_admm_boost.light_gbm import LightGBMClassifier, LightGBMRegressor
    from automl_admm_boost.xg_boost import XGBoostClassifier, XGBoostRegressor

__all__ = [
    "CatBoostClassifier",
    "CatBoostRegressor",
    "LightGBMClassifier",
    "LightGBMRegressor",
    "XGBoostClassifier",
    "XGBoostRegressor",
    "components",
]


def __getattr__(name: str) -> Any:
    """Import an estimator when it is first used: the libraries take their time."""
    for library in LIBRARIES:
        if name in library.estimators:
            return getattr(import_module(library.module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@hookimpl
def components() -> Iterator[ComponentPlugin]:
    """Yield a component for each library and task; one that cannot be used says why."""
    for library in LIBRARIES:
        yield from declare(library, missing=find_problem(library))
