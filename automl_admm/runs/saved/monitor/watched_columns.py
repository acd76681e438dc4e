"""The columns of a model in use, its prediction among them, and their shifts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.data.drift import Shift, Summary, compare
from automl_admm.data.ingest.applying import TakenIn
from automl_admm.data.ingest.records import read_ingest
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.build import predict_scores
from automl_admm.runs.finish.model_file import rows_for_the_model
from automl_admm.runs.saved.certified_run import CertifiedRun

PREDICTION = "the prediction"


def columns_of_model(run: CertifiedRun, frame: Any) -> dict[str, Any]:
    """Return the columns that the model is given, and what it says of them."""
    taken = run.taken_in(frame, run.place)
    return {**dict(features_of_model(run, taken)), PREDICTION: _says(run.pipeline, taken.made)}


def features_of_model(run: CertifiedRun, taken: TakenIn) -> Iterator[tuple[str, Any]]:
    """Yield the columns that the model is given, dates as days since 1970."""
    features, dates = taken.for_limits(), dates_of_model(run)
    for name in features.columns:
        yield str(name), taken.made[name] if name in dates else features[name]


def dates_of_model(run: CertifiedRun) -> frozenset[str]:
    """Return the names of columns of dates; the model is given the days since 1970 by that name."""
    ingest = read_ingest(run.manifest)
    readings = () if ingest is None else ingest.readings
    dates = (one for one in readings if one.kind == "date" and str(one.name) in one.made)
    return frozenset(str(one.name) for one in dates)


def shifts_from(columns: Mapping[str, Any], reference: Mapping[str, Summary]) -> tuple[Shift, ...]:
    """Compare the columns with the counts of a reference."""
    return tuple(
        compare(name, known, columns[name]) for name, known in reference.items() if name in columns
    )


def _says(pipeline: Any, rows: Any) -> Any:
    """Return the probability of the positive class, or the decision, or the number."""
    with unheard_warnings(), rows_for_the_model(pipeline, rows):
        scores = np.asarray(predict_scores(pipeline, rows))
        if scores.ndim == 1:
            return scores
        return scores[:, -1] if scores.shape[1] == 2 else np.asarray(pipeline.predict(rows))
