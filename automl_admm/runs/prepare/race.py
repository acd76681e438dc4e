"""The race of an evaluation against the best one so far."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.runs.prepare.preparation import Preparation


def race_against(prepared: Preparation, best: Evaluation | None) -> Mapping[str, Any]:
    """Return the scores on all folds of the best evaluation, if the next one is to race it.

    One that loses the race cannot ship. So none is raced before there is one within the limits, nor
    for a certificate, which may need the second best; nor while thresholds are chosen for the
    limits of all folds at once. Folds that follow each other in time are not alike.
    """
    is_fair = prepared.aside is None and not prepared.work.chooses_thresholds
    is_on = prepared.config.racing and is_fair and prepared.work.table.roles.times is None
    if not is_on or best is None or not is_feasible(best, prepared.limits):
        return {}
    return {"rival": tuple(best.details.get("scores", ()))}
