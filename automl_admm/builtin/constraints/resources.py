"""The built-in costs: time, memory, file size and columns of a pipeline."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from automl_admm.builtin.constraints.columns_used import columns
from automl_admm.core.evidence import Fact, Timing
from automl_admm.execution.skops_import import count_bytes
from automl_admm.pipelines.predictions.wrappers import with_labels
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    ConstraintPlugin,
)

# Rows of a batch.
BATCH = 1000
# Least number of timed calls.
REPEATS = 9
# Most timed calls with one row, and the seconds after which REPEATS of them are enough.
SINGLE_REPEATS = 30
SINGLE_SECONDS = 0.5
# High enough to count slow calls, low enough not to be one accident of the machine.
QUANTILE = 0.9


def latency_us(evaluated: EvaluatedPipeline) -> Timing:
    """Return microseconds a row in a batch of 1 000 rows, the 0.9 quantile of warm repeats.

    Rows are repeated to fill a batch, so that the value does not depend on their number.
    """
    places = np.resize(np.arange(len(evaluated.y)), BATCH)
    batch = _rows(evaluated.X, places)
    # A warm-up: the first call pays for lazy imports and caches.
    evaluated.pipeline.predict(batch)
    repeats = max(REPEATS, evaluated.calls)
    seconds = [_seconds(evaluated.pipeline.predict, batch) for _ in range(repeats)]
    return Timing(1e6 * np.array(seconds) / BATCH, QUANTILE)


def latency_ms(evaluated: EvaluatedPipeline) -> Timing:
    """Return milliseconds for one row alone, the 0.9 quantile over warm calls with rows in turn.

    Calls end after half a second, so that a slow pipeline does not cost the search even more; then
    fewer calls give the quantile.
    """
    count = min(len(evaluated.y), SINGLE_REPEATS)
    rows = [_rows(evaluated.X, [place]) for place in range(count)]
    evaluated.pipeline.predict(rows[0])
    seconds: list[float] = []
    while len(seconds) < max(REPEATS, evaluated.calls) or (
        len(seconds) < SINGLE_REPEATS and sum(seconds) < SINGLE_SECONDS
    ):
        seconds.append(_seconds(evaluated.pipeline.predict, rows[len(seconds) % count]))
    return Timing(1e3 * np.array(seconds), QUANTILE)


def size_mb(evaluated: EvaluatedPipeline) -> Fact:
    """Return megabytes of the shipped file, `model.skops`.

    Without a file, as in the search, count the bytes of the file this pipeline would have.
    """
    if evaluated.saved_bytes is not None:
        return Fact(evaluated.saved_bytes / 1e6)
    return Fact(count_bytes(with_labels(evaluated.pipeline)) / 1e6)


def fit_seconds(evaluated: EvaluatedPipeline) -> float:
    """Return the seconds of the fit."""
    return evaluated.fit_seconds


def memory_mb(evaluated: EvaluatedPipeline) -> float:
    """Return megabytes of memory at the peak of fitting and predicting.

    It is the resident memory of the whole process: it includes Python, the libraries and the data,
    because a machine must have room for them too. The executor `inline` has no process of its own,
    so its value includes the search itself.
    """
    return evaluated.peak_mb


def _rows(X: Any, places: Any) -> Any:
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def _seconds(call: Callable[[Any], object], rows: Any) -> float:
    begun = time.perf_counter()
    call(rows)
    return time.perf_counter() - begun


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the costs."""
    yield ConstraintPlugin(
        name="latency_us",
        summary="prediction, microseconds a row in 1 000",
        function=latency_us,
        timed_calls=REPEATS,
        adds_up=True,
    )
    yield ConstraintPlugin(
        name="latency_ms",
        summary="prediction of one row alone, milliseconds",
        function=latency_ms,
        timed_calls=REPEATS,
        adds_up=True,
    )
    yield ConstraintPlugin(
        name="size_mb",
        summary="file of the fitted pipeline, megabytes",
        function=size_mb,
        kind="checked",
        adds_up=True,
        first_fold=True,
    )
    yield ConstraintPlugin(
        name="fit_seconds", summary="training, seconds", function=fit_seconds, adds_up=True
    )
    yield ConstraintPlugin(
        name="memory_mb", summary="peak memory of fitting, megabytes", function=memory_mb
    )
    yield ConstraintPlugin(
        name="columns",
        summary="input columns that reach the model",
        function=columns,
        kind="checked",
    )
