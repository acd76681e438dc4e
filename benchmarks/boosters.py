"""Seconds of the processor for the same number of trees: LightGBM, XGBoost, histogram boosting.

    python benchmarks/boosters.py --data ../shared/data

Each fits 100 rounds of trees with at most 31 leaves (XGBoost: depth 5, so 32) on one thread, on
tables encoded beforehand, the same rows for all; the fastest of `--times` fits counts. Beside it
stand the score on the rows left over (AUROC, or accuracy for more than two classes), and the fit
with early stopping and its refit, with the rounds that it kept.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from automl_admm_boost import LightGBMClassifier, XGBoostClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import OrdinalEncoder
from threadpoolctl import threadpool_limits

ROUNDS = 100
Make = Callable[[], Any]
MODELS: dict[str, Make] = {
    "histograms": lambda: HistGradientBoostingClassifier(
        max_iter=ROUNDS, early_stopping=False, random_state=0
    ),
    "lightgbm": lambda: LightGBMClassifier(n_estimators=ROUNDS, random_state=0),
    "xgboost": lambda: XGBoostClassifier(n_estimators=ROUNDS, max_depth=5, random_state=0),
    "lightgbm, early": lambda: LightGBMClassifier(
        n_estimators=500, early_stopping=True, random_state=0
    ),
    "xgboost, early": lambda: XGBoostClassifier(
        n_estimators=500, max_depth=5, early_stopping=True, random_state=0
    ),
}


def read_set(path: Path) -> tuple[Any, Any]:
    """Return a table of numbers, gaps included, and its target."""
    frame = pd.read_csv(path)
    y = frame.pop(frame.columns[-1]).to_numpy()
    words = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    frame[words] = OrdinalEncoder().fit_transform(frame[words].astype(str))
    return frame.to_numpy(dtype=float), y


def measure(make: Make, X: Any, y: Any, times: int) -> tuple[float, float, int]:
    """Return the seconds of the fastest fit, the score, and the rounds."""
    train, test = train_test_split(np.arange(len(y)), stratify=y, random_state=0)
    spent = []
    for _ in range(times):
        begun = time.process_time()
        model = make().fit(X[train], y[train])
        spent.append(time.process_time() - begun)
    return min(spent), score(model, X[test], y[test]), int(model.n_iter_)


def score(model: Any, X: Any, y: Any) -> float:
    """Return the AUROC for two classes, the accuracy for more."""
    if len(model.classes_) == 2:
        return float(roc_auc_score(y == model.classes_[1], model.predict_proba(X)[:, 1]))
    return float(accuracy_score(y, model.predict(X)))


def rows(folder: Path, names: list[str], times: int) -> Iterator[str]:
    """Yield the lines of the table."""
    head = f"{'set':<16}{'rows':>7}{'classes':>8}  {'model':<16}"
    yield f"{head}{'seconds':>8}{'rounds':>7}{'score':>8}"
    for name in names:
        X, y = read_set(folder / f"{name}.csv")
        about = f"{name:<16}{len(y):>7}{len(np.unique(y)):>8}"
        for title, make in MODELS.items():
            seconds, reached, rounds = measure(make, X, y, times)
            yield f"{about}  {title:<16}{seconds:>8.2f}{rounds:>7}{reached:>8.4f}"
            about = " " * len(about)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", default=["vehicle", "adult", "credit_default"])
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    with threadpool_limits(limits=1):
        for line in rows(given.data, given.sets, given.times):
            print(line, flush=True)


if __name__ == "__main__":
    main()
