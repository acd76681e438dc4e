"""The loss of a fitted model on rows that it learned from: a fit that went wrong shows there."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.predictions.measured import Table, score_of, take_places
from automl_admm.pipelines.predictions.wrappers import InPart

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

# Few rows at a time need little memory, and between them the clock is looked at.
ROWS_AT_ONCE = 2_000
# What comes after a fit must not take longer than the fit did: the model may be lost to the clock.
LEAST_SECONDS = 1.0
# The attributes of fitted estimators that hold others.
MANY = ("steps", "transformers_", "transformer_list", "estimators_")
ONE = ("estimator", "estimator_")


def seen_loss(work: PipelineWork, pipeline: Any, fit_seconds: float) -> float:
    """Return the loss on the rows that were validated, which a model learned from; NaN for none.

    It is the mean over the same parts, whole, as that out of fold: a draw of them may lack a rare
    class, or an outlier, and its score is then another one. There is none if it takes longer
    than the fit, or with a target encoder: the model learned from rows encoded by others, and now
    encodes each by its own target.
    """
    if _encodes_by_target(pipeline):
        return math.nan
    asked = _Asked(pipeline, work, max(fit_seconds, LEAST_SECONDS))
    try:
        with unheard_warnings():
            scores = [score_of(work.metric, model, rows) for model, rows in asked.parts()]
            return float(np.mean([work.metric.loss(score) for score in scores]))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - a component or a metric is anybody's code
        return math.nan


class _Asked:
    """A model asked about the validated rows, each once: repeated folds have them several times.

    It raises TimeoutError after so many seconds.
    """

    def __init__(self, pipeline: Any, work: PipelineWork, seconds: float) -> None:
        self._pipeline, self._table = pipeline, work.table
        self._valids = [np.asarray(valid) for _, valid in work.splits]
        self._rows = np.unique(np.concatenate(self._valids))
        self._answers: dict[str, Any] = {}
        self._ends = time.perf_counter() + seconds

    def parts(self) -> Iterator[tuple[Any, Table]]:
        """Yield each validated part, with the model as seen on it."""
        for valid in self._valids:
            rows = self._table.part(valid)
            answer = partial(self._answer, np.searchsorted(self._rows, valid))
            yield InPart(self._pipeline, rows.X, answer), rows
            if valid is not self._valids[-1]:
                self._look_at_clock()

    def _answer(self, places: Any, method: str) -> Any:
        if method not in self._answers:
            self._answers[method] = np.concatenate(list(self._ask(method)))
        return self._answers[method][places]

    def _ask(self, method: str) -> Iterator[Any]:
        for first in range(0, len(self._rows), ROWS_AT_ONCE):
            if first > 0:
                self._look_at_clock()
            rows = self._rows[first : first + ROWS_AT_ONCE]
            yield np.asarray(getattr(self._pipeline, method)(take_places(self._table.X, rows)))

    def _look_at_clock(self) -> None:
        if time.perf_counter() > self._ends:
            raise TimeoutError


def _encodes_by_target(model: Any) -> bool:
    from sklearn.preprocessing import TargetEncoder

    if isinstance(model, TargetEncoder):
        return True
    several = (getattr(model, name, ()) for name in MANY)
    found = [one[1] if isinstance(one, tuple) else one for items in several for one in items]
    found += [getattr(model, name, None) for name in ONE]
    return any(hasattr(one, "get_params") and _encodes_by_target(one) for one in found)
