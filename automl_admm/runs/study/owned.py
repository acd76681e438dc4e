"""A search that one process owns, one thread at a time."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn, Self

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import StopReason
from automl_admm.runs.study.files import Opened
from automl_admm.runs.study.trial import Trial, TrialResult, result_of
from automl_admm.runs.study.trials import Pending, Trials, problem_of


class OwnedStudy:
    """A study of one process, open until its end, and in the hand of one thread at a time.

    Its state is read at any time and from any thread; during `optimize` it is the one before.
    """

    def _open(self, opened: Opened) -> None:
        self._name, self._trials, self._box = opened.saved.name, opened.trials, opened.trials.box
        self._begun: float | None = None
        self._saved = opened.saved
        self._lock, self._process = threading.RLock(), os.getpid()
        self._is_lent = False
        self._close = weakref.finalize(self, _close, opened.trials, self._process)

    def close(self) -> None:
        """End the search and let go of the folder; a study with a folder can be loaded again."""
        with self._lock:
            self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> NoReturn:
        message = "a study cannot be copied into another process."
        raise ConfigurationError(message, hint="Use study.serve() there and Study.connect().")

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Let one thread in at a time, and nobody after a fork or after the end."""
        self._check_process()
        with self._lock:
            self._demand_open()
            if self._is_lent:
                raise ConfigurationError("the study is in its optimize: wait until it has ended.")
            yield

    def _demand_open(self) -> None:
        self._check_process()
        if not self._close.alive:
            raise ConfigurationError("the study is closed.", hint="Go on with Study.load.")

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise ConfigurationError(
                f"the study belongs to process {self._process}, which forked this one.",
                hint="Use study.serve() there and Study.connect() here.",
            )

    def _begin(self) -> None:
        if not self._trials.conversation.has_begun:
            self._trials.tell("run_started")
        self._begun = self._begun or time.monotonic()
        self._trials.begin(problem_of(self._box, self._deadline))

    @property
    def best(self) -> TrialResult | None:
        """The best result within the limits, else the one with the least violation; or None."""
        best = self._trials.log.best
        return None if best is None else self._result(best)

    @property
    def pending(self) -> tuple[Trial, ...]:
        """The trials asked for and not told."""
        return tuple(map(self._trial, list(self._trials.pending.values())))

    @property
    def results(self) -> tuple[TrialResult, ...]:
        """All results in the order of their numbers, those from elsewhere among them."""
        found = sorted(self._trials.log.evaluations, key=lambda one: one.number)
        return tuple(map(self._result, found))

    @property
    def admm_state(self) -> AdmmState | None:
        """The state of ADMM after its latest iteration: θ, δ, λ, u, μ, ρ and the residuals."""
        return self._trials.conversation.state

    @property
    def ended(self) -> str | None:
        """The reason why no more trials come: the budget or the space is used up; else None."""
        conversation, config = self._trials.conversation, self._box.config
        if self._trials.has_spent(config.max_evaluations):
            return str(StopReason.EVALUATIONS)
        deadline = self._deadline
        if deadline is not None and time.monotonic() >= deadline:
            return str(StopReason.BUDGET)
        is_left = conversation.has_waiting or self._trials.unclaimed
        return str(StopReason.EXHAUSTED) if conversation.is_over and not is_left else None

    @property
    def _deadline(self) -> float | None:
        """The end of the time budget; it begins with the first use, and only if it was given."""
        seconds = self._box.config.time_budget
        return None if seconds is None or self._begun is None else self._begun + seconds

    def _trial(self, asked: Pending) -> Trial:
        candidate = asked.candidates[0]
        values = dict(self._box.problem.space.values(candidate))
        return Trial(asked.number, asked.key, values, candidate.fidelity, self._name)

    def _result(self, evaluation: Evaluation) -> TrialResult:
        return result_of(evaluation, self._box.problem.space, self._box.problem.limits)


def _close(trials: Trials, process: int) -> None:
    """End a study, in the process that owns it alone."""
    if os.getpid() == process:
        trials.conversation.close()
        trials.store.close()
