"""Drive a search: hand its candidates out and their results back until the budget ends.

The driver knows neither solvers nor pipelines. A repeated candidate is answered from the log;
nothing is ever evaluated twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import EvaluatorLostError, PluginError, StoreError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished
from automl_admm.core.run import Account, Stop, StopReason
from automl_admm.core.space import Candidate
from automl_admm.execution.shared_state import BLAS_THREADS
from automl_admm.execution.threads import thread_pools
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.dispatch import SLICE
from automl_admm.runs.driving.logbook import Logbook
from automl_admm.runs.driving.ongoing import Ongoing
from automl_admm.search.protocol import (
    MOST_IDLE,
    Proposal,
    Search,
    SearchProblem,
    Wait,
    waits_for_nothing,
)

SHORTEST_EVALUATION = 0.05
ROUNDING = 1e-6


class Driver:
    """Runs one search to its end; its `log` is right at any moment."""

    def __init__(self, problem: SearchProblem, desk: Desk) -> None:
        self.log = Logbook(desk.store, desk.past, problem.limits)
        self._problem = problem
        self._desk = desk
        self._ongoing = Ongoing(self.log, problem, desk)
        self._threads = thread_pools()
        self._interrupts = desk.interrupts
        self._stopped: StopReason | None = None
        self._idle = 0
        for evaluation in desk.past.evaluations:
            desk.foresight.learn(evaluation)

    def run(self, search: Search) -> Stop:
        """Drive until the search or the budget ends; return the end of it.

        A second interrupt is raised: the user wants nothing more. After a loss of the evaluator or
        the store, or a failure of the strategy, the known evaluations are the result, if there are
        any.
        """
        try:
            return self._run_and_drain(search)
        except StoreError as problem:
            if self.log.lost is None or self.log.best is None:
                raise
            self._ongoing.drain()  # its error may have come in the middle of it
            return Stop(StopReason.LOST_STORE, str(problem).rstrip("."))

    def _run_and_drain(self, search: Search) -> Stop:
        try:
            with self._interrupts:
                return self._drive(search)
        except StopIteration:
            return Stop(self._interrupts.reason if self._interrupts.came else StopReason.EXHAUSTED)
        except KeyboardInterrupt:
            if self._interrupts.count > 1:
                raise
            return Stop(self._interrupts.reason)
        except EvaluatorLostError as problem:
            if self.log.best is None:
                raise
            at = " and ".join(self._ongoing.texts())
            words = f"{problem.message.rstrip('.')}, evaluating {at}"
            return Stop(StopReason.LOST_EVALUATOR, words)
        finally:
            search.close()
            self._ongoing.drain()

    def _drive(self, search: Search) -> Stop:
        step = partial(next, search)
        while True:
            try:
                with self._thinking():
                    event = step()
                self._count(event)
            except PluginError as problem:
                return self._end_after(problem)
            reason = self._reason_to_stop()
            if reason is not None:
                return Stop(reason)
            step = partial(search.send, self._react(event))

    def _count(self, event: Proposal | Wait | AdmmState) -> None:
        """Count waits in a row while nothing is evaluated; raise if it is one too many."""
        self._idle = self._idle + 1 if isinstance(event, Wait) and not self._ongoing else 0
        if self._idle > MOST_IDLE:
            raise waits_for_nothing("the search")

    def _end_after(self, problem: PluginError) -> Stop:
        """Return the end of a search whose strategy failed; without a success, raise."""
        if self.log.best is None:
            raise problem
        return Stop(StopReason.FAILED_STRATEGY, problem.message.rstrip("."))

    @contextmanager
    def _thinking(self) -> Iterator[None]:
        """The search's own time, on one thread.

        The matrices of a solver are small: more threads make it slower by themselves, and forty
        times slower while the workers keep the cores busy.
        """
        limited = BLAS_THREADS.within(partial(self._threads.limit, limits=1))
        charged = self._desk.ledger.charge(Account.SOLVER)
        with charged, limited, self._interrupts.at_once():
            yield

    def _react(self, event: Proposal | Wait | AdmmState) -> list[Evaluation]:
        if isinstance(event, AdmmState):
            self._desk.tell("iteration_finished", state=event)
            return []
        if isinstance(event, Wait):
            return self._collect(at_least=1)
        # With several workers the search thinks of what is next while all are busy, not while one
        # waits for it; with one, it has seen every result before it thinks.
        is_ahead = self._desk.dispatch.workers > 1
        results = self._make_room() if is_ahead else []
        answer = self._answer(event.candidate)
        if answer is not None:
            return [*results, answer]
        if not self._ongoing.is_full:
            self._ongoing.start(event.candidate)
        return [*results, *(self._collect(at_least=0) if is_ahead else self._make_room())]

    def _make_room(self) -> list[Evaluation]:
        """Wait until a worker is free or a new one joins, or the search is to end.

        A task to be tried again ends without a result, and leaves no room.
        """
        results = self._collect(at_least=1 if self._ongoing.is_full else 0, for_room=True)
        while self._ongoing.is_full and not self._is_over:
            results += self._collect(at_least=1, for_room=True)
        return results

    @property
    def _is_over(self) -> bool:
        left = self._desk.budget.seconds_left(self.log.best)
        is_late = left is not None and left < SHORTEST_EVALUATION
        return self._interrupts.came or self._stopped is not None or is_late

    def _answer(self, candidate: Candidate) -> Evaluation | None:
        """Return the known evaluation of a candidate, or the reason not to start it."""
        key = self._problem.key(candidate)
        known = self.log.find(key)
        if known is not None:
            return replace(known, candidate=candidate)
        reason = self._desk.foresight.reason_to_skip(candidate, self.log.best)
        if reason is None or self._ongoing.has(key):
            return None
        # It is not logged: with more time it may be started.
        return Evaluation(0, key, candidate, Status.SKIPPED, message=reason)

    def _reason_to_stop(self) -> StopReason | None:
        if self._interrupts.came:
            return self._interrupts.reason
        most = self._desk.budget.max_evaluations
        if most is not None and self._ongoing.spent > most - ROUNDING:
            return StopReason.EVALUATIONS if not self._ongoing else self._wait_for_last()
        if self._asks_to_stop():
            return self._stopped
        if self._is_over or (self._desk.foresight.has_given_up and not self._ongoing):
            return StopReason.BUDGET
        return None

    def _asks_to_stop(self) -> bool:
        """Return True if a plugin wants the search to end; it is asked no more after that."""
        if self._stopped is None:
            answers = self._desk.tell(
                "should_stop", evaluations=len(self.log.evaluations), incumbent=self.log.best
            )
            if any(answers):
                is_cancelled = StopReason.CANCEL in answers
                self._stopped = StopReason.CANCEL if is_cancelled else StopReason.PLUGIN
        return self._stopped is not None

    def _wait_for_last(self) -> StopReason:
        """Let running evaluations end; start nothing more."""
        while self._ongoing and not self._is_over:
            self._collect(at_least=1)
        if not self._ongoing:
            return StopReason.EVALUATIONS
        if self._interrupts.came:
            return self._interrupts.reason
        return self._stopped or StopReason.BUDGET

    def _collect(self, at_least: int, *, for_room: bool = False) -> list[Evaluation]:
        """Enter ended evaluations in the log and the store, and return them.

        With `for_room` a worker that joins ends the wait, too; there may be no result then.
        The wait ends with the budget too: a new best may have moved the end of the search. It is
        cut into slices, because neither an interrupt nor a plugin with a wish to stop wakes it.
        """
        finished: Sequence[Finished] = ()
        with self._desk.ledger.charge(Account.WAIT):
            while self._ongoing:
                self._ongoing.try_again()
                self._desk.standby.look(self.log.best)
                left = self._desk.budget.seconds_left(self.log.best)
                timeout = SLICE if left is None else min(max(left, 0.0), SLICE)
                finished = self._desk.dispatch.wait(timeout if at_least else 0.0)
                if finished or not at_least or timeout == 0.0:
                    break
                if for_room and not self._ongoing.is_full:
                    break
                if self._interrupts.came or self._asks_to_stop():
                    break
        return self._ongoing.take_in(finished)
