"""The evaluations of a run as columns, for `cv_results_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit


def tabulate(
    evaluations: Sequence[Evaluation],
    limits: Sequence[Limit],
    score: Callable[[float], float],
) -> Mapping[str, Any]:
    """Return all evaluations as columns, under the names of `GridSearchCV` where it has them."""
    columns: dict[str, Any] = {
        "pipeline": [e.text for e in evaluations],
        "status": [e.status.value for e in evaluations],
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
