"""Built-in constraint functions: what a pipeline costs where it is used."""

from __future__ import annotations

import io
import pickle
import time
from collections.abc import Iterable

import numpy as np

from automl_admm.hookspecs import hookimpl
from automl_admm.plugin_types import ConstraintPlugin, EvaluatedPipeline

BATCH = 1000
REPEATS = 9
QUANTILE = 0.9


def latency_us(evaluated: EvaluatedPipeline) -> float:
    """Microseconds a row in a batch of 1 000 rows, the 0.9 quantile of warm repeats.

    Fewer rows than a batch are repeated to fill one, so that the value does not hang on how
    many rows there happen to be.
    """
    places = np.resize(np.arange(len(evaluated.y)), BATCH)
    batch = evaluated.X.iloc[places] if hasattr(evaluated.X, "iloc") else evaluated.X[places]
    evaluated.pipeline.predict(batch)
    seconds = []
    for _ in range(REPEATS):
        begun = time.perf_counter()
        evaluated.pipeline.predict(batch)
        seconds.append(time.perf_counter() - begun)
    return 1e6 * float(np.quantile(seconds, QUANTILE)) / BATCH


def size_mb(evaluated: EvaluatedPipeline) -> float:
    """Megabytes of the fitted pipeline when pickled."""
    buffer = io.BytesIO()
    pickle.dump(evaluated.pipeline, buffer, protocol=5)
    return buffer.tell() / 1e6


def fit_seconds(evaluated: EvaluatedPipeline) -> float:
    """Seconds that the fit took."""
    return evaluated.fit_seconds


@hookimpl
def constraints() -> Iterable[ConstraintPlugin]:
    """Latency, size and training time."""
    yield ConstraintPlugin(
        name="latency_us", summary="prediction, microseconds a row in 1 000", function=latency_us
    )
    yield ConstraintPlugin(name="size_mb", summary="fitted pipeline, megabytes", function=size_mb)
    yield ConstraintPlugin(name="fit_seconds", summary="training, seconds", function=fit_seconds)
