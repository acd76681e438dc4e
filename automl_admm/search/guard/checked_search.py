"""Hold a strategy to its conversation with the driver; every mistake becomes one line."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextvars import Context, copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty
from typing import Any

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import PluginError, is_own_error
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_error, say_value
from automl_admm.core.space import Candidate
from automl_admm.search.guard.guard import GRACE, Helper, nothing
from automl_admm.search.guard.proposal_checks import Fault, admit_candidate
from automl_admm.search.protocol import (
    MOST_IDLE,
    WAIT,
    Event,
    Proposal,
    Search,
    SearchProblem,
    Wait,
    waits_for_nothing,
)

logger = logging.getLogger(__name__)

ENDED = object()


def checked_search(
    title: str, search: Search, problem: SearchProblem, prepare: Callable[[], None] = nothing
) -> Search:
    """Pass on the events of a search; raise PluginError with its title for what is none.

    Without the check a strategy could keep a run for ever: by waits for nothing, by proposals of
    what is known, or by a step that hangs. Its result could be a candidate outside the space.
    `prepare` is called in the thread of the strategy before each step.
    """
    thinking = _Thinking(title, search, problem, Helper(prepare, name="strategy"))
    counted = _Counted(title, problem)
    results: Sequence[Evaluation] | None = None
    try:
        while not counted.is_over:
            yielded = thinking.go_on(results)
            if yielded is ENDED:
                return
            event = _admitted(title, yielded, problem)
            counted.count(event)
            results = yield event
            counted.receive(results)
    finally:
        thinking.end()


@dataclass(eq=False)
class _Counted:
    """Own the count of events in a row that bring nothing new while nothing is evaluated."""

    title: str
    problem: SearchProblem
    is_over: bool = False
    _idle: int = 0
    _seen: set[str] = field(default_factory=set)
    _pending: set[str] = field(default_factory=set)

    def count(self, event: Event) -> None:
        """Count an event; raise if it is one wait too many for nothing."""
        key = self.problem.key(event.candidate) if isinstance(event, Proposal) else None
        is_new = key is not None and key not in self._seen
        self._idle = 0 if is_new or self._pending else self._idle + 1
        if key is not None:
            self._seen.add(key)
            self._pending.add(key)
        if self._idle <= MOST_IDLE:
            return
        if key is None:
            raise waits_for_nothing(self.title)
        told = "%s proposed nothing new %d times in a row: the search is over"
        logger.warning(told, self.title, MOST_IDLE)
        self.is_over = True

    def receive(self, results: Sequence[Evaluation]) -> None:
        """Note that evaluations have ended."""
        self._pending.difference_update(evaluation.key for evaluation in results)


@dataclass(eq=False)
class _Thinking:
    """Own the thread of a strategy; a step that hangs is left at the deadline."""

    title: str
    search: Search
    problem: SearchProblem
    helper: Helper
    # What the caller has set for its own context holds for the strategy, too; and what the strategy
    # sets in one step holds in the next.
    _context: Context = field(default_factory=copy_context)
    _is_lost: bool = False

    def go_on(self, results: Sequence[Evaluation] | None) -> Any:
        """Return the next event, ENDED at the end of the search.

        After the deadline it is WAIT: the driver looks at its clock.
        """
        if self._is_lost:
            return WAIT
        step = partial(next, self.search) if results is None else partial(self.search.send, results)
        try:
            event, problem = self._call(step, self._seconds_left())
        except Empty:
            self._is_lost = True
            logger.warning("%s was still thinking when the time ran out", self.title)
            return WAIT
        if isinstance(problem, StopIteration):
            return ENDED
        if problem is None:
            return event
        if not is_own_error(problem):
            raise problem
        raise PluginError(f"{self.title} failed: {say_error(problem)}.") from problem

    def end(self) -> None:
        """Let the search clean up, if it is not lost, and end the thread."""
        if not self._is_lost:
            try:
                self._call(self.search.close, GRACE)
            except Empty:
                logger.debug("%s does not come to its end", self.title)
        self.helper.stop()

    def _call(self, step: Callable[[], Any], seconds: float) -> tuple[Any, BaseException | None]:
        return self.helper.call(partial(self._context.run, step), seconds)

    def _seconds_left(self) -> float:
        if self.problem.deadline is None:
            return math.inf
        return max(self.problem.deadline - self.problem.clock(), 0.0) + GRACE


def _admitted(title: str, event: object, problem: SearchProblem) -> Event:
    """Return an event with its candidate in the core's form; raise for one that is none."""
    if isinstance(event, Wait | AdmmState):
        return event
    if not (
        isinstance(event, Proposal)
        and isinstance(event.candidate, Candidate)
        and isinstance(event.origin, str)
    ):
        raise PluginError(f"{title} yielded {say_value(event)}, no Proposal, WAIT or AdmmState.")
    try:
        found = admit_candidate(event.candidate, problem.space, problem.lowest_fidelity)
    except Fault as fault:
        raise PluginError(f"{title} {fault}.") from fault
    return replace(event, candidate=found)
