"""FLAML with its own settings: the time, the metric, one core and the seed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flaml import AutoML

from .exchange import Fitted, Task, best_so_far, serve

METRICS = {"auc": "roc_auc", "log_loss": "log_loss", "r2": "r2"}


def fit(task: Task, _variant: str) -> Fitted:
    """Fit within the time; the log of all trials tells how many they were, and when."""
    log = task.folder / "flaml.log"
    search = AutoML()
    search.fit(
        task.X,
        task.y,
        task="regression" if task.is_regression else "classification",
        metric=METRICS[task.metric],
        time_budget=task.seconds,
        n_jobs=1,
        seed=task.seed,
        verbose=0,
        log_file_name=str(log),
        log_type="all",
    )
    trials = _read_trials(log)
    return Fitted(
        predict=search.predict if task.is_regression else search.predict_proba,
        classes=[] if task.is_regression else list(search.classes_),
        evaluations=len(trials),
        anytime=best_so_far([(one["wall_clock_time"], one["validation_loss"]) for one in trials]),
        note=f"best learner {search.best_estimator}",
    )


def _read_trials(log: Path) -> list[dict[str, Any]]:
    """Return the lines of the log that are trials; its last line names the best one."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if "validation_loss" in line]


if __name__ == "__main__":
    serve(fit, ["flaml", "lightgbm", "xgboost", "scikit-learn", "pandas", "numpy"])
