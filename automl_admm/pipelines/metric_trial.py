"""Try a user's metric on a known table: right predictions must score better than wrong ones.

A metric for other labels, such as a cost for 0 and 1 on a target of "good" and "bad", sees no
mistake in anything: every pipeline has a perfect score, and the search has nothing to improve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Remembered

SEED = 0


class _Known(BaseEstimator):  # type: ignore[misc]
    """A stand-in for a fitted model: it knows the answers of some rows by their place.

    `sure` are the probabilities of classes that are answers, 1 without them.
    """

    def __init__(self, answers: Any, classes: Any, sure: Any = None) -> None:
        self.answers = answers
        self.classes = classes
        self.sure = sure
        self.is_fitted_ = True
        if classes is not None:
            self.classes_ = np.sort(classes)

    def predict(self, X: Any) -> Any:
        """The answers as the user writes them."""
        found = self._of(X, self.answers)
        return found if self.classes is None else self.classes[found]

    def _of(self, X: Any, known: Any) -> Any:
        # A metric may take rows apart: their index still tells which they are.
        if hasattr(X, "index"):
            return known[X.index.to_numpy()]
        if len(X) != len(known):
            raise LookupError("these are other rows")
        return known


class _KnownClasses(ClassifierMixin, _Known):  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Any:
        """Give its probability to the known class, and the rest to the others alike."""
        is_known = self.predict(X)[:, None] == self.classes_
        if self.sure is None:
            return is_known.astype(float)
        sure = self._of(X, self.sure)[:, None]
        return np.where(is_known, sure, (1 - sure) / (len(self.classes_) - 1))


class _KnownValues(RegressorMixin, _Known):  # type: ignore[misc]
    pass


@dataclass(frozen=True, slots=True)
class Answered:
    """The scores of right answers and of wrong ones, on the same rows."""

    right: float
    wrong: tuple[float, ...]


def check_metric(metric: Metric, rows: Table) -> None:
    """Raise if a user's own metric does not tell perfect predictions from wrong ones.

    The wrong ones are all wrong, or shuffled. A metric that needs the pipeline itself is not tried.
    """
    if not metric.sees_labels:
        return
    try:
        seen = try_metric(metric, rows)
    except Exception:  # noqa: BLE001 - a metric is anybody's code; what fails for all was told
        return
    known = [value for value in seen.wrong if not math.isnan(value)]
    if math.isnan(seen.right) or not known or any(seen.right > value for value in known):
        return
    raise ConfigurationError(_reason(metric, seen.right, max(known), rows), hint=_cure(seen, known))


def try_metric(metric: Metric, rows: Table) -> Answered:
    """Score right answers, answers wrong for every row, and right ones in another order."""
    plain = rows.X.reset_index(drop=True) if hasattr(rows.X, "reset_index") else rows.X
    table = Table(plain, rows.y, rows.classes)
    answers = [np.asarray(rows.y), *_wrong(rows)]
    right, *wrong = (score_answers(metric, one, table) for one in answers)
    return Answered(right, tuple(wrong))


def score_answers(metric: Metric, answers: Any, rows: Table, sure: Any = None) -> float:
    """Score a stand-in for a pipeline that gives these answers, by the rows' places.

    `sure` are the probabilities of classes that are answers, 1 without them.
    """
    kind = _KnownValues if rows.classes is None else _KnownClasses
    # As in an evaluation: the answers are remembered.
    return score_of(metric, Remembered(kind(answers, rows.classes, sure)), rows)


def _wrong(rows: Table) -> list[Any]:
    """Return answers wrong for every row, and the right answers in another order."""
    y = np.asarray(rows.y)
    shuffled = np.random.default_rng(SEED).permutation(y)
    if rows.classes is None:
        # Mirrored at the mean: errors twice as large as those of a constant model.
        return [2 * np.mean(y) - y, shuffled]
    return [(y + 1) % len(rows.classes), shuffled]


def _reason(metric: Metric, right: float, wrong: float, rows: Table) -> str:
    labels = ""
    if rows.classes is not None:
        labels = f", whose labels are {', '.join(map(say_value, rows.classes[:8]))}"
    if right == wrong:
        return (
            f"metric '{metric.name}' is {right:g} for predictions that are all right and for wrong "
            f"ones on this target{labels}: it cannot tell them apart."
        )
    return (
        f"metric '{metric.name}' is {right:g} for predictions that are all right on this "
        f"target{labels}, and {wrong:g}, which is better, for wrong ones."
    )


def _cure(seen: Answered, known: list[float]) -> str:
    if all(seen.right == value for value in known):
        return (
            "It is given the labels as they are in the data; a metric with a parameter 'classes' "
            "is given them all, the positive one last, to compare with."
        )
    return (
        "Larger is better here: return minus the cost, or make_scorer(…, greater_is_better=False)."
    )
