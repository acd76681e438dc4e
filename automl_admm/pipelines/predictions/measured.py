"""Rows, and what is seen of a fitted pipeline on rows that it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered
from automl_admm.plugins.records import EvaluatedPipeline


@dataclass(frozen=True)
class Table:
    """Rows and their target; class labels are numbered, `classes` says what the numbers mean.

    They are sorted, but for a positive class that the user named, which is the last.

    `sensitive` is a frame of the columns that limits are on.
    """

    X: Any
    y: Any
    classes: Any = None
    sensitive: Any = None

    def labels(self) -> Any:
        """The target as the user gave it."""
        return self.y if self.classes is None else self.classes[self.y]

    def part(self, places: Any) -> Table:
        """Some of the rows."""
        X = self.X.iloc[places] if hasattr(self.X, "iloc") else self.X[places]
        sensitive = None if self.sensitive is None else self.sensitive.iloc[places]
        return Table(X, self.y[places], self.classes, sensitive)


@dataclass(frozen=True, eq=False)
class Seen:
    """A fitted pipeline seen on rows that it was not fitted on.

    `by_decisions` says whether the metric asked for decisions; `answers` has what was predicted.
    """

    pipeline: Any
    answers: Remembered
    rows: Table
    part: EvaluatedPipeline
    score: float
    by_decisions: bool


def score_of(metric: Metric, pipeline: Any, rows: Table) -> float:
    """The score of a pipeline that was fitted on labels.

    scikit-learn's own metrics see class numbers, so that those which need a positive class have
    one: the last. A scorer of the user's own sees the user's own labels.
    """
    if rows.classes is None or metric.sees_labels:
        return float(metric.scorer(pipeline, rows.X, rows.labels()))
    return float(metric.scorer(Numbered(pipeline, rows.classes), rows.X, rows.y))
