"""Quick forms of the commonest metrics: scores of many parts of the same rows, from one prediction.

A scorer of scikit-learn checks labels and answers at each call, which takes most of its time on few
rows. Resamples are of rows that it has seen whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from automl_admm.pipelines.ensembles import quick_scores as of_many
from automl_admm.pipelines.labels import leaves_undecided
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered

PartScore: TypeAlias = Callable[[Any], float]


def quick_score(metric: Metric, answers: Remembered, rows: Table) -> PartScore | None:
    """Return the score of a part of the rows, given by places; None if the metric has no such form.

    It is the score of the metric's own scorer, but for rounding. There is none for a pipeline that
    leaves rows undecided, where a metric of decisions is of the others.
    """
    if metric.sees_labels or leaves_undecided(answers):
        return None
    if rows.classes is None:
        return _of_numbers(metric.name, answers, rows)
    form = FORMS.get(metric.name)
    return None if form is None else form(Numbered(answers, rows.classes), rows)


def _of_numbers(name: str, pipeline: Remembered, rows: Table) -> PartScore | None:
    """Return the score of predicted numbers; None of rows with weights."""
    form = OF_NUMBERS.get(name)
    if form is None or rows.roles.weights is not None:
        return None
    truth = np.asarray(rows.y, dtype=float)
    found = np.reshape(np.asarray(pipeline.predict(rows.X), dtype=float), (1, len(truth)))

    def score(places: Any) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            return float(form(truth[places], found[:, places])[0])

    return score


def _by_order(pipeline: Numbered, rows: Table) -> PartScore | None:
    if len(pipeline.classes_) != 2:
        return None
    ordered = _scores(pipeline, rows.X)
    positive, weights = np.asarray(rows.y) == 1, _weights(rows)

    def score(places: Any) -> float:
        return area_under_roc(positive[places], ordered[places], weights[places])

    return score


def area_under_roc(positive: Any, scores: Any, weights: Any) -> float:
    """Return the area under the ROC curve; NaN if all rows are of one class.

    It is the weighted share of pairs of a positive and a negative row in which the positive one has
    the higher score; a tie counts half:

        AUC = Σ_i w_i⁺ (Σ_{s_j < s_i} w_j⁻ + ½ Σ_{s_j = s_i} w_j⁻) / (Σ_i w_i⁺ Σ_j w_j⁻)
    """
    order = np.argsort(scores, kind="stable")
    ordered, gains = scores[order], np.where(positive, weights, 0.0)[order]
    losses = weights[order] - gains
    # Scores may be infinite, whose difference is none.
    starts = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    won, lost = np.add.reduceat(gains, starts), np.add.reduceat(losses, starts)
    pairs = won.sum() * lost.sum()
    ranked = won @ (np.cumsum(lost) - lost / 2)
    return float(ranked / pairs) if pairs > 0 else math.nan


def _by_hits(pipeline: Numbered, rows: Table) -> PartScore:
    return _mean((pipeline.predict(rows.X) == rows.y).astype(float), _weights(rows))


def _by_logs(pipeline: Numbered, rows: Table) -> PartScore:
    """Return the negated log loss: the mean of log p(y), with p at least a rounding error."""
    p = np.asarray(pipeline.predict_proba(rows.X))
    least = np.finfo(p.dtype).eps
    of_truth = p[np.arange(len(p)), np.asarray(rows.y)]
    return _mean(np.log(np.clip(of_truth, least, 1.0 - least)), _weights(rows))


def _mean(values: Any, weights: Any) -> PartScore:
    def score(places: Any) -> float:
        whole = float(weights[places].sum())
        return float(values[places] @ weights[places]) / whole if whole > 0 else math.nan

    return score


def _scores(pipeline: Numbered, X: Any) -> Any:
    if hasattr(pipeline, "decision_function"):
        return np.asarray(pipeline.decision_function(X))
    return np.asarray(pipeline.predict_proba(X))[:, 1]


def _weights(rows: Table) -> Any:
    weights = rows.roles.weights
    return np.ones(len(rows.y)) if weights is None else np.asarray(weights, dtype=float)


FORMS: Mapping[str, Callable[[Numbered, Table], PartScore | None]] = MappingProxyType(
    {"roc_auc": _by_order, "accuracy": _by_hits, "neg_log_loss": _by_logs}
)
OF_NUMBERS: Mapping[str, of_many.Scores] = MappingProxyType(
    {
        name: of_many.BY_NAME[name]
        for name in (
            "r2",
            "neg_mean_squared_error",
            "neg_root_mean_squared_error",
            "neg_mean_absolute_error",
        )
    }
)
