"""Drive a search: start, collect, store and announce evaluations until the budget ends.

The driver knows neither solvers nor pipelines. A repeated candidate is answered from the log;
nothing is ever evaluated twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from threadpoolctl import ThreadpoolController

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import EvaluatorLostError
from automl_admm.core.evaluations import ENDED, Evaluation, Status
from automl_admm.core.protocols import Finished, Store, Task
from automl_admm.core.run import Account, Stop, StopReason
from automl_admm.core.space import Candidate
from automl_admm.execution.shared_state import BLAS_THREADS
from automl_admm.runs.driving.budget import Budget, Ledger
from automl_admm.runs.driving.cost_model import Foresight
from automl_admm.runs.driving.dispatch import SLICE, Dispatcher, TaskKind
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.driving.judgement import check_end
from automl_admm.runs.driving.logbook import NO_PAST, Logbook, Past
from automl_admm.search.protocol import Proposal, Search, SearchProblem, Wait

SHORTEST_EVALUATION = 0.05
LAST_WORDS = 1.0
ROUNDING = 1e-6
Tell = Callable[..., Sequence[Any]]


class Standby(Protocol):
    """A task beside the evaluations, in case that none of them succeeds."""

    def look(self, best: Evaluation | None) -> None:
        """Start it if it is due; called whenever the driver waits."""

    def take(self, finished: Finished) -> None:
        """Take the end of a task that is no evaluation."""


class NoStandby:
    """Nothing stands by."""

    def look(self, best: Evaluation | None) -> None:
        """Start nothing."""

    def take(self, finished: Finished) -> None:
        """Expect nothing."""


def no_race(best: Evaluation | None) -> Mapping[str, Any]:
    """Race nobody: evaluations are given their candidate alone."""
    del best
    return {}


@dataclass(frozen=True)
class Desk:
    """Own the parties of one run: the executor, the store, the clocks and the listeners.

    The `past` is in the log and the store already, counts in the budget, and answers repeated
    proposals. Candidates refused by `foresight` are not started. An evaluation is given what `race`
    returns for the best one so far. `finish` takes over the files of an ended evaluation.
    """

    dispatch: Dispatcher
    store: Store
    budget: Budget
    tell: Tell
    past: Past = NO_PAST
    ledger: Ledger = field(default_factory=Ledger)
    race: Callable[[Evaluation | None], Mapping[str, Any]] = no_race
    finish: Callable[[Evaluation, Finished], None] | None = None
    foresight: Foresight = field(default_factory=Foresight)
    interrupts: Deferral = field(default_factory=lambda: Deferral(enabled=False))
    standby: Standby = field(default_factory=NoStandby)


@dataclass
class _Running:
    number: int
    task: Task
    key: str
    candidates: list[Candidate]
    until_deadline: bool
    is_retried: bool = False


class Driver:
    """Runs one search to its end; its `log` is right at any moment."""

    def __init__(self, problem: SearchProblem, desk: Desk) -> None:
        self.log = Logbook(desk.store, desk.past, problem.limits)
        self._problem = problem
        self._desk = desk
        self._running: dict[int, _Running] = {}
        self._started = self.log.last_number
        self._spent = self.log.spent
        self._threads = ThreadpoolController()
        self._interrupts = desk.interrupts
        self._again: list[int] = []
        self._is_ending = False
        self._stopped: StopReason | None = None
        for evaluation in desk.past.evaluations:
            desk.foresight.learn(evaluation)

    def run(self, search: Search) -> Stop:
        """Drive until the search or the budget ends; return the end of it.

        A second interrupt is raised: the user wants nothing more. After a loss of the evaluator the
        known evaluations are the result, if there are any.
        """
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
            at = {self._problem.text(running.candidates[0]) for running in self._running.values()}
            words = f"{problem.message.rstrip('.')}, evaluating {' and '.join(sorted(at))}"
            return Stop(StopReason.LOST_EVALUATOR, words)
        finally:
            search.close()
            self._drain()

    def _drive(self, search: Search) -> Stop:
        with self._thinking():
            event = next(search)
        while True:
            reason = self._reason_to_stop()
            if reason is not None:
                return Stop(reason)
            results = self._react(event)
            with self._thinking():
                event = search.send(results)

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
        if not self._is_full:
            self._start(event.candidate)
        return [*results, *(self._collect(at_least=0) if is_ahead else self._make_room())]

    @property
    def _is_full(self) -> bool:
        """True if nothing more may start: lost tasks are tried again alone, to find the culprit."""
        is_tried_again = any(running.is_retried for running in self._running.values())
        return is_tried_again or len(self._running) >= max(self._desk.dispatch.workers, 1)

    def _make_room(self) -> list[Evaluation]:
        """Wait until a worker is free or a new one joins, or the search is to end.

        A task to be tried again ends without a result, and leaves no room.
        """
        results = self._collect(at_least=1 if self._is_full else 0, for_room=True)
        while self._is_full and not self._is_over:
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
        if reason is None or any(running.key == key for running in self._running.values()):
            return None
        # It is not logged: with more time it may be started.
        return Evaluation(0, key, candidate, Status.SKIPPED, message=reason)

    def _start(self, candidate: Candidate) -> None:
        """Hand a candidate to a worker, unless one has it already."""
        key = self._problem.key(candidate)
        for running in self._running.values():
            if running.key == key:
                running.candidates.append(candidate)
                return
        self._started += 1
        self._spent += candidate.fidelity
        seconds, until_deadline = self._desk.budget.limit_of_next(self.log.best)
        arguments = {"candidate": candidate, "seed": self._seed(candidate)}
        if candidate.fidelity == 1.0:  # on fewer rows anything is behind
            arguments |= self._desk.race(self.log.best)
        keep = self._desk.finish is not None
        task = self._desk.dispatch.make(TaskKind.EVALUATE, arguments, seconds, keep=keep)
        running = _Running(self._started, task, key, [candidate], until_deadline)
        self._running[task.number] = running
        text = self._problem.text(candidate)
        with self._desk.ledger.charge(Account.STORE):
            self.log.begin(running.number, key, text)
        self._desk.tell("evaluation_started", number=running.number, text=text)
        self._desk.dispatch.submit(task)

    def _seed(self, candidate: Candidate) -> int:
        """Return the seed of a candidate, the same at every fidelity: a rough fit can go on."""
        return self._problem.seed_of(self._problem.key(replace(candidate, fidelity=1.0)))

    def _reason_to_stop(self) -> StopReason | None:
        if self._interrupts.came:
            return self._interrupts.reason
        most = self._desk.budget.max_evaluations
        if most is not None and self._spent > most - ROUNDING:
            return StopReason.EVALUATIONS if not self._running else self._wait_for_last()
        if self._asks_to_stop():
            return self._stopped
        if self._is_over or (self._desk.foresight.has_given_up and not self._running):
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
        while self._running and not self._is_over:
            self._collect(at_least=1)
        if not self._running:
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
            while self._running:
                self._try_again()
                self._desk.standby.look(self.log.best)
                left = self._desk.budget.seconds_left(self.log.best)
                timeout = SLICE if left is None else min(max(left, 0.0), SLICE)
                finished = self._desk.dispatch.wait(timeout if at_least else 0.0)
                if finished or not at_least or timeout == 0.0:
                    break
                if for_room and not self._is_full:
                    break
                if self._interrupts.came or self._asks_to_stop():
                    break
        return self._take_in(finished)

    def _take_in(self, finished: Sequence[Finished]) -> list[Evaluation]:
        with self._desk.ledger.charge(Account.STORE):
            return [evaluation for item in finished for evaluation in self._enter(item)]

    def _enter(self, finished: Finished) -> list[Evaluation]:
        running = self._running.get(finished.number)
        if running is None:
            self._desk.standby.take(finished)
            return []
        if self._retry(finished, running):
            return []
        del self._running[finished.number]
        if finished.status is Status.LOST and running.is_retried:
            finished = replace(finished, message=f"{finished.message} (twice, alone at last)")
        candidate, limits = running.candidates[0], self._problem.limits
        end = check_end(finished, limits, until_deadline=running.until_deadline)
        first = Evaluation(
            number=running.number,
            key=running.key,
            candidate=candidate,
            status=end.status,
            loss=end.result.loss,
            constraints=end.result.constraints,
            seconds=finished.seconds,
            text=self._problem.text(candidate),
            message=end.message,
            details={**end.result.details, ENDED: round(time.time(), 3)},
        )
        self._desk.foresight.learn(first)
        self.log.enter(first)
        if self._desk.finish is not None:
            self._desk.finish(first, finished)
        self._desk.tell("evaluation_finished", evaluation=first)
        return [replace(first, candidate=candidate) for candidate in running.candidates]

    def _retry(self, finished: Finished, running: _Running) -> bool:
        """Note a lost evaluation to be started once more, and only once.

        Its process may have been killed from outside, by another evaluation, or by itself.
        """
        if finished.status is not Status.LOST or running.is_retried or self._is_ending:
            return False
        running.is_retried = True
        self._again.append(finished.number)
        return True

    def _try_again(self) -> None:
        """Start a lost evaluation again as soon as nothing else runs."""
        if self._again and len(self._again) == len(self._running):
            running = self._running[self._again.pop(0)]
            seconds, running.until_deadline = self._desk.budget.limit_of_next(self.log.best)
            self._desk.dispatch.submit(replace(running.task, seconds=seconds))

    def _drain(self) -> None:
        """Take in ended evaluations and kill the rest; if that fails they are lost."""
        self._is_ending = True
        dispatch = self._desk.dispatch
        self._take_in(dispatch.wait(0.0) if self._running else ())
        for number in self._again:
            self._enter(Finished(number, Status.CANCELLED))
        for running in list(self._running.values()):
            dispatch.kill(running.task)
        until = self._desk.budget.clock() + LAST_WORDS
        while self._running and self._desk.budget.clock() < until:
            self._take_in(dispatch.wait(LAST_WORDS))
        told = f"{dispatch.title} told no end of it, not even when it was to be killed"
        for number in list(self._running):
            self._enter(Finished(number, Status.LOST, message=told))
