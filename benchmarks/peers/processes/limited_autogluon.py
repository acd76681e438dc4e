"""AutoGluon with its `infer_limit` for latency; of its models the best one within the limit ships.

Models of a bag are judged by their out-of-fold predictions. Without bags a part of the rows is set
aside as AutoGluon does it itself, and handed to it for validation.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from autogluon.tabular import TabularPredictor
from sklearn.model_selection import train_test_split

from .autogluon import LABEL, METRICS
from .exchange import Fitted, Task, serve
from .filtering import Judged, decider, in_order, judge
from .measuring import BATCH, bytes_of, microseconds_a_row

CALLS = 5
# Its own rule for the rows that it sets aside.
PART, MOST_ROWS = 0.2, 2500


def fit(task: Task, variant: str) -> Fitted:
    """Fit with the preset, judge all models, and ship the chosen one."""
    metric = "roc_auc" if task.kind == "binary" else METRICS[task.metric]
    predictor = TabularPredictor(
        LABEL,
        problem_type=task.kind,
        eval_metric=metric,
        path=str(task.folder / "models"),
        verbosity=1,
    )
    rows = task.X.assign(**{LABEL: task.y.to_numpy()})
    held_out = None
    given: dict[str, Any] = {}
    if variant == "medium_quality":
        rows, held_out = _set_aside(task, rows)
        given["tuning_data"] = held_out
    if task.limit.name == "latency":
        given |= {"infer_limit": task.limit.bound * 1e-6, "infer_limit_batch_size": BATCH}
    predictor.fit(rows, presets=variant, time_limit=task.seconds, num_cpus=1, num_gpus=0, **given)
    predictor.persist(models="all")
    names = list(predictor.model_names(can_infer=True))
    judged = [_judge(task, predictor, name, held_out) for name in names]
    best = in_order(task, judged)[0]
    return _fitted(task, predictor, names, judged, best)


def _set_aside(task: Task, rows: Any) -> tuple[Any, Any]:
    part = min(PART, MOST_ROWS / len(rows))
    labels = None if task.is_regression else rows[LABEL]
    kept, held_out = train_test_split(rows, test_size=part, random_state=task.seed, stratify=labels)
    return kept, held_out


def _predict(task: Task, predictor: Any, name: str, X: Any) -> Any:
    if task.is_regression:
        return predictor.predict(X, model=name).to_numpy()
    return predictor.predict_proba(X, model=name)[task.classes].to_numpy()


def _held_out(task: Task, predictor: Any, name: str, held_out: Any) -> Any:
    if held_out is not None:
        return _predict(task, predictor, name, held_out.drop(columns=LABEL))
    if task.is_regression:
        return predictor.predict_oof(model=name).to_numpy()
    return predictor.predict_proba_oof(model=name)[task.classes].to_numpy()


def _judge(task: Task, predictor: Any, name: str, held_out: Any) -> Judged:
    def cost() -> float:
        if task.limit.name == "size":
            return bytes_of(_shipped(task, predictor, name)) / 1e6
        return microseconds_a_row(partial(_predict, task, predictor, name), task.X, CALLS)

    rows = task.X.assign(**{LABEL: task.y.to_numpy()}) if held_out is None else held_out
    predicted = np.asarray(_held_out(task, predictor, name, held_out), dtype=float)
    return judge(task, rows, rows[LABEL], predicted, cost)


def _shipped(task: Task, predictor: Any, name: str) -> Path:
    """Write what AutoGluon deploys for one model, and return its folder."""
    folder = task.folder / "shipped" / name
    if not folder.exists():
        predictor.clone_for_deployment(path=str(folder), model=name)
    return folder


def _fitted(task: Task, predictor: Any, names: Any, judged: Any, best: int) -> Fitted:
    predict = partial(_predict, task, predictor, names[best])
    return Fitted(
        predict=predict,
        classes=task.classes,
        evaluations=len(names),
        note=f"{names[best]}, validation {judged[best]}",
        decide=decider(task, predict, judged[best].threshold),
        shipped=_shipped(task, predictor, names[best]),
    )


if __name__ == "__main__":
    serve(fit, ["autogluon.tabular", "lightgbm", "xgboost-cpu", "catboost", "scikit-learn"])
