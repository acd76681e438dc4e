"""A quick model of few rows, in case nothing better is ready in time."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from automl_admm.core.results import EvaluationResult
from automl_admm.core.space import Candidate
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.fit_results import FallbackResult
from automl_admm.pipelines.limit_values import value_or_nan
from automl_admm.pipelines.predictions.decisions import describe_decisions
from automl_admm.pipelines.row_share import FEWEST, Rows, share_of_rows
from automl_admm.pipelines.thresholds.by_group import thresholds_in
from automl_admm.plugins.records import LearningTask

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

FEW_ROWS = 1000  # of training: any component fits them within a moment
SEEN_ROWS = 4000
SEED = 0


def few_rows(work: PipelineWork) -> PipelineWork:
    """Return the same work on fewer rows: one split with at most 1 000 training rows.

    Rows set aside for a certificate stay unseen.
    """
    classes = None if work.table.classes is None else work.table.y
    train, valid = work.splits[0]
    kept = _some(np.asarray(train), classes, FEW_ROWS), _some(np.asarray(valid), classes, SEEN_ROWS)
    places = np.arange(len(kept[0]) + len(kept[1]))
    # With calls to time a certificate is asked for; its rows are looked at once, by its model.
    held_out = None if work.calls else work.held_out
    if held_out is not None:
        its_classes = None if held_out.classes is None else held_out.y
        held_out = held_out.part(_some(np.arange(len(held_out.y)), its_classes, SEEN_ROWS))
    return replace(
        work,
        table=work.table.part(np.concatenate(kept)),
        splits=((places[: len(kept[0])], places[len(kept[0]) :]),),
        held_out=held_out,
    )


def _some(rows: Rows, classes: Any, count: int) -> Rows:
    """So many of the rows, the classes as frequent as in all; fewer if there are fewer."""
    share = count / max(len(rows), FEWEST)
    return share_of_rows(rows, classes, share, SEED)


def constant_pipeline(task: LearningTask) -> Any:
    """Return a pipeline without columns: it predicts the class frequencies, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.pipeline import Pipeline

    is_class = task == "classification"
    constant = DummyClassifier(strategy="prior") if is_class else DummyRegressor()
    return Pipeline([("constant", constant)])


def fall_back(
    work: PipelineWork, candidate: Candidate | None, seed: int, folder: Path
) -> FallbackResult:
    """Evaluate and fit on few rows, within a moment; without a candidate, a constant model."""
    small = few_rows(work)
    with threadpool_limits(limits=1):  # on few rows threads only wait for each other
        if candidate is None:
            found = judge_constant(small)
        else:
            found = small.evaluate(candidate, seed, folder)
        fitted = small.refit(candidate, seed, folder, **thresholds_in(found.details))
    return FallbackResult(found, fitted, len(small.table.y))


def judge_constant(work: PipelineWork) -> EvaluationResult:
    """Measure a constant model; a limit without a value for it is no failure."""
    train, valid = (work.table.part(rows) for rows in work.splits[0])
    begun = time.perf_counter()
    with unheard_warnings():
        pipeline = work.fit_on(None, 0, train)
        seen = work.measure(pipeline, valid, time.perf_counter() - begun)
        values = tuple(value_or_nan(c, seen.part) for c in work.constraints)
        details = {"scores": [seen.score], **describe_decisions([seen])}
    return EvaluationResult(work.metric.loss(seen.score), values, details)
