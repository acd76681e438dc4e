"""How often the better of two pipelines is ranked first by a split of few rows, and at what cost.

Made-up tables, because the truth has to be known: the true score of a pipeline is the AUROC, on
4 000 other rows, of the pipeline fitted on all rows of the table. On every table each way to split
estimates the score of every pipeline. A pair counts if its true scores are more than 0.01 apart.
The regret is what the pipeline ranked first lacks of the best. The cost is the number of fits.

    python benchmarks/split_ranking.py
"""

from __future__ import annotations

import sys
import warnings
from collections import defaultdict
from collections.abc import Mapping
from itertools import combinations

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from automl_admm.core.space import Array
from automl_admm.data.splits import Split, make_splits

SIZES = (60, 120, 250, 500, 1000)
TABLES, TEST_ROWS, APART = 20, 4_000, 0.01
PIPELINES = (
    make_pipeline(StandardScaler(), LogisticRegression(C=0.05)),
    make_pipeline(StandardScaler(), LogisticRegression(C=5.0)),
    GaussianNB(),
    make_pipeline(StandardScaler(), KNeighborsClassifier(15)),
    DecisionTreeClassifier(max_depth=4, random_state=0),
    ExtraTreesClassifier(20, min_samples_leaf=3, random_state=0),
)


MOST_TIMES = 5
# Each way by its part of the fits: one holdout, then 4 folds dealt five times.
WAYS: Mapping[str, slice] = {
    "a quarter held out": slice(0, 1),
    "4 folds": slice(1, 5),
    "4 folds, 2 times": slice(1, 9),
    "4 folds, 3 times": slice(1, 13),
    "4 folds, 5 times": slice(1, 21),
}


def all_splits(y: Array) -> list[Split]:
    """Return the splits of all ways."""
    dealt = (make_splits(y, "classification", 4, seed) for seed in range(MOST_TIMES))
    return [*make_splits(y, "classification", 0.25), *(one for folds in dealt for one in folds)]


def table(number: int, rows: int) -> tuple[Array, Array, Array, Array]:
    """Return rows to learn from, and the rows that tell the truth."""
    X, y = make_classification(
        rows + TEST_ROWS,
        n_features=12,
        n_informative=3 + number % 5,
        n_clusters_per_class=1 + number % 3,
        class_sep=0.6,
        flip_y=0.1,
        weights=[0.5 + 0.1 * (number % 4)],
        random_state=number,
    )
    return X[:rows], y[:rows], X[rows:], y[rows:]


def auroc(model: object, X: Array, y: Array) -> float:
    """Return the AUROC of a fitted pipeline."""
    return float(roc_auc_score(y, model.predict_proba(X)[:, 1]))  # type: ignore[attr-defined]


def scores_of(X: Array, y: Array) -> Array:
    """Return the score of every pipeline on every split."""
    splits = all_splits(y)
    return np.array(
        [[auroc(clone(p).fit(X[a], y[a]), X[b], y[b]) for a, b in splits] for p in PIPELINES]
    )


def compare(rows: int) -> dict[str, tuple[float, float, int]]:
    """Return for each way the share of pairs ranked rightly, the regret, and the fits."""
    seen: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number in range(TABLES):
        X, y, new, answer = table(number, rows)
        truth = np.array([auroc(clone(p).fit(X, y), new, answer) for p in PIPELINES])
        scores = scores_of(X, y)
        for name, part in WAYS.items():
            seen[name].append(judge(truth, scores[:, part].mean(axis=1)))
    return {
        name: (*np.nanmean(np.array(found), axis=0).tolist(), WAYS[name].stop - WAYS[name].start)
        for name, found in seen.items()
    }


def judge(truth: Array, guess: Array) -> tuple[float, float]:
    """Return the share of pairs in the right order, and the regret of the one ranked first."""
    pairs = [
        (i, j) for i, j in combinations(range(len(truth)), 2) if abs(truth[i] - truth[j]) > APART
    ]
    right = [(truth[i] - truth[j]) * (guess[i] - guess[j]) > 0 for i, j in pairs]
    return float(np.mean(right)) if right else np.nan, float(truth.max() - truth[guess.argmax()])


def main() -> None:
    """Print a line for each number of rows and way to split."""
    warnings.simplefilter("ignore")
    sys.stdout.write("| rows | split | fits | pairs ranked rightly | regret (AUROC) |\n")
    sys.stdout.write("| ---: | --- | ---: | ---: | ---: |\n")
    for rows in SIZES:
        for name, (right, regret, fits) in compare(rows).items():
            sys.stdout.write(f"| {rows} | {name} | {fits} | {100 * right:.1f} % | {regret:.4f} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
