"""What has been evaluated in a run, by key, and the best of it."""

from __future__ import annotations

from collections.abc import Sequence

from automl_admm.core.problem import Evaluation, Limit
from automl_admm.core.ranking import best_of


class Logbook:
    """The evaluations in the order in which they ended; those that were `known` before first."""

    def __init__(self, known: Sequence[Evaluation], limits: Sequence[Limit]) -> None:
        self.evaluations: list[Evaluation] = list(known)
        self.best = best_of(known, limits)
        self._limits = limits
        self._by_key = {evaluation.key: evaluation for evaluation in known}

    @property
    def last_number(self) -> int:
        """The highest number that was given."""
        return max((evaluation.number for evaluation in self.evaluations), default=0)

    @property
    def spent(self) -> float:
        """How many whole evaluations these were worth."""
        return sum(evaluation.candidate.fidelity for evaluation in self.evaluations)

    def find(self, key: str) -> Evaluation | None:
        """What came of this key, if it was evaluated."""
        return self._by_key.get(key)

    def enter(self, evaluation: Evaluation) -> None:
        """Enter an evaluation."""
        self.evaluations.append(evaluation)
        self._by_key[evaluation.key] = evaluation
        if evaluation.ok:
            self.best = best_of([e for e in (self.best, evaluation) if e is not None], self._limits)
