"""Evaluations measured anew from their kept out-of-fold answers, for another metric or limit."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from automl_admm.core.evaluations import Evaluation
from automl_admm.pipelines.ensembles.task import evaluate_predictions
from automl_admm.runs.kept_predictions import (
    Answers,
    DamagedPredictionsError,
    KeptPredictions,
    are_probabilities,
)
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.store.run_folder import RunFolder

# Times of an evaluation; everything else in its details is about its score.
TIMES = ("fit_seconds", "predict_seconds", "work_seconds", "slowdown", "steps", "ended")

logger = logging.getLogger(__name__)


def measure_anew(
    prepared: Preparation, one: Evaluation, answers: Answers, costs: Mapping[str, float | None]
) -> Evaluation | None:
    """Return an evaluation as its answers have it, at thresholds chosen for the limits of a run.

    `costs` are the values of limits that predictions do not tell. None without a finite loss and
    finite limits.
    """
    found = evaluate_predictions(prepared.work, answers.predictions, answers.scores)
    pairs = zip(prepared.constraints, found.constraints, strict=True)
    values = tuple(value if c.is_told else float(costs[c.limit.name] or 0.0) for c, value in pairs)
    if not all(map(math.isfinite, (found.loss, *values))):
        return None
    times = {name: one.details[name] for name in TIMES if name in one.details}
    return replace(one, loss=found.loss, constraints=values, details={**times, **found.details})


def read_answers(prepared: Preparation, folder: RunFolder, one: Evaluation) -> Answers | None:
    """Return the kept answers of an evaluation in a run's folder; None without whole ones."""
    work = prepared.work
    rows = np.concatenate([valid for _, valid in work.splits])
    try:
        found = KeptPredictions(folder.predictions, (), ()).read_answers(one, rows)
    except DamagedPredictionsError:
        return None
    classes, given = work.table.classes, found.predictions
    is_usable = given.ndim == 1 if classes is None else are_probabilities(given, len(classes))
    return found if is_usable else None


@dataclass(frozen=True)
class DecidedAnew:
    """A log after a change of bounds: `kept` evaluations, and those `lost` for want of answers."""

    kept: tuple[Evaluation, ...]
    lost: tuple[Evaluation, ...]


def decide_anew(
    prepared: Preparation, folder: RunFolder, known: Sequence[Evaluation]
) -> DecidedAnew:
    """Choose the thresholds of known evaluations anew: those of the log are for other bounds.

    A failure has none, and stays.
    """
    kept: list[Evaluation] = []
    lost: list[Evaluation] = []
    for one in known:
        found = _decided_anew(prepared, folder, one) if one.ok else one
        (lost if found is None else kept).append(one if found is None else found)
    return DecidedAnew(tuple(kept), tuple(lost))


def _decided_anew(prepared: Preparation, folder: RunFolder, one: Evaluation) -> Evaluation | None:
    if not one.is_ranked:
        return None
    answers = read_answers(prepared, folder, one)
    if answers is None:
        return None
    names = [constraint.limit.name for constraint in prepared.constraints]
    costs = dict(zip(names, one.constraints, strict=True))
    try:
        return measure_anew(prepared, one, answers, costs)
    except Exception as problem:  # noqa: BLE001 - a user's scorer or limit may raise anything
        logger.info("evaluation %d cannot be decided anew: %s", one.number, problem)
        return None
