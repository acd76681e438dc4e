"""The loss of a fitted model on rows that it learned from: a fit that went wrong shows there."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
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
# Classes that encode the rows of a fit otherwise than the same rows later, in whatever library.
BY_TARGET = frozenset({"TargetEncoder", "LeaveOneOutEncoder", "CatBoostEncoder"})
# Of a longer list, as of trees or of the words of a vocabulary, the others are like the first.
MOST_OF_A_LIST = 1_000


def seen_loss(work: PipelineWork, pipeline: Any, fit_seconds: float) -> float:
    """Return the loss on the rows that were validated, which a model learned from; NaN for none.

    It is the mean over the same parts, whole, as that out of fold: a draw of them may lack a rare
    class, or an outlier, and its score is then another one. There is none if it takes longer than
    the fit, or with an encoder by the target: the model learned from rows encoded by others, and
    now encodes each by its own target.
    """
    asked = _Asked(pipeline, work, max(fit_seconds, LEAST_SECONDS))
    try:
        if _encodes_by_target(pipeline):
            return math.nan
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
    """Return True if an encoder by the target is in a model, in whatever attribute."""
    kinds = {kind for part in _parts_of(model) for kind in type(part).__mro__}
    return any(kind.__name__ in BY_TARGET for kind in kinds)


def _parts_of(model: Any) -> Iterator[Any]:
    """Yield a model and whatever it is made of: estimators may be under any name."""
    left, known = [model], set[int]()
    while left:
        part = left.pop()
        if id(part) not in known:
            known.add(id(part))
            yield part
            left += _held_by(part)


def _held_by(part: Any) -> list[Any]:
    if isinstance(part, np.ndarray):
        part = part.ravel().tolist() if part.dtype == object else []
    elif isinstance(part, dict):
        part = part.values()
    elif not isinstance(part, list | tuple):
        # Looked at by its class: an object of others may do anything when it is asked.
        is_model = any(hasattr(type(part), name) for name in ("fit", "predict", "transform"))
        part = getattr(part, "__dict__", {}).values() if is_model else ()
    return list(islice(part, MOST_OF_A_LIST))
