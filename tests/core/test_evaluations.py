from __future__ import annotations

from automl_admm.core.evaluations import Evaluation, Status, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate, Selection


def test_a_failed_evaluation_is_never_feasible() -> None:
    candidate = Candidate(Selection(()), (0.0,))
    failed = Evaluation(1, "k", candidate, Status.TIMEOUT, constraints=(0.0,))
    assert not is_feasible(failed, (Limit("latency", 1.0),))
