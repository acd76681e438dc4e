"""Choose among the models of a system by validation rows: what all peers get that know no limits.

Each model is judged by what it predicts for rows that it has not learned from. Where the limit is
on decisions, each has the threshold that is best within it on those rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from .exchange import Task
from .measuring import (
    CALLS,
    auc_gap,
    bytes_of,
    groups_of,
    microseconds_a_row,
    threshold_within,
)

TRIES = 5


@dataclass(frozen=True)
class Judged:
    """A model on validation rows: its loss, the limited value, and the threshold for decisions."""

    loss: float
    value: float
    threshold: float = 0.5


@dataclass(frozen=True)
class Shipping:
    """A model fitted on all rows, its predictions, and what it takes to ship them."""

    model: Any
    predict: Callable[[Any], Any]
    shipped: Any


def judge(task: Task, X: Any, y: Any, predicted: Any, cost: Callable[[], float]) -> Judged:
    """Judge predictions of validation rows: chances in the order of the classes, or quantities.

    `cost` measures latency or size where that is the limit; it is not called elsewhere.
    """
    limit = task.limit
    if task.kind == "binary":
        yes = predicted[:, task.classes.index(task.positive)]
        truth = np.asarray(y) == task.positive
        if limit.name == "fpr":
            threshold, value, balanced = threshold_within(truth, yes, limit.bound)
            return Judged(1 - balanced, value, threshold)
        loss = 1 - float(roc_auc_score(truth, yes))
        if limit.name == "auc_gap":
            return Judged(loss, auc_gap(truth, yes, groups_of(X[limit.column])))
        return Judged(loss, cost())
    if task.is_regression:
        return Judged(1 - float(r2_score(y, predicted)), cost())
    chances = predicted / predicted.sum(axis=1, keepdims=True)
    return Judged(float(log_loss(y, chances, labels=task.classes)), cost())


def in_order(task: Task, judged: Sequence[Judged]) -> list[int]:
    """Return the places of those within the limit, the best first; then those that exceed it."""
    bound = task.limit.bound

    def order(place: int) -> tuple[float, float]:
        return max(0.0, judged[place].value - bound), judged[place].loss

    return sorted(range(len(judged)), key=order)


def fit_chosen(
    task: Task, judged: Sequence[Judged], fit: Callable[[int], Shipping]
) -> tuple[int, Shipping]:
    """Fit the best one within the limit on all rows; the next if its latency or size grew by that.

    After `TRIES` of them the last one ships.
    """
    for place in in_order(task, judged)[:TRIES]:
        fitted = fit(place)
        if cost_of(task, fitted) <= task.limit.bound:
            break
    return place, fitted


def cost_of(task: Task, fitted: Shipping) -> float:
    """Return the latency or the size of a fitted model if that is limited; else nothing."""
    if task.limit.name == "size":
        return bytes_of(fitted.shipped) / 1e6
    if task.limit.name == "latency":
        return microseconds_a_row(fitted.predict, task.X, CALLS)
    return 0.0


def decider(task: Task, predict: Callable[[Any], Any], threshold: float) -> Callable[[Any], Any]:
    """Return a function from rows to labels: the positive one from the threshold on."""
    place = task.classes.index(task.positive) if task.kind == "binary" else 0
    labels = np.asarray([*[one for one in task.classes if one != task.positive], task.positive])

    def decide(X: Any) -> Any:
        return labels[(np.asarray(predict(X))[:, place] >= threshold).astype(int)]

    return decide
