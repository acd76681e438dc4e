"""The z-solvers `ucb` and `softmax`: every arm has an index; play the largest sum."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

import numpy as np

from automl_admm.builtin.z.arms import Arm, ArmTable, Tallies, best_pick, play_untaken
from automl_admm.builtin.z.learner import Learner
from automl_admm.core.space import Selection

Index = Callable[[float, float, float, np.random.Generator], float]
# Above every index: rewards lie in [0, 1].
UNTRIED = 1e6


class IndexBandit(Learner):
    """A bandit over arms by an index of their mean reward, their pulls and the pulls in all.

    A known selection would be proposed for ever, and a pending one again and again. So each counts
    as a further pull without reward, until a new one has the largest index.
    """

    def __init__(self, index: Index) -> None:
        super().__init__()
        self._index = index
        self._arms = ArmTable()

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        tallies = self._arms.credit(self._record.losses)
        for selection in waiting:
            tallies.count(selection, 0.0)
        return play_untaken(tallies, self._play, taken)

    def _play(self, tallies: Tallies) -> Selection:

        total = max(len(self._record.losses), 1)

        def index(arm: Arm) -> float:
            pulls = tallies.pulls.get(arm, 0.0)
            mean = tallies.rewards.get(arm, 0.0) / max(pulls, 1.0)
            return self._index(mean, pulls, total, self._rng)

        picks = {d.name: best_pick(d, index) for d in self._space.decisions}
        return self._space.complete(picks)


def upper_confidence(exploration: float) -> Index:
    """UCB1: r̄ + c √(2 ln N / n); an arm never pulled comes first, in random order."""

    def index(mean: float, pulls: float, total: float, rng: np.random.Generator) -> float:
        if pulls == 0:
            return UNTRIED + float(rng.random())
        # Pulls counted for pending selections may exceed the number on record.
        return mean + exploration * math.sqrt(2.0 * math.log(max(total, pulls)) / pulls)

    return index


def boltzmann(temperature: float) -> Index:
    """Boltzmann exploration: P(arm) ∝ exp(r̄ / τ), drawn as the largest of r̄ / τ + Gumbel noise.

    Thanks to the noise an order can be drawn by the assignment problem as well. An arm never pulled
    counts as a middling one.
    """

    def index(mean: float, pulls: float, total: float, rng: np.random.Generator) -> float:
        del total
        return (mean if pulls else 0.5) / temperature + float(rng.gumbel())

    return index
