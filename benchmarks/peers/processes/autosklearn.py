"""auto-sklearn 0.15 with its own settings: the time, the metric, one core and the seed."""

from __future__ import annotations

from typing import Any

from autosklearn import metrics
from autosklearn.classification import AutoSklearnClassifier
from autosklearn.regression import AutoSklearnRegressor

from .exchange import Fitted, Task, best_so_far, serve

METRICS = {"auc": metrics.roc_auc, "log_loss": metrics.log_loss, "r2": metrics.r2}
BEST_SCORE = {"auc": 1.0, "log_loss": 0.0, "r2": 1.0}


def fit(task: Task, _variant: str) -> Fitted:
    """Fit within the time; it refuses less than 30 s."""
    kind = AutoSklearnRegressor if task.is_regression else AutoSklearnClassifier
    search = kind(
        time_left_for_this_task=int(task.seconds),
        metric=METRICS[task.metric],
        n_jobs=1,
        seed=task.seed,
    )
    search.fit(task.X, task.y)
    return Fitted(
        predict=search.predict if task.is_regression else search.predict_proba,
        classes=[] if task.is_regression else task.classes,
        evaluations=len(search.cv_results_["status"]),
        anytime=_incumbents(search, task),
    )


def _incumbents(search: Any, task: Task) -> list[tuple[float, float]]:
    found = search.performance_over_time_
    begun = found["Timestamp"].iloc[0]
    seconds = (found["Timestamp"] - begun).dt.total_seconds()
    losses = BEST_SCORE[task.metric] - found["single_best_optimization_score"]
    return best_so_far(list(zip(seconds, losses)))  # noqa: B905 - Python 3.9


if __name__ == "__main__":
    serve(fit, ["auto-sklearn", "scikit-learn", "pandas", "numpy"])
