"""Bring the trials of a study back as they were, from its store and its journal.

The search is made again: it is asked in the old order and given the old answers, so it goes on with
the proposals that it would have made. If it proposes anything else (another version, results that
came with a budget of time or by several workers), it begins anew with all results known to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.protocols import Store
from automl_admm.runs.blackbox import PreparedBox
from automl_admm.runs.study.journal import Ask, Journal, lost
from automl_admm.runs.study.trials import ADDED, TOLD, Tell, Trials, problem_of, silent
from automl_admm.store.memory import MemoryStore

# The origin of an evaluation that `optimize` made.
DRIVEN = "driven"


def restore(box: PreparedBox, store: Store, journal: Journal, tell: Tell) -> Trials:
    """Return the trials as they were; those pending are handed out again first."""
    trials = Trials(box, store, journal, tell)
    told = _in_order(trials.log.evaluations)
    if not _is_made_again(trials, told):
        _begin_anew(trials)
    trials.unclaimed.extend(sorted(trials.pending))
    return trials


def _in_order(log: Sequence[Evaluation]) -> list[Evaluation]:
    """Return the results in the order of their coming.

    Those of `optimize` have no place of their own: in the order of their numbers they have the
    places left free by those told.
    """
    told = {one.details[TOLD] for one in log if TOLD in one.details}
    free = (place for place in count(1) if place not in told)
    numbered = sorted(log, key=lambda one: one.number)
    placed = [(one.details.get(TOLD) or next(free), one) for one in numbered]
    return [one for _, one in sorted(placed, key=lambda pair: (pair[0], pair[1].number))]


def demand_asks(path: Path, journal: Journal, log: Sequence[Evaluation]) -> None:
    """Raise if a trial that somebody told is missing in the journal.

    A pending one that `optimize` takes over stands there twice.
    """
    asked = {ask.number for ask in journal.asks}
    for one in log:
        if TOLD in one.details and ADDED not in one.details and one.number not in asked:
            raise lost(path, f"trial {one.number} of the store is missing in it")


def _is_made_again(trials: Trials, told: Sequence[Evaluation]) -> bool:
    """Make the search of the trials again; return False if it takes another way."""
    asks = _asks(trials, told)
    if asks is None:
        return False
    again, heard = Trials(trials.box, MemoryStore(), Journal(None), silent), 0
    for ask in asks:
        for evaluation in told[heard : ask.heard]:
            again.enter(evaluation)
        heard = max(heard, ask.heard)
        if not _is_asked_again(again, ask):
            again.conversation.close()
            return False
    for evaluation in told[heard:]:
        again.enter(evaluation)
    trials.move_in(again)
    return True


def _asks(trials: Trials, told: Sequence[Evaluation]) -> list[Ask] | None:
    """Return all asks in their order; None if it cannot be known.

    The evaluations of `optimize` are not in the journal, unless they were pending before: with one
    worker each was begun when all before it had ended.
    """
    config, journal, key = trials.box.config, trials.journal, trials.box.problem.key
    known = {(ask.number, key(ask.candidate)) for ask in journal.asks}
    others = [(place, one) for place, one in enumerate(told) if (one.number, one.key) not in known]
    numbers = {number for number, _ in known}
    if any(one.number in numbers for _, one in others):
        return None
    driven = [
        Ask(one.number, place, one.candidate, DRIVEN)
        for place, one in others
        if ADDED not in one.details
    ]
    if config.time_budget is not None or (driven and config.n_jobs > 1):
        return None
    return sorted([*journal.asks, *driven], key=lambda ask: ask.heard)


def _is_asked_again(again: Trials, ask: Ask) -> bool:
    """Take the step of an ask; return True if it brings the same trial."""
    if ask.number is None:
        again.enqueue(ask.candidate)
        return True
    again.begin(problem_of(again.box, None))
    found = again.ask()
    return found is not None and (found.number, found.key) == (
        ask.number,
        again.box.problem.key(ask.candidate),
    )


def _begin_anew(trials: Trials) -> None:
    """Take over what is pending or waits; the search will begin with the results it has.

    If another point has the number of a trial, the trial comes first under a new one.
    """
    taken = {evaluation.number for evaluation in trials.log.evaluations}
    for ask in trials.journal.asks:
        if not trials.is_new(trials.box.problem.key(ask.candidate)):
            continue
        if ask.number is None or ask.number in taken or ask.number in trials.pending:
            trials.conversation.first.append(ask.candidate)
        else:
            trials.adopt(ask.number, ask.candidate)
