"""The evaluations of a run as columns, for `cv_results_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank


def tabulate(
    evaluations: Sequence[Evaluation],
    limits: Sequence[Limit],
    score: Callable[[float], float],
) -> Mapping[str, Any]:
    """Return all evaluations as columns, under the names of `GridSearchCV` where it has them.

    The ranks are those of the standings. All without one share the last rank: failures, and
    those on a share of the rows or of the folds.
    """
    columns: dict[str, Any] = {
        "pipeline": [e.text for e in evaluations],
        "status": [e.ending for e in evaluations],
        "rank_test_score": _ranks(evaluations, limits),
        "mean_test_score": np.array([score(e.loss) for e in evaluations], dtype=float),
        "mean_fit_time": np.array([e.details.get("fit_seconds", np.nan) for e in evaluations]),
        "seconds": np.array([e.seconds for e in evaluations], dtype=float),
        "fidelity": np.array([e.candidate.fidelity for e in evaluations], dtype=float),
        "feasible": np.array([is_feasible(e, limits) for e in evaluations], dtype=bool),
        "message": [e.message for e in evaluations],
    }
    for place, limit in enumerate(limits):
        values = [e.constraints[place] if e.constraints else np.nan for e in evaluations]
        columns[limit.name] = np.array(values, dtype=float)
    return columns


def _ranks(evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> Any:
    places = {one.number: place for place, one in enumerate(rank(evaluations, limits), start=1)}
    return np.array([places.get(one.number, len(places) + 1) for one in evaluations], dtype=int)
