"""LightGBM, tuned as people do it: random search over the usual ranges, folds, early stopping.

The first draw is LightGBM's default. The winner is fitted on all rows, with as many trees as its
folds had on average.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold

from .exchange import Fitted, Task, best_so_far, serve

FOLDS = 5
MOST_TREES = 5000
PATIENCE = 50
# Part of the time that is kept for the fit on all rows.
RESERVE = 0.1
METRICS = {"binary": "auc", "multiclass": "multi_logloss", "regression": "l2"}


@dataclass(frozen=True)
class Draw:
    """One setting: its mean validation loss, the mean number of trees, the time it took.

    `held_out` has the predictions of all rows by the folds that did not have them, `model` is that
    of the last fold.
    """

    parameters: dict[str, Any]
    loss: float
    trees: int
    seconds: float
    held_out: Any
    model: Any


# What is fitted where the time was too short for a single setting.
DEFAULT = Draw({}, np.nan, 100, 0.0, None, None)


class OutOfTimeError(Exception):
    """The time ended in the middle of a fold."""


def draw_parameters(random: np.random.Generator) -> dict[str, Any]:
    """Draw from the ranges that comparisons of boosters use."""
    return {
        "learning_rate": float(10 ** random.uniform(-2.3, -0.5)),
        "num_leaves": int(2 ** random.uniform(2, 8)),
        "min_child_samples": int(2 ** random.uniform(1, 7)),
        "subsample": float(random.uniform(0.5, 1.0)),
        "subsample_freq": 1,
        "colsample_bytree": float(random.uniform(0.3, 1.0)),
        "reg_lambda": float(10 ** random.uniform(-3, 2)),
        "reg_alpha": float(10 ** random.uniform(-3, 1)),
        "min_child_weight": float(10 ** random.uniform(-5, 1)),
        "extra_trees": bool(random.uniform() < 0.25),
    }


def model_of(task: Task, parameters: dict[str, Any], trees: int) -> Any:
    """Return an unfitted model with one thread."""
    kind = lightgbm.LGBMRegressor if task.is_regression else lightgbm.LGBMClassifier
    return kind(
        n_estimators=trees,
        metric=METRICS[task.kind],
        n_jobs=1,
        random_state=task.seed,
        verbose=-1,
        **parameters,
    )


def split(task: Task) -> list[tuple[Any, Any]]:
    """Return the folds, the same for every draw."""
    kind = KFold if task.is_regression else StratifiedKFold
    return list(kind(FOLDS, shuffle=True, random_state=task.seed).split(task.X, task.y))


def evaluate(task: Task, folds: Any, parameters: dict[str, Any], deadline: float) -> Draw:
    """Fit a model in each fold until its validation loss has not become better for a while."""

    def stop_in_time(_environment: Any) -> None:
        if time.monotonic() > deadline:
            raise OutOfTimeError

    begun = time.monotonic()
    losses, trees = [], []
    predicted = np.zeros((len(task.y), *([] if task.is_regression else [len(task.classes)])))
    for train, held_out in folds:
        model = model_of(task, parameters, MOST_TREES)
        y_held_out = task.y.iloc[held_out]
        model.fit(
            task.X.iloc[train],
            task.y.iloc[train],
            eval_set=[(task.X.iloc[held_out], y_held_out)],
            callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False), stop_in_time],
        )
        best = model.best_score_["valid_0"][METRICS[task.kind]]
        losses.append(_loss(task, best, y_held_out))
        trees.append(model.best_iteration_)
        predicted[held_out] = predict_of(task, model)(task.X.iloc[held_out])
    taken = time.monotonic() - begun
    count = max(1, round(np.mean(trees)))
    return Draw(parameters, float(np.mean(losses)), count, taken, predicted, model)


def predict_of(task: Task, model: Any) -> Any:
    """Return the method that predicts quantities, or a chance for each class."""
    return model.predict if task.is_regression else model.predict_proba


def _loss(task: Task, measured: float, y: Any) -> float:
    if task.metric == "auc":
        return 1 - measured
    return measured / float(np.var(y)) if task.is_regression else measured


def draw_all(task: Task, begun: float) -> tuple[list[Draw], list[tuple[float, float]]]:
    """Draw settings as long as another one and the last fit are likely to fit in the time.

    With them come the pairs of seconds and loss, as they ended.
    """
    folds, random = split(task), np.random.default_rng(task.seed)
    end = begun + task.seconds * (1 - RESERVE)
    draws: list[Draw] = []
    moments: list[tuple[float, float]] = []
    while not draws or time.monotonic() + np.mean([one.seconds for one in draws]) < end:
        parameters = {} if not draws else draw_parameters(random)
        try:
            draws.append(evaluate(task, folds, parameters, end))
        except OutOfTimeError:
            break
        moments.append((time.monotonic() - begun, draws[-1].loss))
    return draws, moments


def fit(task: Task, _variant: str) -> Fitted:
    """Fit the best of the drawn settings on all rows; the default where none has ended."""
    draws, moments = draw_all(task, time.monotonic())
    best = min(draws, key=lambda one: one.loss, default=DEFAULT)
    model = model_of(task, best.parameters, best.trees).fit(task.X, task.y)
    return Fitted(
        predict=predict_of(task, model),
        classes=[] if task.is_regression else [str(one) for one in model.classes_],
        evaluations=len(draws),
        anytime=best_so_far(moments),
        note=f"{best.trees} trees, {best.parameters}",
    )


if __name__ == "__main__":
    serve(fit, ["lightgbm", "scikit-learn", "pandas", "numpy"])
