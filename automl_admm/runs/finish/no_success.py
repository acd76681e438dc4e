"""A run without a success: the reason, in one line."""

from __future__ import annotations

import re
from collections import Counter

from automl_admm.core.errors import FREE_ROOM, NO_ROOM, DiskFullError, NoSuccessError, Remedy
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.messages import say_count
from automl_admm.core.run import RunResult, StopReason
from automl_admm.runs.config import RunConfig

LONGER = Remedy("Give a longer {time_budget}.")
UNDISTURBED = Remedy("Let the next search go on until an evaluation has succeeded.")
SHOWN_CAUSES = 3
SHOWN_CHARACTERS = 200
INLINE = "inline"
CORRECT = Remedy("Correct what is named here; more time would not help.")
CURES = {
    StopReason.BUDGET: LONGER,
    StopReason.EXHAUSTED: Remedy("Choose another {strategy}, or correct this one."),
}
# Python's words for a fitted object that cannot be written, in errors of several kinds; the ending
# of a file is none.
UNPICKLED = re.compile(r"(?<!\.)pickle")
PICKLE = Remedy(
    "More time would not help: a component must be picklable once it is fitted, so keep no lock, "
    "open file or lambda in it, or leave them out in its __getstate__."
)
FILL = Remedy("Begin the pipelines of the grammar with impute, which fills missing values.")
# Words of scikit-learn's message where a step meets missing values that it does not accept.
GAPS_REFUSED = "Input X contains NaN"


def cure_fit(reason: str, *, needs_time: bool) -> Remedy:
    """Return the remedy for final fits that all failed, by the reason of the last one."""
    if needs_time:
        return LONGER
    return PICKLE if UNPICKLED.search(reason) else CORRECT


def no_fit(reason: str, *, needs_time: bool) -> DiskFullError | NoSuccessError:
    """Return the error for final fits that all failed, by the reason of the last one.

    A full disk has no room for a makeshift model, either: nothing else is tried.
    """
    told = f"the best pipeline could not be fitted on all rows: {reason.rstrip('.')}."
    if is_about_room(reason):
        return DiskFullError(told, hint=FREE_ROOM)
    return NoSuccessError(told, hint=cure_fit(reason, needs_time=needs_time))


def is_about_room(reason: str) -> bool:
    """Return True for an error of Python that a full disk raises in another process."""
    return any(f"[Errno {number}]" in reason for number in NO_ROOM)


def best_or_raise(result: RunResult, config: RunConfig) -> Evaluation:
    """Return the best evaluation of a run; without a success, raise the commonest causes.

    An interrupt before the first success is an interrupt and nothing else.
    """
    if result.best is None and is_interrupted(result):
        raise KeyboardInterrupt
    if result.best is None and is_about_room(_commonest_message(result)):
        raise DiskFullError(explain(result, config), hint=FREE_ROOM)
    if result.best is None:
        raise NoSuccessError(explain(result, config), hint=cure(result, config))
    return result.best


def _commonest_message(result: RunResult) -> str:
    found = Counter(one.message for one in result.evaluations).most_common(1)
    return found[0][0] if found else ""


def is_interrupted(result: RunResult) -> bool:
    """Return True if a signal ended the search."""
    return result.stop.reason.is_signal


def explain(result: RunResult, config: RunConfig) -> str:
    """Explain a run without a success."""
    evaluations = result.evaluations
    if not _has_ended(result):
        if result.stop.reason is StopReason.EXHAUSTED:
            return f"the strategy '{config.strategy}' ended at once: nothing was evaluated."
        is_late = result.stop.reason is StopReason.BUDGET
        ended = "the budget" if is_late else f"the search ({result.stop})"
        return f"{ended} ended before a single evaluation did."
    causes = Counter(f"{e.status}: {e.message}".strip(": ")[:SHOWN_CHARACTERS] for e in evaluations)
    listed = "; ".join(f"{count} × {cause}" for cause, count in causes.most_common(SHOWN_CAUSES))
    return f"none of {say_count(len(evaluations), 'evaluation')} succeeded ({listed})."


def cure(result: RunResult, config: RunConfig) -> Remedy | None:
    """Suggest a step that fills gaps, more time if it was short, or a look at the failures."""
    if not _has_ended(result):
        return CURES.get(result.stop.reason)
    if all(GAPS_REFUSED in e.message for e in result.evaluations):
        return FILL
    statuses = {e.status for e in result.evaluations}
    more = "Give a longer {time_budget} or {eval_time_limit}"
    # A run that was cancelled, or ended by a plugin, was not short of time.
    is_late = result.stop.reason is StopReason.BUDGET and Status.CANCELLED in statuses
    is_short = is_late or Status.TIMEOUT in statuses
    # A debugger helps with what crashes or raises; an invalid value is told by its message.
    if config.executor == INLINE or statuses == {Status.INVALID}:
        return Remedy(f"{more}.") if is_short else CORRECT
    look = "at one with {executor='inline'}."
    return Remedy(f"{more}, or look {look}" if is_short else f"Look {look}")


def _has_ended(result: RunResult) -> bool:
    """Return True if an evaluation came to an end of its own."""
    return any(evaluation.status is not Status.CANCELLED for evaluation in result.evaluations)
