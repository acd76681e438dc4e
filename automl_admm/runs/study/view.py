"""The present state of a study, to read at any time and from any thread."""

from __future__ import annotations

import time

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import StopReason
from automl_admm.runs.study.trial import Trial, TrialResult, result_of, trial_of
from automl_admm.runs.study.trials import Pending, Trials


class StudyView:
    """Reads the trials of a study; during `optimize` it shows the state before."""

    def __init__(self, name: str, trials: Trials) -> None:
        self._name, self._trials, self._box = name, trials, trials.box
        self._begun: float | None = None

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
        space = self._box.problem.space
        return trial_of(asked.number, asked.key, asked.candidates[0], space, self._name)

    def _result(self, evaluation: Evaluation) -> TrialResult:
        return result_of(evaluation, self._box.problem.space, self._box.problem.limits)
