"""Hold a strategy to its conversation with the driver; every mistake becomes one line."""

from __future__ import annotations

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import AutomlAdmmError, PluginError
from automl_admm.core.messages import say_error, say_value
from automl_admm.core.space import Candidate
from automl_admm.search.protocol import Proposal, Search, SearchProblem, Wait

# A search may wait while nothing is evaluated, to let the driver look at its clock; not for ever.
MOST_IDLE = 10_000


def checked_search(title: str, search: Search, problem: SearchProblem) -> Search:
    """Pass on the events of a search; raise PluginError with its title for what is none.

    Without the check a strategy that waits for nothing would keep a run without a deadline for
    ever.
    """
    events = _events(title, search)
    pending: set[str] = set()
    idle, results = 0, None
    while True:
        try:
            event = next(events) if results is None else events.send(results)
        except StopIteration:
            return
        key = _key(title, event, problem)
        idle = idle + 1 if key is None and not pending else 0
        if idle > MOST_IDLE:
            raise PluginError(f"{title} waits for results, but nothing is being evaluated.")
        if key is not None:
            pending.add(key)
        results = yield event
        pending.difference_update(evaluation.key for evaluation in results)


def _events(title: str, search: Search) -> Search:
    try:
        return (yield from search)
    except AutomlAdmmError:
        raise
    except (Exception, SystemExit) as problem:  # no plugin decides when the program ends
        raise PluginError(f"{title} failed: {say_error(problem)}.") from problem


def _key(title: str, event: object, problem: SearchProblem) -> str | None:
    """Return the key of a proposal, None for another event."""
    if isinstance(event, Wait | AdmmState):
        return None
    if not isinstance(event, Proposal) or not isinstance(event.candidate, Candidate):
        raise PluginError(f"{title} yielded {say_value(event)}, no Proposal, WAIT or AdmmState.")
    try:
        return problem.key(event.candidate)
    except Exception as fault:
        raise PluginError(
            f"{title} proposed a candidate that is not in the space: {say_error(fault)}."
        ) from fault
