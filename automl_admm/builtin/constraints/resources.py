"""The built-in costs: time, memory, file size and columns of a pipeline."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from automl_admm.builtin.constraints.columns_used import columns
from automl_admm.core.evidence import Fact, Timing
from automl_admm.core.space import Array
from automl_admm.execution.skops_import import count_bytes
from automl_admm.pipelines.predictions.measured import take_places
from automl_admm.pipelines.predictions.wrappers import with_labels
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import (
    ConstraintPlugin,
)

# Rows of a batch.
BATCH = 1000
# Least and most timed calls of the search, and the seconds after which the least are enough.
REPEATS = 9
MOST_REPEATS = 30
SECONDS = 0.5
# Calls end once two halves of them have quantiles that are alike up to this share.
ALIKE = 0.1
# High enough to count slow calls, low enough not to be one accident of the machine.
QUANTILE = 0.9


def latency_us(evaluated: EvaluatedPipeline, quantile: float = QUANTILE) -> Timing:
    """Return microseconds a row in a batch of 1 000 rows, a quantile of warm calls."""
    seconds = _time_calls(evaluated, [batch_of(evaluated)], quantile)
    return Timing(1e6 * seconds / BATCH, quantile)


def latency_ms(evaluated: EvaluatedPipeline, quantile: float = QUANTILE) -> Timing:
    """Return milliseconds for one row alone, a quantile over warm calls with rows in turn."""
    count = min(len(evaluated.y), MOST_REPEATS)
    rows = [take_places(evaluated.X, [place]) for place in range(count)]
    return Timing(1e3 * _time_calls(evaluated, rows, quantile), quantile)


def _calls_needed(calls: float, quantile: float) -> int:
    """Return the calls for a quantile of which the 0.9 quantile needs so many.

    The same number is then beyond it: n (1 - q) of n calls.
    """
    return math.ceil(round(calls * max((1.0 - QUANTILE) / (1.0 - quantile), 1.0), 6))


def _time_calls(evaluated: EvaluatedPipeline, lots: Sequence[Any], quantile: float) -> Array:
    """Return the seconds of calls with lots of rows in turn, as they are on an idle machine.

    The number of calls for a certificate is fixed beforehand: its test counts on that. In the
    search they end when the quantile is sure, or soon if the pipeline is slow.
    """
    predict = evaluated.pipeline.predict
    # A warm-up: the first call pays for lazy imports and caches.
    predict(lots[0])
    calls: list[tuple[float, float]] = []
    least = max(REPEATS, _calls_needed(evaluated.calls, quantile))
    while len(calls) < least or (not evaluated.calls and _needs_more(calls, quantile)):
        calls.append(_time_call(predict, lots[len(calls) % len(lots)]))
    return _undisturbed(calls)


def _needs_more(calls: Sequence[tuple[float, float]], quantile: float) -> bool:
    """Return True if the quantiles of every other call and of the rest differ, and time is left."""
    if len(calls) >= MOST_REPEATS or sum(clock for clock, _ in calls) >= SECONDS:
        return False
    seconds = _undisturbed(calls)
    first, second = (float(np.quantile(part, quantile)) for part in (seconds[::2], seconds[1::2]))
    return abs(first - second) > ALIKE * max(first, second)


def _undisturbed(calls: Sequence[tuple[float, float]]) -> Array:
    """Return the seconds of calls without the time in which other work had the processor.

    A call takes w seconds by the clock, and p of processor time. A wait of the pipeline's own is in
    every call, so that the least one, min(w - p), belongs to each of them: min(w, p + min(w - p)).
    Several threads together take more processor time than the clock shows; then the clock counts.
    """
    clock, busy = np.array(calls).T
    own = max(float(np.min(clock - busy)), 0.0)
    return np.asarray(np.minimum(clock, busy + own))


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


def batch_of(evaluated: EvaluatedPipeline) -> Any:
    """Return 1 000 rows, repeated if there are fewer: no value depends on their number."""
    return take_places(evaluated.X, np.resize(np.arange(len(evaluated.y)), BATCH))


def _time_call(call: Callable[[Any], object], rows: Any) -> tuple[float, float]:
    """Return the seconds of a call by the clock, and those of processor time."""
    clock, busy = time.perf_counter(), time.process_time()
    call(rows)
    busy = time.process_time() - busy
    return time.perf_counter() - clock, busy


def _latency(name: str, summary: str, function: Callable[..., Timing]) -> ConstraintPlugin:
    return ConstraintPlugin(
        name=name,
        summary=summary,
        function=function,
        better="smaller",
        timed_calls=REPEATS,
        adds_up=True,
    )


def _latency_quantile(
    name: str, summary: str, function: Callable[..., Timing], percent: float
) -> ConstraintPlugin:
    """Return the latency that so many percent of the calls do not exceed."""
    if not 0.0 < percent < 100.0:
        raise ValueError("N is a percentage between 0 and 100")
    share = round(percent / 100.0, 12)  # 99.9 % is 0.999, and no number beside it
    made = _latency(name, summary, partial(function, quantile=share))
    # A certificate makes the more calls the further out the quantile is.
    return replace(made, timed_calls=max(REPEATS // _calls_needed(1, share), 1))


def latencies() -> Iterable[ConstraintPlugin]:
    """Yield the latencies, at the 0.9 quantile of calls and at one of the user's."""
    batch = ("latency_us", "prediction, microseconds a row in 1 000", latency_us)
    single = ("latency_ms", "prediction of one row alone, milliseconds", latency_ms)
    for name, summary, function in (batch, single):
        yield _latency(name, summary, function)
        named = f"{name}_quantile", f"{name} that N % of the calls do not exceed"
        numbered = partial(_latency_quantile, *named, function)
        yield ConstraintPlugin(name=named[0], summary=named[1], numbered=numbered)


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the costs."""
    yield from latencies()
    yield ConstraintPlugin(
        name="size_mb",
        summary="file of the fitted pipeline, megabytes",
        function=size_mb,
        kind="checked",
        better="smaller",
        adds_up=True,
        first_fold=True,
    )
    yield ConstraintPlugin(
        name="fit_seconds",
        summary="training, seconds",
        function=fit_seconds,
        better="smaller",
        adds_up=True,
    )
    yield ConstraintPlugin(
        name="memory_mb",
        summary="peak memory of fitting, megabytes",
        function=memory_mb,
        better="smaller",
        any_rows=True,
    )
    yield ConstraintPlugin(
        name="columns",
        summary="input columns that reach the model",
        function=columns,
        kind="checked",
        better="smaller",
    )
