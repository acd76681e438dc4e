"""A run in which nothing succeeded: why, in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from automl_admm.errors import NoSuccessError
from automl_admm.evaluation.driver import INTERRUPT, TERMINATION
from automl_admm.problem import Evaluation, Status
from automl_admm.run_records import RunResult

SHOWN_CAUSES = 3
SHOWN_CHARACTERS = 200


def best_or_raise(result: RunResult) -> Evaluation:
    """The best evaluation of a run; where none succeeded, the commonest causes as an error.

    An interrupt before the first success is an interrupt and nothing else.
    """
    if result.best is None and result.stopped_by in (INTERRUPT, TERMINATION):
        raise KeyboardInterrupt
    if result.best is None:
        hint = "Give it a longer budget, or look at one with the executor 'inline'."
        raise NoSuccessError(explain(result.evaluations), hint=hint)
    return result.best


def explain(evaluations: Sequence[Evaluation]) -> str:
    """Why no evaluation succeeded."""
    if all(evaluation.status is Status.CANCELLED for evaluation in evaluations):
        return "the budget ended before a single evaluation did."
    causes = Counter(f"{e.status}: {e.message}".strip(": ")[:SHOWN_CHARACTERS] for e in evaluations)
    listed = "; ".join(f"{count} × {cause}" for cause, count in causes.most_common(SHOWN_CAUSES))
    return f"none of {len(evaluations)} evaluations succeeded ({listed})."
