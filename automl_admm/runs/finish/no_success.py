"""A run without a success: the reason, in one line."""

from __future__ import annotations

from collections import Counter

from automl_admm.core.errors import NoSuccessError, Remedy
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.run import RunResult, StopReason

SHOWN_CAUSES = 3
SHOWN_CHARACTERS = 200
OUT_OF_TIME = (Status.TIMEOUT, Status.CANCELLED)


def best_or_raise(result: RunResult) -> Evaluation:
    """Return the best evaluation of a run; without a success, raise the commonest causes.

    An interrupt before the first success is an interrupt and nothing else.
    """
    if result.best is None and is_interrupted(result):
        raise KeyboardInterrupt
    if result.best is None:
        raise NoSuccessError(explain(result), hint=_cure(result))
    return result.best


def is_interrupted(result: RunResult) -> bool:
    """Return True if a signal ended the search."""
    return result.stop.reason.is_signal


def explain(result: RunResult) -> str:
    """Explain a run without a success."""
    evaluations = result.evaluations
    if not _has_ended(result):
        is_late = result.stop.reason is StopReason.BUDGET
        ended = "the budget" if is_late else f"the search ({result.stop})"
        return f"{ended} ended before a single evaluation did."
    causes = Counter(f"{e.status}: {e.message}".strip(": ")[:SHOWN_CHARACTERS] for e in evaluations)
    listed = "; ".join(f"{count} × {cause}" for cause, count in causes.most_common(SHOWN_CAUSES))
    return f"none of {len(evaluations)} evaluations succeeded ({listed})."


def _cure(result: RunResult) -> Remedy | None:
    """Suggest more time if it was short, and a look at failures if there were any."""
    if not _has_ended(result):
        is_late = result.stop.reason is StopReason.BUDGET
        return Remedy("Give a longer {time_budget}.") if is_late else None
    is_short = any(evaluation.status in OUT_OF_TIME for evaluation in result.evaluations)
    look = "at one with {executor='inline'}."
    more = "Give a longer {time_budget} or {eval_time_limit}, or look "
    return Remedy(f"{more if is_short else 'Look '}{look}")


def _has_ended(result: RunResult) -> bool:
    """Return True if an evaluation came to an end of its own."""
    return any(evaluation.status is not Status.CANCELLED for evaluation in result.evaluations)
