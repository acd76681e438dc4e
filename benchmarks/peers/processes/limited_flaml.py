"""FLAML with its constraints on metrics; of its trials the best one within the limit is fitted.

It steers by a constraint, but ships the trial with the least loss, whatever limit that exceeds. So
its log is read, and the best trial within the limit is trained on all rows, with FLAML's own tool.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from flaml import AutoML

from .exchange import Fitted, Task, serve
from .filtering import Judged, Shipping, decider, fit_chosen, judge
from .measuring import bytes_of, microseconds_a_row

CALLS = 3
# Part of the time that is kept for the fit on all rows, as FLAML does it itself.
RESERVE = 0.1


def fit(task: Task, _variant: str) -> Fitted:
    """Search within the constraint, choose from the log, and fit the chosen trial."""
    log = task.folder / "flaml.log"
    kind = "regression" if task.is_regression else "classification"
    limits: dict[str, Any] = {"metric_constraints": [("limited", "<=", task.limit.bound)]}
    if task.limit.name == "latency":
        limits = {"pred_time_limit": task.limit.bound * 1e-6}
    search = AutoML()
    search.fit(
        task.X,
        task.y,
        task=kind,
        metric=_metric_of(task, search),
        time_budget=task.seconds * (1 - RESERVE),
        n_jobs=1,
        seed=task.seed,
        verbose=0,
        log_file_name=str(log),
        log_type="all",
        retrain_full=False,
        **limits,
    )
    places, judged = _read_trials(log)

    def fit_again(place: int) -> Shipping:
        model = AutoML()
        given = {"train_full": True, "record_id": places[place], "n_jobs": 1}
        model.retrain_from_log(str(log), task.X, task.y, task=kind, **given)
        predict = model.predict if task.is_regression else model.predict_proba
        # What it takes to predict, without the rows and the history that the whole object keeps.
        shipped = model.model, model.feature_transformer, model.label_transformer
        return Shipping(model, predict, shipped)

    best, found = fit_chosen(task, judged, fit_again)
    return Fitted(
        predict=found.predict,
        classes=[] if task.is_regression else [str(one) for one in found.model.classes_],
        evaluations=len(judged),
        note=f"validation {judged[best]}, {found.model.model}",
        decide=decider(task, found.predict, judged[best].threshold),
        shipped=found.shipped,
    )


def _metric_of(task: Task, search: AutoML) -> Any:
    """Return a metric in the form of FLAML: the loss, and what is logged and constrained.

    A learner is given rows that FLAML has prepared: the time for that is added to its latency.
    """

    @cache
    def preparing() -> float:
        return microseconds_a_row(search.preprocess, task.X, CALLS)

    def metric(X: Any, y: Any, estimator: Any, *_others: Any) -> tuple[float, dict[str, float]]:
        predict = estimator.predict if task.is_regression else estimator.predict_proba
        truth = np.asarray(y) if task.is_regression else np.asarray(task.classes)[np.asarray(y)]

        def cost() -> float:
            if task.limit.name == "size":
                return bytes_of(estimator) / 1e6
            return preparing() + microseconds_a_row(predict, X, CALLS)

        found = judge(task, X, truth, np.asarray(predict(X)), cost)
        seconds = found.value * 1e-6 if task.limit.name == "latency" else 0.0
        told = {"limited": found.value, "threshold": found.threshold, "pred_time": seconds}
        return found.loss, told

    return metric


def _read_trials(log: Path) -> tuple[list[int], list[Judged]]:
    """Return the lines of the log that are trials, and how each was judged, a mean over folds."""
    places, judged = [], []
    for place, line in enumerate(log.read_text(encoding="utf-8").splitlines()):
        record = json.loads(line)
        if "validation_loss" in record:
            told = record["logged_metric"]
            places.append(place)
            judged.append(Judged(record["validation_loss"], told["limited"], told["threshold"]))
    return places, judged


if __name__ == "__main__":
    serve(fit, ["flaml", "lightgbm", "xgboost", "scikit-learn", "pandas", "numpy"])
