"""Evaluations that a race stopped beside a rival that a change of the run has shut out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from automl_admm.core.evaluations import FOLDS_LEFT, Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank
from automl_admm.core.space import Candidate
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.racing import is_behind
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.session.changes import STARTS, Changes


def without_rival(
    known: Sequence[Evaluation], prepared: Preparation, changes: Changes
) -> list[Evaluation]:
    """Return the stopped evaluations that no rival within the present limits would have stopped.

    They cannot ship, and are no answer for their pipelines any more. Without a change the log has
    the rival of each; one that was repaired may have none.
    """
    stopped = [one for one in known if one.ok and one.folds_left]
    if not stopped:
        return []
    limits = prepared.limits
    rivals = [one for one in rank(known, limits) if is_feasible(one, limits)]
    if rivals and not (changes.bounds or changes.space):
        return []
    metric = prepared.metric
    return [one for one in stopped if not any(_stops(rival, one, metric) for rival in rivals)]


def _stops(rival: Evaluation, one: Evaluation, metric: Metric) -> bool:
    # The forecast is quick to compare, and leaves few for the test.
    return rival.loss < one.loss and is_behind(_losses(one, metric), _losses(rival, metric))


def _losses(one: Evaluation, metric: Metric) -> list[float]:
    return [metric.loss(score) for score in one.details.get("scores", ())]


def nearest(stopped: Sequence[Evaluation], limits: Sequence[Limit]) -> list[Candidate]:
    """Return the pipelines of stopped evaluations to begin at, those within the limits first.

    What they measured on their first folds is all that is known of them.
    """
    as_whole = [replace(one, details=_without_folds_left(one)) for one in stopped]
    return [one.candidate for one in rank(as_whole, limits)[:STARTS]]


def _without_folds_left(one: Evaluation) -> dict[str, object]:
    return {name: value for name, value in one.details.items() if name != FOLDS_LEFT}
