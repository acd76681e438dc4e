"""Measure what limits are about, in the same way in every environment and in the driver.

It runs with Python 3.9 as well.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score, roc_curve

BATCH = 1000
CALLS = 21


def microseconds_a_row(predict: Callable[[Any], Any], X: Any, calls: int) -> float:
    """Return the median time of warm calls with 1000 rows, per row; rows repeat if X has less."""
    batch = X.iloc[np.arange(BATCH) % len(X)].reset_index(drop=True)
    predict(batch)
    taken = []
    for _ in range(calls):
        begun = time.perf_counter()
        predict(batch)
        taken.append(time.perf_counter() - begun)
    return float(np.median(taken)) / BATCH * 1e6


def bytes_of(shipped: Any) -> int:
    """Return the bytes of a pickle, or of all files of a folder that a system ships."""
    if isinstance(shipped, Path):
        return sum(file.stat().st_size for file in shipped.rglob("*") if file.is_file())
    return len(pickle.dumps(shipped, protocol=5))


def threshold_within(truth: Any, chances: Any, bound: float) -> tuple[float, float, float]:
    """Return a threshold, its FPR and its balanced accuracy on these rows.

    It is the one with the best balanced accuracy, (recall + 1 - FPR) / 2, of all with FPR <= bound.
    """
    fpr, recall, thresholds = roc_curve(truth, chances, drop_intermediate=False)
    balanced = np.where(fpr <= bound, (recall + 1 - fpr) / 2, -np.inf)
    best = int(np.argmax(balanced))
    return float(thresholds[best]), float(fpr[best]), float(balanced[best])


def auc_gap(truth: Any, chances: Any, groups: Any) -> float:
    """Return the largest AUC of a group less the smallest; groups of one class have none."""
    found = [
        roc_auc_score(truth[groups == group], chances[groups == group])
        for group in sorted(set(groups))
        if 0 < truth[groups == group].sum() < (groups == group).sum()
    ]
    return float(max(found) - min(found)) if found else 0.0


def groups_of(column: Any) -> Any:
    """Return the groups of a column as text; a gap is a group of its own."""
    return np.asarray(column.astype(object).where(column.notna(), "").astype(str))
