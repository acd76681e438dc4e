"""The evaluations that run: started, entered in the log when they end, and tried again if lost."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from automl_admm.core.evaluations import ENDED, Evaluation, Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.run import Account
from automl_admm.core.space import Candidate
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.dispatch import TaskKind
from automl_admm.runs.driving.judgement import check_end
from automl_admm.runs.driving.logbook import Logbook
from automl_admm.search.protocol import SearchProblem

LAST_WORDS = 1.0


@dataclass
class _Running:
    number: int
    task: Task
    key: str
    candidates: list[Candidate]
    until_deadline: bool
    is_retried: bool = False


class Ongoing:
    """Own the evaluations that run; each that ends goes to the log, the store and the listeners."""

    def __init__(self, log: Logbook, problem: SearchProblem, desk: Desk) -> None:
        self._log = log
        self._problem = problem
        self._desk = desk
        self._running: dict[int, _Running] = {}
        self._last_number = max(log.last_number, desk.past.last_number)
        self._spent = log.spent
        self._again: list[int] = []
        self._is_ending = False

    def __len__(self) -> int:
        """The number of evaluations that run."""
        return len(self._running)

    @property
    def spent(self) -> float:
        """The sum of fidelities of everything started: the number of whole evaluations."""
        return self._spent

    @property
    def is_full(self) -> bool:
        """True if nothing more may start: lost tasks are tried again alone, to find the culprit."""
        is_tried_again = any(running.is_retried for running in self._running.values())
        return is_tried_again or len(self._running) >= max(self._desk.dispatch.workers, 1)

    def has(self, key: str) -> bool:
        """Return True if a candidate of this key runs."""
        return any(running.key == key for running in self._running.values())

    def texts(self) -> list[str]:
        """Return the pipelines that run, as texts."""
        found = {self._problem.text(running.candidates[0]) for running in self._running.values()}
        return sorted(found)

    def start(self, candidate: Candidate) -> None:
        """Hand a candidate to a worker, unless one has it already."""
        key = self._problem.key(candidate)
        for running in self._running.values():
            if running.key == key:
                running.candidates.append(candidate)
                return
        self._spent += candidate.fidelity
        seconds, until_deadline = self._desk.budget.limit_of_next(self._log.best)
        # The seed is the same at every fidelity: a rough fit can go on.
        seed = self._problem.seed_of(self._problem.key(replace(candidate, fidelity=1.0)))
        arguments = {"candidate": candidate, "seed": seed}
        if candidate.fidelity == 1.0:  # on fewer rows anything is behind
            arguments |= self._desk.race(self._log.best)
        keep = self._desk.finish is not None
        task = self._desk.dispatch.make(TaskKind.EVALUATE, arguments, seconds, keep=keep)
        running = _Running(self._number(key), task, key, [candidate], until_deadline)
        self._running[task.number] = running
        text = self._problem.text(candidate)
        with self._desk.ledger.charge(Account.STORE):
            self._log.begin(running.number, key, text)
        self._desk.tell("evaluation_started", number=running.number, text=text)
        self._desk.dispatch.submit(task)

    def _number(self, key: str) -> int:
        """Return the number of an evaluation begun before, else a new one."""
        if key in self._desk.past.begun:
            return self._desk.past.begun[key]
        self._last_number += 1
        return self._last_number

    def take_in(self, finished: Sequence[Finished]) -> list[Evaluation]:
        """Enter ended evaluations in the log and the store, and return them."""
        with self._desk.ledger.charge(Account.STORE):
            return [evaluation for item in finished for evaluation in self._enter(item)]

    def try_again(self) -> None:
        """Start a lost evaluation again as soon as nothing else runs."""
        if self._again and len(self._again) == len(self._running):
            running = self._running[self._again.pop(0)]
            seconds, running.until_deadline = self._desk.budget.limit_of_next(self._log.best)
            self._desk.dispatch.submit(replace(running.task, seconds=seconds))

    def drain(self) -> None:
        """Take in ended evaluations and kill the rest; if that fails they are lost.

        An executor that has failed is not asked again: it may hang once more.
        """
        self._is_ending = True
        dispatch = self._desk.dispatch
        if dispatch.has_failed:
            told = f"{dispatch.title} failed while it ran"
        else:
            self._take_last_ends()
            told = f"{dispatch.title} told no end of it, even after `kill`"
        for number in list(self._running):
            self._enter(Finished(number, Status.LOST, message=told))

    def _take_last_ends(self) -> None:
        dispatch = self._desk.dispatch
        self.take_in(dispatch.wait(0.0) if self._running else ())
        for number in self._again:
            self._enter(Finished(number, Status.CANCELLED))
        for running in list(self._running.values()):
            dispatch.kill(running.task)
        until = self._desk.budget.clock() + LAST_WORDS
        while self._running and self._desk.budget.clock() < until:
            self.take_in(dispatch.wait(LAST_WORDS))

    def _enter(self, finished: Finished) -> list[Evaluation]:
        running = self._running.get(finished.number)
        if running is None:
            self._desk.standby.take(finished)
            return []
        if self._retry(finished, running):
            return []
        del self._running[finished.number]
        if self._log.lost is not None:
            return []
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
        self._log.enter(first)
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
