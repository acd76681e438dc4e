"""The built-in rates: shares of rows decided rightly or wrongly, and the AUROC.

The positive class is the last of the sorted labels, or the one named by the user. A rate of no rows
has no value. So a pipeline that calls no row positive is outside any limit on its precision.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from automl_admm.core.evidence import F1, Ranking, Rate, Weighted
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    Better,
    ConstraintFunction,
    ConstraintPlugin,
    Target,
)


def fpr(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return FP / (FP + TN), the share of negative rows called positive."""
    return _rate(evaluated, evaluated.decisions == 1, evaluated.y == 0, "negative rows")


def fnr(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return FN / (FN + TP), the share of positive rows called negative."""
    return _rate(evaluated, evaluated.decisions == 0, evaluated.y == 1, "positive rows")


def recall(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return TP / (TP + FN), the share of positive rows called positive."""
    return _rate(evaluated, evaluated.decisions == 1, evaluated.y == 1, "positive rows")


def precision(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return TP / (TP + FP), the share of truly positive rows among those called positive."""
    return _rate(evaluated, evaluated.y == 1, evaluated.decisions == 1, "rows called positive")


def selection_rate(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return (TP + FP) / n, the share of all rows called positive."""
    return _rate(evaluated, evaluated.decisions == 1, np.ones(len(evaluated.y), dtype=bool), "rows")


def error(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return the share of all rows decided wrongly."""
    return _rate(
        evaluated, evaluated.decisions != evaluated.y, np.ones(len(evaluated.y), dtype=bool), "rows"
    )


def accuracy(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return the share of all rows decided rightly."""
    return _rate(
        evaluated, evaluated.decisions == evaluated.y, np.ones(len(evaluated.y), dtype=bool), "rows"
    )


def f1(evaluated: EvaluatedPipeline) -> F1 | Weighted:
    """Return 2 TP / (2 TP + FP + FN), the harmonic mean of recall and precision."""
    positive, called = evaluated.y == 1, evaluated.decisions == 1
    found = _rate(evaluated, positive & called, positive | called, "rows positive or called so")
    if isinstance(found, Rate):
        return F1(found.events, found.trials, found.of)
    return replace(found, value=2 * found.value / (1 + found.value))


def confusion(evaluated: EvaluatedPipeline) -> Rate | Weighted:
    """Return the share of the rows of the true class that are called the predicted one."""
    return recall(evaluated)


def auc(evaluated: EvaluatedPipeline) -> Ranking | Weighted:
    """Return AUROC = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻); its gap is also that of 1 − AUROC.

    With weights each pair of a positive and a negative row counts by the product of theirs.
    """
    scores, positive = np.asarray(evaluated.scores, dtype=float), evaluated.y == 1
    if evaluated.weights is None:
        return Ranking(scores[positive], scores[~positive])
    for rows, of in ((positive, "positive rows"), (~positive, "negative rows")):
        if not rows.any():
            return Weighted(math.nan, of)
    return Weighted(_weighted_auc(scores, positive, evaluated.weights))


def _weighted_auc(scores: Any, positive: Any, weights: Any) -> float:
    """Sum the weight of negatives below each positive, ties as halves, in O(n log n)."""
    order = np.argsort(scores[~positive], kind="stable")
    ordered = scores[~positive][order]
    reach = np.concatenate([[0.0], np.cumsum(weights[~positive][order])])
    below = reach[np.searchsorted(ordered, scores[positive], side="left")]
    at_most = reach[np.searchsorted(ordered, scores[positive], side="right")]
    share = (below + at_most) / (2 * reach[-1])
    return float(np.average(share, weights=weights[positive]))


def _rate(evaluated: EvaluatedPipeline, events: Any, trials: Any, of: str) -> Rate | Weighted:
    weights = evaluated.weights
    if weights is None:
        # Counts, not a quotient: a certificate needs the number of trials.
        return Rate(int(np.sum(events & trials)), int(np.sum(trials)), of)
    total = float(np.sum(weights[trials]))
    return Weighted(float(np.sum(weights[events & trials])) / total if total else math.nan, of)


# Every row counts for one class alone: for its own, or for the one that it is called.
APART: tuple[tuple[str, str, ConstraintFunction, Better], ...] = (
    ("fnr", "positive rows that are called negative, a share", fnr, "smaller"),
    ("recall", "positive rows that are called so, a share", recall, "larger"),
    ("precision", "rows called positive that are so, a share", precision, "larger"),
)


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the rates; each has a gap and a ratio over groups."""
    yield _plugin("fpr", "negative rows that are called positive, a share", fpr, "smaller")
    for name, summary, function, better in APART:
        yield replace(_plugin(name, summary, function, better), rows_apart=True)
    yield _plugin("f1", "harmonic mean of recall and precision", f1, "larger")
    cell = "rows of the true class that are called the predicted one, a share"
    yield _plugin("confusion", cell, confusion, target="class pair")
    yield _plugin("selection_rate", "rows that are called positive, a share", selection_rate)
    wrong, right = (
        "rows that are decided wrongly, a share",
        "rows that are decided rightly, a share",
    )
    yield _plugin("error", wrong, error, "smaller", "classes")
    yield _plugin("accuracy", right, accuracy, "larger", "classes")
    # The AUROC depends on scores alone, so no threshold can change it.
    yield replace(_plugin("auc", "area under the ROC curve", auc, "larger"), uses_decisions=False)


def _plugin(
    name: str,
    summary: str,
    function: ConstraintFunction,
    better: Better = "",
    target: Target = "two classes",
) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        function=function,
        highest=1.0,
        kind="statistical",
        better=better,
        target=target,
        takes_weights=True,
    )
