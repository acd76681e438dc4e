"""Processor seconds of boosting on histograms with balanced classes: scikit-learn's bins, and ours.

Each line is a fit on random numbers of these rows, columns and classes, with the same model as
the result; the last column is the share that is left.

    OMP_NUM_THREADS=1 python benchmarks/weighted_binning.py
"""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from automl_admm.pipelines.weighted_binning import quick_binning

# Rows, columns, classes and rounds.
SHAPES = (
    (375, 35, 19, 100),
    (1672, 180, 3, 50),
    (3800, 20, 2, 100),
    (7500, 14, 2, 100),
)


def seconds(model: Any, X: Any, y: Any, setting: AbstractContextManager[None]) -> float:
    """Fit, and return the seconds of the processor."""
    with setting:
        begun = time.process_time()
        model.fit(X, y)
        return time.process_time() - begun


def main() -> None:
    """Print a line a shape."""
    rng = np.random.default_rng(0)
    # The first fit of a process pays for imports.
    HistGradientBoostingClassifier(max_iter=2).fit(rng.normal(size=(50, 3)), np.arange(50) % 2)
    sys.stdout.write(f"{'rows':>5} {'columns':>7} {'classes':>7} {'before':>7} {'now':>6}\n")
    for rows, columns, classes, rounds in SHAPES:
        X, y = rng.normal(size=(rows, columns)), rng.integers(0, classes, rows)
        model = HistGradientBoostingClassifier(max_iter=rounds, class_weight="balanced")
        before = seconds(model, X, y, nullcontext())
        now = seconds(model, X, y, quick_binning())
        row = f"{rows:5d} {columns:7d} {classes:7d} {before:7.2f} {now:6.2f} {now / before:6.0%}"
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
