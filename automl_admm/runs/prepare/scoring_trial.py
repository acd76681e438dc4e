"""Score a dummy before a search: a metric that fails for it fails for every pipeline."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, DataError, Remedy
from automl_admm.core.messages import say_count, say_error, say_value
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.ensembles.all_classes import knowing_all
from automl_admm.pipelines.metric_facts import sees_scores_alone, target_of
from automl_admm.pipelines.metric_trial import check_metric
from automl_admm.pipelines.metrics import Metric, demand_weights
from automl_admm.pipelines.predictions.measured import score_of
from automl_admm.pipelines.predictions.table_part import TablePart
from automl_admm.pipelines.row_weighing import compares_groups
from automl_admm.pipelines.work import PipelineWork
from automl_admm.plugins.foreign_calls import in_time

if TYPE_CHECKING:
    from automl_admm.runs.prepare.preparation import Preparation

ResultT = TypeVar("ResultT")

# A constant model with such a score leaves pipelines hardly any room to differ in.
MISLEADING = 0.9
# Scorers of quantities that are the same if all values and predictions are moved alike.
OF_DIFFERENCES = {
    *("r2", "explained_variance", "max_error", "mean_squared_error", "root_mean_squared_error"),
    *("mean_absolute_error", "median_absolute_error"),
}
TOO_FEW = Remedy(
    "A class may have too few rows; choose another {scoring}, fewer folds in {cv} or a smaller "
    "--test-size.",
    python="A class may have too few rows; choose another {scoring} or fewer folds in {cv}.",
)
SEES_DECISIONS = Remedy("{scoring='balanced_accuracy'} looks for the best ones within it.")
TOO_SMALL = Remedy("Give more rows, fewer folds or a larger share in {cv}, or another {scoring}.")


def check_scoring(work: PipelineWork, deadline: float | None = None) -> str | None:
    """Score a dummy on every validation part: its failure is a failure of every pipeline.

    A metric still at work at the deadline fails.
    Return a line for users if the metric misleads: a constant model has nearly the best score.
    """
    from sklearn.dummy import DummyClassifier, DummyRegressor

    is_class = work.context.task == "classification"
    if is_class:
        _refuse_quantity(work)
    if work.table.roles.weights is not None:
        demand_weights(work.metric)
    scores, parts = [], [TablePart(work.table, valid) for _, valid in work.splits]
    for places, valid in zip((train for train, _ in work.splits), parts, strict=True):
        dummy = DummyClassifier(strategy="prior") if is_class else DummyRegressor()
        train = TablePart(work.table, places)
        dummy.fit(train.y[:, None], train.labels())  # whose features do not matter
        known = knowing_all(dummy, work.table.classes)
        score = _tried(work, partial(score_of, work.metric, known, valid), deadline)
        if not math.isfinite(score) and _is_fault_of_metric(work, valid):
            raise ConfigurationError(
                f"metric '{work.metric.name}' is {score} for a constant model on {len(valid.y)} "
                "validation rows that can be scored.",
                hint=Remedy("Make it return a finite number, or choose another {scoring}."),
            )
        if not math.isfinite(score):
            raise DataError(
                f"metric '{work.metric.name}' is {score} on "
                f"{say_count(len(valid.y), 'validation row')}.",
                hint=_more_rows(work),
            )
        scores.append(score)
    _tried(work, partial(check_metric, work.metric, parts[0]), deadline)
    return _caution(work, sum(scores) / len(scores)) if is_class else None


def _refuse_quantity(work: PipelineWork) -> None:
    """Raise if a metric of quantities would count with the places of classes."""
    metric, classes = work.metric, work.table.classes
    if metric.sees_labels or target_of(metric.scorer) != "a quantity":
        return
    with suppress(TypeError, ValueError):
        figures = classes.astype(float)
        starts_well = figures[0] == 0.0 or _of_differences(metric)
        if starts_well and np.all(np.diff(figures) == 1.0):
            return
    named = ", ".join(map(say_value, classes[:8]))
    raise ConfigurationError(
        f"metric '{metric.name}' is for a quantity, and this target has classes: {named}.",
        hint=Remedy("Choose another {scoring}."),
    )


def _of_differences(metric: Metric) -> bool:
    """Return True if a metric is the same for targets that are moved together."""
    return metric.name.removeprefix("neg_") in OF_DIFFERENCES


def _more_rows(work: PipelineWork) -> Remedy:
    return TOO_FEW if work.context.task == "classification" else TOO_SMALL


def _tried(work: PipelineWork, call: Callable[[], ResultT], deadline: float | None) -> ResultT:
    """Call a metric; whatever it raises is told as its fault."""
    try:
        with unheard_warnings():
            return in_time(call, deadline)
    except AutomlAdmmError as problem:
        if isinstance(problem, DataError) and not problem.hint:
            raise DataError(problem.message, hint=_more_rows(work)) from problem
        raise
    except Exception as problem:
        reason = say_error(problem)
        message = f"metric '{work.metric.name}' cannot score this target: {reason}."
        hint = Remedy(f"Choose another {{scoring}}{_for_more_classes(work)}.")
        raise ConfigurationError(message, hint=hint) from problem


def _for_more_classes(work: PipelineWork) -> str:
    """Name the metric of more classes that is named after one of two; empty without one."""
    from sklearn.metrics import get_scorer_names

    classes = work.table.classes
    known = () if classes is None or len(classes) <= 2 else get_scorer_names()
    names = (work.metric.name + ending for ending in ("_macro", "_ovr"))
    return next((f", such as {name}" for name in names if name in known), "")


def _is_fault_of_metric(work: PipelineWork, valid: TablePart) -> bool:
    """Return True if a metric of the user's own was given rows of every class, or two values."""
    values = 2 if work.context.task == "regression" else len(work.table.classes)
    return work.metric.sees_labels and len(np.unique(valid.y)) >= values


def _caution(work: PipelineWork, score: float) -> str | None:
    metric = work.metric
    # Of a metric of your own nobody knows the best score.
    if metric.sees_labels or metric.best != 1.0 or score < MISLEADING:
        return None
    better = "average_precision, roc_auc" if len(work.table.classes) == 2 else "f1_macro"
    return (
        f"{metric.name} is {score:.4f} for a model that always says the same, as one class is most "
        f"of the rows: it hardly tells pipelines apart; {better} or balanced_accuracy does"
    )


def note_blind_metric(prepared: Preparation) -> str | None:
    """Say that the metric does not see the decisions that a limit is about; None if it does.

    A certificate chooses by the utility of the decisions, whatever the metric is. What the metric
    is worth stands in docs/benchmarks/weighed_rows.md.
    """
    groups = [str(one.limit) for one in prepared.constraints if compares_groups(one)]
    is_blind = sees_scores_alone(prepared.metric.scorer) and prepared.config.cost is None
    if not groups or not is_blind or prepared.aside is not None:
        return None
    return f"{prepared.metric.name} does not see the decisions that {groups[0]} is about."
