"""The interval of a held-out score: a bootstrap from the predictions that made the score."""

from __future__ import annotations

import math
import time
from functools import partial, wraps
from typing import Any

import numpy as np

from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.pipelines.quick_scores import PartScore, quick_score

# So many tell a standard error to a seventh of it, with 95 % probability.
RESAMPLES = 100
ERRORS = 1.96  # of a normal distribution, for 95 %
# Of more rows so many are drawn at a time, and the spread is scaled: the work stays the same.
MOST_DRAWN = 1_000
FEWEST = 20
# A metric that takes more than these seconds of the processor has no interval: a model waits.
PATIENCE = 1.0
# Resamples without a score, such as those of one class, may be such a share.
MOST_WITHOUT = 0.05


class _AtPlaces:
    """A pipeline that answers for some rows, given by their places, from what it has answered."""

    def __init__(self, answers: Remembered, X: Any) -> None:
        self._answers = answers
        self._rows = X

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._answers, name)
        if name not in Remembered.RESPONSES:
            return found

        # Scorers go by the name of the method.
        @wraps(found)
        def respond(places: Any) -> Any:
            return np.asarray(found(self._rows))[places]

        return respond

    def __sklearn_tags__(self) -> Any:
        return self._answers.__sklearn_tags__()


def score_interval(
    metric: Metric, answers: Remembered, rows: Table, score: float
) -> tuple[float, float] | None:
    """Return the 95 % interval of a score; None if there is none.

    It is the score and 1.96 standard errors on either side, at most up to the best score there is.
    The error is the spread of the scores of resamples: rows drawn with replacement, or whole groups
    of them. A score by somebody's own function has no interval: it may look at more than the
    answers. Nor has one of fewer than 20 rows, or one that is the same in all resamples.
    """
    units = _units(rows)
    if metric.sees_labels or len(units) < FEWEST or not math.isfinite(score):
        return None
    found = _resampled(_score_of_part(metric, answers, rows), units)
    known = found[np.isfinite(found)]
    if len(known) < (1.0 - MOST_WITHOUT) * RESAMPLES:
        return None
    # The spread of a score falls with the root of the rows: fewer drawn rows have more of it.
    error = float(np.std(known, ddof=1)) * math.sqrt(min(len(units), MOST_DRAWN) / len(units))
    if error == 0.0:
        return None
    return score - ERRORS * error, min(score + ERRORS * error, max(metric.best, score))


def _units(rows: Table) -> Any:
    """Return the places to draw together: those of rows alone, or lists of them for groups."""
    clusters = rows.roles.clusters
    if clusters is None:
        return np.arange(len(rows.y))
    order = np.argsort(clusters, kind="stable")
    starts = np.flatnonzero(np.diff(clusters[order])) + 1
    return np.split(order, starts)


def _score_of_part(metric: Metric, answers: Remembered, rows: Table) -> PartScore:
    """Return the score of a part of the rows, given by places."""
    quick = quick_score(metric, answers, rows)
    if quick is not None:
        return quick
    return partial(_score_at, metric, _AtPlaces(answers, rows.X), rows)


def _places(units: Any, drawn: Any) -> Any:
    """Return the places of drawn units; rows alone are taken at once, in a tenth of the time."""
    if isinstance(units, np.ndarray):
        return units[drawn]
    return np.concatenate([units[place] for place in drawn])


def _resampled(score: PartScore, units: Any) -> Any:
    """Return the scores of the resamples; none if they take too long."""
    from sklearn import config_context

    rng, begun = np.random.default_rng(0), time.process_time()
    drawn, found = min(len(units), MOST_DRAWN), []
    # The whole rows have been checked.
    with config_context(skip_parameter_validation=True, assume_finite=True):
        for _ in range(RESAMPLES):
            if time.process_time() - begun > PATIENCE:
                return np.array([])
            some = rng.integers(len(units), size=drawn)
            found.append(score(_places(units, some)))
    return np.array(found)


def _score_at(metric: Metric, pipeline: Any, rows: Table, places: Any) -> float:
    part = Table(places, rows.y[places], rows.classes, roles=rows.roles.part(places))
    try:
        return score_of(metric, pipeline, part)
    except Exception:  # noqa: BLE001 - rows of one class, for example, have no score of some metrics
        return math.nan
