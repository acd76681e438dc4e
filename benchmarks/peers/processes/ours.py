"""This package's estimators, with nothing but the time, the metric, one worker and the seed.

Variants: `default`; `boost`, the same with the plugin automl-admm-boost installed; `joint`, one
TPE for structure and parameters together; `joint-optuna` and `joint-smac`, the same with Optuna's
TPE and with SMAC; `random`, random search over the same default space;
`optuna`, `ctpe`, `tpe` and `uniform`, Optuna's TPE with its constraints, our c-TPE, our TPE and
random search, each of which proposes whole pipelines of the space of `boost`, where a task has a
limit.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from automl_admm import AutoMLClassifier, AutoMLRegressor, Constraint, Limit
from automl_admm.plugin_api import EvaluatedPipeline

from .exchange import Fitted, Task, best_so_far, serve, versions
from .exchange import Limit as Asked
from .measuring import bytes_of

PLUGIN = "automl-admm-boost"
BOOSTED = ("boost", "optuna", "ctpe", "tpe", "uniform")
METRICS = {
    "auc": "roc_auc",
    "log_loss": "neg_log_loss",
    "r2": "r2",
    "balanced_accuracy": "balanced_accuracy",
}
SETTINGS: dict[str, dict[str, Any]] = {
    "default": {},
    "boost": {},
    "joint": {"strategy": "joint", "theta_solver": "tpe"},
    "joint-optuna": {"strategy": "joint", "theta_solver": "optuna"},
    "joint-smac": {"strategy": "joint", "theta_solver": "smac"},
    "random": {"strategy": "joint", "theta_solver": "random"},
    "optuna": {"strategy": "joint", "theta_solver": "optuna"},
    "ctpe": {"strategy": "joint", "theta_solver": "ctpe"},
    "tpe": {"strategy": "joint", "theta_solver": "tpe"},
    "uniform": {"strategy": "joint", "theta_solver": "random"},
}


class Moments:
    """A callback that notes when each whole evaluation ended, and with which loss."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.seen: list[tuple[float, float]] = []

    def evaluation_finished(self, evaluation: Any) -> None:
        """Note an evaluation on all rows."""
        if evaluation.ok and evaluation.is_whole:
            self.seen.append((time.monotonic() - self.begun, evaluation.loss))


def check_plugin(variant: str) -> None:
    """Refuse to measure one variant in the environment of the other."""
    is_there = bool(versions([PLUGIN]))
    if is_there != (variant in BOOSTED):
        raise RuntimeError(
            f"{PLUGIN} is {'' if is_there else 'not '}installed in this environment, so this is"
            f" not the system that was asked for; make the environments with --install"
        )


def fit(task: Task, variant: str) -> Fitted:
    """Fit the estimator of the task."""
    check_plugin(variant)
    kind = AutoMLRegressor if task.is_regression else AutoMLClassifier
    moments = Moments()
    search: Any = kind(
        time_budget=task.seconds,
        scoring=METRICS[task.metric],
        n_jobs=1,
        random_state=task.seed,
        callbacks=[moments],
        **SETTINGS[variant],
        **limits_of(task),
    )
    search.fit(task.X, task.y)
    return Fitted(
        predict=search.predict if task.is_regression else chances_of(search),
        classes=[] if task.is_regression else [str(one) for one in search.classes_],
        evaluations=search.n_evaluations_,
        anytime=best_so_far(moments.seen),
        note=str(search.best_pipeline_),
        decide=search.predict,
        shipped=search.best_pipeline_,
    )


def chances_of(search: Any) -> Any:
    """Return `predict_proba`, or numbers from 0 to 1 in the order of the scores.

    A winner by AUC may have scores only; they have an AUC all the same.
    """
    if hasattr(search, "predict_proba"):
        return search.predict_proba

    def squeezed(X: Any) -> Any:
        scores = search.decision_function(X)
        yes = (1 + scores / (1 + np.abs(scores))) / 2
        return np.column_stack([1 - yes, yes])

    return squeezed


def limits_of(task: Task) -> dict[str, Any]:
    """Return the settings of a task with a limit, in this package's words."""
    limit = task.limit
    if limit is None:
        return {}
    positive = {} if task.positive is None else {"positive": task.positive}
    return {"constraints": [_constraint(limit)], **positive}


def _constraint(limit: Asked) -> str | Constraint:
    if limit.name == "size":
        return Constraint(Limit("pickle_mb", limit.bound), pickle_mb, any_rows=True)
    name = "latency_us" if limit.name == "latency" else limit.name
    groups = "" if limit.column is None else f"[{limit.column}]"
    return f"{name}{groups} <= {limit.bound:g}"


def pickle_mb(evaluated: EvaluatedPipeline) -> float:
    """Return the megabytes that the driver counts; `size_mb` counts those of `model.skops`."""
    return bytes_of(evaluated.pipeline) / 1e6


if __name__ == "__main__":
    serve(fit, ["automl-admm", PLUGIN, "scikit-learn", "pandas", "numpy"])
