"""The trials of a study: asked for, pending, told. No lock and no files of their own."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import ENDED, Evaluation
from automl_admm.core.messages import say_value
from automl_admm.core.protocols import Store
from automl_admm.core.space import Candidate
from automl_admm.runs.blackbox import PreparedBox
from automl_admm.runs.driving.logbook import Logbook, Past
from automl_admm.runs.study.conversation import ENQUEUED, Conversation
from automl_admm.runs.study.journal import Ask, Journal
from automl_admm.runs.study.telling import Outcome
from automl_admm.runs.study.trial import Trial
from automl_admm.search.cheap_limits import Screen
from automl_admm.search.protocol import (
    MOST_IDLE,
    Proposal,
    SearchProblem,
    Wait,
    derive_seed,
    waits_for_nothing,
)
from automl_admm.search.starts import draw_candidate

# In the details of an evaluation: its place among the results told, and a result from elsewhere.
TOLD, ADDED = "told", "added"
# The origin of a point drawn because the search waits for results, while a worker is free.
MEANWHILE = "meanwhile"
DRAWS = 64
COPY = "A study and its copy go on apart: tell each the trials that it gave out."
ROUNDING = 1e-6
Tell = Callable[..., Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Pending:
    """A candidate that somebody evaluates; the search may propose it again under other points."""

    number: int
    key: str
    candidates: list[Candidate]
    since: float


class Trials:
    """Own the evaluations of a study, the pending ones, and the search that proposes."""

    def __init__(self, box: PreparedBox, store: Store, journal: Journal, tell: Tell) -> None:
        self.box, self.conversation = box, Conversation()
        self.pending: dict[int, Pending] = {}
        self.unclaimed: deque[int] = deque()
        self.store, self.journal, self.tell = store, journal, tell
        self.take_up()
        self._screen = Screen(box.problem.limits, box.problem.cheap)

    def take_up(self) -> None:
        """Read the log from the store; what a driver cut short has still to be evaluated."""
        known = self.store.read()
        past = Past(tuple(e for e in known if e.has_ended))
        self.log = Logbook(self.store, past, self.box.problem.limits)
        self.leave([e.candidate for e in known if not e.has_ended])

    def leave(self, candidates: Sequence[Candidate]) -> None:
        """Let new candidates come before the next proposals of the search, each once."""
        conversation = self.conversation
        found: dict[str, Candidate] = {}
        for one in (*candidates, *conversation.left):
            key = self.box.problem.key(one)
            if self.is_new(key):
                found.setdefault(key, one)
        conversation.left = deque(found.values())

    @property
    def spent(self) -> float:
        """Whole evaluations of this study's own, the pending ones included."""
        asked = sum(one.candidates[0].fidelity for one in self.pending.values())
        return self.log.spent - self.added + asked

    @property
    def added(self) -> float:
        """Whole evaluations that came from elsewhere."""
        return sum(e.candidate.fidelity for e in self.log.evaluations if ADDED in e.details)

    def has_spent(self, most: float | None) -> bool:
        """Return True once so many evaluations are asked for."""
        return most is not None and not self.unclaimed and self.spent > most - ROUNDING

    def begin(self, problem: SearchProblem) -> None:
        """Begin the search, unless it has begun; it knows the results told by now."""
        if not self.conversation.has_begun:
            problem = replace(problem, known=tuple(self.log.evaluations))
            self.conversation.begin(self.box.plan().search(problem, self.tell))

    def ask(self) -> Pending | None:
        """Return the next trial; None if there is none before a result comes, or at the end."""
        if self.unclaimed:
            return self.pending[self.unclaimed.popleft()]
        idle = 0
        while not (self.conversation.is_idle and self.pending):
            event = self.conversation.step()
            if event is None:
                return None
            idle = idle + 1 if isinstance(event, Wait) else 0
            if idle > MOST_IDLE:
                self.conversation.forget()
                raise waits_for_nothing("the search")
            if isinstance(event, Proposal):
                asked = self._take(event)
                if asked is not None:
                    return asked
            elif event is self.conversation.state:
                self.tell("iteration_finished", state=event)
        return self._draw()

    def _take(self, proposal: Proposal) -> Pending | None:
        """Make a trial of a proposal, unless its result is known or on its way."""
        candidate, key = proposal.candidate, self.box.problem.key(proposal.candidate)
        known = self.log.find(key)
        if known is not None:
            self.conversation.hear(replace(known, candidate=candidate))
            return None
        running = next((one for one in self.pending.values() if one.key == key), None)
        if running is not None:
            running.candidates.append(candidate)
            return None
        try:
            return self._start(key, candidate, proposal.origin)
        except BaseException:
            if self.is_new(key):  # the search proposes it once: it is not to be lost
                self.conversation.first.appendleft(candidate)
            raise

    def _draw(self) -> Pending | None:
        """Draw a new point at random, for a worker that has nothing to do meanwhile."""
        problem, number = self.box.problem, self.last_number + 1
        rng = np.random.default_rng(derive_seed(problem.seed, MEANWHILE, number))
        for _ in range(DRAWS):
            candidate = draw_candidate(problem.space, rng)
            key = problem.key(candidate)
            if self.is_new(key) and self._screen.excluding(candidate) is None:
                return self._start(key, candidate, MEANWHILE)
        return None

    @property
    def last_number(self) -> int:
        """The highest number given to a trial so far, with a result or without."""
        asked = (ask.number or 0 for ask in self.journal.asks)
        return max((self.log.last_number, *asked, *self.pending))

    def _start(self, key: str, candidate: Candidate, origin: str) -> Pending:
        asked = Pending(self.last_number + 1, key, [candidate], time.monotonic())
        text = self.box.text(candidate)
        heard = len(self.log.evaluations)
        # The store first: so it has the text of every trial in the journal.
        self.log.begin(asked.number, key, text)
        self.journal.add(Ask(asked.number, heard, candidate, origin))
        self.pending[asked.number] = asked
        try:
            self.tell("evaluation_started", number=asked.number, text=text)
        except BaseException:  # an interrupt: nobody has got it
            self.unclaimed.appendleft(asked.number)
            raise
        return asked

    def find(self, trial: object, study: str) -> Pending:
        """Return the pending trial that the user means; raise if there is none."""
        if isinstance(trial, Trial) and trial.study != study:
            raise ConfigurationError(f"trial {trial.number} belongs to another study.")
        number = _number_of(trial)
        if number in self.pending:
            if isinstance(trial, Trial) and trial.key != self.pending[number].key:
                raise ConfigurationError(
                    f"trial {number} of this study is another point.", hint=COPY
                )
            return self.pending[number]
        if any(one.number == number for one in self.log.evaluations):
            raise ConfigurationError(f"trial {number} was told before.")
        raise ConfigurationError(f"there is no trial {number} in this study.")

    def tell_end(self, pending: Pending, outcome: Outcome, seconds: float | None) -> None:
        """Enter the end of a pending trial; by default it took the time since it was asked for."""
        candidate = pending.candidates[0]
        self.enter(
            Evaluation(
                number=pending.number,
                key=pending.key,
                candidate=candidate,
                status=outcome.status,
                loss=outcome.loss,
                constraints=outcome.constraints,
                seconds=time.monotonic() - pending.since if seconds is None else seconds,
                text=self.box.text(candidate),
                message=outcome.message,
            )
        )

    def enter(self, evaluation: Evaluation) -> None:
        """Enter a result: for good in the store, then for the search to hear."""
        told = {ENDED: round(time.time(), 3), TOLD: len(self.log.evaluations) + 1}
        evaluation = replace(evaluation, details={**told, **evaluation.details})
        self.log.enter(evaluation)
        running = self.pending.get(evaluation.number)
        candidates = [evaluation.candidate]
        if running is not None and running.key == evaluation.key:
            candidates = self.pending.pop(running.number).candidates
            if running.number in self.unclaimed:
                self.unclaimed.remove(running.number)
        for candidate in candidates:
            self.conversation.hear(replace(evaluation, candidate=candidate))
        self.tell("evaluation_finished", evaluation=evaluation)

    def add(self, evaluation: Evaluation) -> bool:
        """Enter a result from elsewhere; return False if its point is known or pending."""
        if not self.is_new(evaluation.key):
            return False
        self.enter(replace(evaluation, number=self.last_number + 1, details={ADDED: True}))
        return True

    def is_new(self, key: str) -> bool:
        """Return True if a point was neither told nor asked for."""
        is_pending = any(one.key == key for one in self.pending.values())
        return not is_pending and self.log.find(key) is None

    def is_waiting(self, key: str) -> bool:
        """Return True if a point was enqueued, and not asked for yet."""
        return any(self.box.problem.key(one) == key for one in self.conversation.first)

    def enqueue(self, candidate: Candidate) -> None:
        """Let a candidate come before those of the search."""
        self.journal.add(Ask(None, len(self.log.evaluations), candidate, ENQUEUED))
        self.conversation.first.append(candidate)

    def adopt(self, number: int, candidate: Candidate) -> None:
        """Take over a pending trial of an earlier session."""
        key = self.box.problem.key(candidate)
        self.pending[number] = Pending(number, key, [candidate], time.monotonic())

    def move_in(self, again: Trials) -> None:
        """Take over the search and the pending trials of others, made again on the same results."""
        # What a driver left is proposed again by the search itself, when its turn comes.
        self.conversation, self.pending = again.conversation, again.pending


def silent(hook: str, **arguments: Any) -> Sequence[Any]:
    """Tell nobody."""
    del hook, arguments
    return ()


def problem_of(box: PreparedBox, deadline: float | None) -> SearchProblem:
    """Return the problem of a study's search, with its end on the monotonic clock if it has one."""
    return replace(box.problem, deadline=deadline, clock=time.monotonic)


def _number_of(trial: object) -> int:
    """Return the number of a trial, or the number that stands for it; raise if it is neither."""
    number = trial.number if isinstance(trial, Trial) else trial
    if isinstance(number, bool) or not isinstance(number, Integral):
        raise ConfigurationError(f"tell takes a trial or its number, not {say_value(trial)}.")
    return int(number)
