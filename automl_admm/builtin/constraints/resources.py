"""Built-in costs: what a pipeline takes where it is trained and where it is used."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from automl_admm.builtin.constraints.columns_used import columns
from automl_admm.core.evidence import Fact, Timing
from automl_admm.execution.skops_import import count_bytes
from automl_admm.pipelines.predictions.wrappers import with_labels
from automl_admm.plugins.records import ConstraintPlugin, EvaluatedPipeline

BATCH = 1000
REPEATS = 9
SINGLE_REPEATS = 30
SINGLE_SECONDS = 0.5
QUANTILE = 0.9


def latency_us(evaluated: EvaluatedPipeline) -> Timing:
    """Microseconds a row in a batch of 1 000 rows, the 0.9 quantile of warm repeats.

    Fewer rows than a batch are repeated to fill one, so that the value does not hang on how
    many rows there happen to be.
    """
    places = np.resize(np.arange(len(evaluated.y)), BATCH)
    batch = _rows(evaluated.X, places)
    evaluated.pipeline.predict(batch)
    repeats = max(REPEATS, evaluated.calls)
    seconds = [_seconds(evaluated.pipeline.predict, batch) for _ in range(repeats)]
    return Timing(1e6 * np.array(seconds) / BATCH, QUANTILE)


def latency_ms(evaluated: EvaluatedPipeline) -> Timing:
    """Milliseconds for one row alone, the 0.9 quantile over warm calls with rows in turn.

    It ends with half a second spent, so that a slow pipeline does not cost the search even more;
    the quantile is then one of fewer calls.
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
    """Megabytes of the file that ships, `model.skops`.

    Where there is none, as in the search, it is that of the file that this pipeline would have.
    """
    if evaluated.saved_bytes is not None:
        return Fact(evaluated.saved_bytes / 1e6)
    return Fact(count_bytes(with_labels(evaluated.pipeline)) / 1e6)


def fit_seconds(evaluated: EvaluatedPipeline) -> float:
    """Seconds that the fit took."""
    return evaluated.fit_seconds


def memory_mb(evaluated: EvaluatedPipeline) -> float:
    """Megabytes of memory at the peak of fitting and predicting.

    It is the resident memory of the whole process: Python, the libraries and the data are in it,
    because a machine must have room for them too. The executor `inline` has no process of its
    own, so that there the search itself is in it.
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
        name="latency_us", summary="prediction, microseconds a row in 1 000", function=latency_us
    )
    yield ConstraintPlugin(
        name="latency_ms", summary="prediction of one row alone, milliseconds", function=latency_ms
    )
    yield ConstraintPlugin(
        name="size_mb",
        summary="file of the fitted pipeline, megabytes",
        function=size_mb,
        kind="checked",
    )
    yield ConstraintPlugin(name="fit_seconds", summary="training, seconds", function=fit_seconds)
    yield ConstraintPlugin(
        name="memory_mb", summary="peak memory of fitting, megabytes", function=memory_mb
    )
    yield ConstraintPlugin(
        name="columns",
        summary="input columns that reach the model",
        function=columns,
        kind="checked",
    )
