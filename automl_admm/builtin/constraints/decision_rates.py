"""The built-in rates: shares of rows decided rightly or wrongly, and the AUROC.

The positive class is the last of the sorted labels, or the one named by the user. A rate of no rows
has no value. So a pipeline that calls no row positive is outside any limit on its precision.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from automl_admm.core.evidence import Ranking, Rate
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    ConstraintFunction,
    ConstraintPlugin,
    Target,
)


def fpr(evaluated: EvaluatedPipeline) -> Rate:
    """Return FP / (FP + TN), the share of negative rows called positive."""
    return _rate(evaluated.decisions == 1, evaluated.y == 0, "negative rows")


def fnr(evaluated: EvaluatedPipeline) -> Rate:
    """Return FN / (FN + TP), the share of positive rows called negative."""
    return _rate(evaluated.decisions == 0, evaluated.y == 1, "positive rows")


def recall(evaluated: EvaluatedPipeline) -> Rate:
    """Return TP / (TP + FN), the share of positive rows called positive."""
    return _rate(evaluated.decisions == 1, evaluated.y == 1, "positive rows")


def precision(evaluated: EvaluatedPipeline) -> Rate:
    """Return TP / (TP + FP), the share of truly positive rows among those called positive."""
    return _rate(evaluated.y == 1, evaluated.decisions == 1, "rows called positive")


def selection_rate(evaluated: EvaluatedPipeline) -> Rate:
    """Return (TP + FP) / n, the share of all rows called positive."""
    return _rate(evaluated.decisions == 1, np.ones(len(evaluated.y), dtype=bool), "rows")


def error(evaluated: EvaluatedPipeline) -> Rate:
    """Return the share of all rows decided wrongly."""
    return _rate(evaluated.decisions != evaluated.y, np.ones(len(evaluated.y), dtype=bool), "rows")


def accuracy(evaluated: EvaluatedPipeline) -> Rate:
    """Return the share of all rows decided rightly."""
    return _rate(evaluated.decisions == evaluated.y, np.ones(len(evaluated.y), dtype=bool), "rows")


def auc(evaluated: EvaluatedPipeline) -> Ranking:
    """Return AUROC = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻); its gap is also that of 1 − AUROC."""
    scores = np.asarray(evaluated.scores, dtype=float)
    return Ranking(scores[evaluated.y == 1], scores[evaluated.y == 0])


def _rate(events: Any, trials: Any, of: str) -> Rate:
    # Counts, not a quotient: a certificate needs the number of trials.
    return Rate(int(np.sum(events & trials)), int(np.sum(trials)), of)


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the rates; each has a gap and a ratio over groups."""
    yield _plugin("fpr", "negative rows that are called positive, a share", fpr)
    yield _plugin("fnr", "positive rows that are called negative, a share", fnr)
    yield _plugin("recall", "positive rows that are called so, a share", recall)
    yield _plugin("precision", "rows called positive that are so, a share", precision)
    yield _plugin("selection_rate", "rows that are called positive, a share", selection_rate)
    yield _plugin("error", "rows that are decided wrongly, a share", error, "classes")
    yield _plugin("accuracy", "rows that are decided rightly, a share", accuracy, "classes")
    # The AUROC depends on scores alone, so no threshold can change it.
    yield replace(_plugin("auc", "area under the ROC curve", auc), uses_decisions=False)


def _plugin(
    name: str, summary: str, function: ConstraintFunction, target: Target = "two classes"
) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        function=function,
        highest=1.0,
        kind="statistical",
        target=target,
    )
