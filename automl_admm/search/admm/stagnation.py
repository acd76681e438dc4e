"""Signs of stagnation: in one sub-problem, and over the outer iterations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import violation
from automl_admm.core.subproblems import Observation

# In the unit of losses, the spread of those seen.
GAIN_THAT_MATTERS = 0.01
# Even a sub-problem of few evaluations may miss this often in a row by chance.
SHORTEST = 4


@dataclass
class Drought:
    """The end of a sub-problem once its last k evaluations brought no gain.

    k = max(4, n_t / 2). The papers give every sub-problem n_t evaluations. But a selection tuned
    before may have nothing left to gain, and would take its n_t again each time z-min returns to
    it. And z-min does return, because it judges the others by parameters tuned for this one. With
    half as many in vain the other block has its turn earlier, and the selections change more often.
    As n_t grows, so does k: a sub-problem converged at first is looked at more closely later.
    `lowest` is the least loss known before.
    """

    patience: int
    lowest: float = math.inf
    _in_vain: float = 0.0

    @classmethod
    def of(cls, evaluations: int, known: Sequence[Observation[Any]]) -> Drought:
        """Return the drought at the beginning of a sub-problem of n_t evaluations."""
        losses = (observation.loss for observation in known if not observation.failed)
        return cls(max(SHORTEST, evaluations // 2), min(losses, default=math.inf))

    def lasts(self, learned: Sequence[Observation[Any]], pending: int = 0) -> bool:
        """Take in results; return True when it is time to end.

        Small gains add up: each is measured from the last one that mattered. Evaluations on a part
        of the rows cannot show a gain, and count as that part of one. While others are `pending`, k
        grows by their number: they were asked for before these results came in.
        """
        for observation in learned:
            is_whole = observation.fidelity == 1.0 and not observation.failed
            if is_whole and observation.loss < self.lowest - GAIN_THAT_MATTERS:
                self.lowest, self._in_vain = observation.loss, 0.0
            else:
                self._in_vain += observation.fidelity
        return self._in_vain >= self.patience + pending


@dataclass
class IterationGains:
    """The gains of the outer iterations; `_before` is the last incumbent counted as a gain.

    Small gains add up, as they do in a sub-problem.
    """

    limits: Sequence[Limit]
    _before: Evaluation | None = None

    def has_come(self, incumbent: Evaluation | None, unit: float) -> bool:
        """Take in the incumbent after an iteration; `unit` is the unit of losses."""
        if incumbent is None or not self._is_gain(incumbent, unit):
            return False
        self._before = incumbent
        return True

    def _is_gain(self, incumbent: Evaluation, unit: float) -> bool:
        """Return True for a gain that matters; as incumbents are ranked, not at today's prices."""
        if self._before is None:
            return True
        if not is_feasible(incumbent, self.limits):
            before = violation(self._before.constraints, self.limits)
            now = violation(incumbent.constraints, self.limits)
            # Violations are relative to their limits already, so the gain is a ratio, not a
            # difference.
            return now < (1.0 - GAIN_THAT_MATTERS) * before
        if not is_feasible(self._before, self.limits):
            return True
        return incumbent.loss < self._before.loss - GAIN_THAT_MATTERS * unit
