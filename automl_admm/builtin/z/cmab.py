"""The z-solver `cmab`: a combinatorial bandit by Thompson sampling (algorithm A1 of the paper).

Each alternative of a decision is an arm, and each (item, position) of an order. A pull plays one
arm of every decision that is active; its reward goes to all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from automl_admm.builtin.z.arms import Arm, Scale, Tallies, best_pick, play_untaken
from automl_admm.builtin.z.learner import Learner
from automl_admm.problem import Limit, Observation, SelectionSubproblem
from automl_admm.space import Selection


class CombinatorialBandit(Learner):
    """Thompson sampling over arms with Beta posteriors that last for the whole run.

    With `upper` = f̂ and `prior` = 10 this is algorithm A1: the reward of an objective f is
    r̃ = 1 − min(max(f/f̂, 0), 1), a coin with that probability is tossed, and the arms count it;
    outside the limits nothing is earned.

    Without `upper` the losses need not lie in [0, 1]: r̃ is 1 at the best loss seen and 0 at the
    0.7 quantile of those seen, and it is counted as it is, without the coin, which at the few
    pulls of a sub-problem throws away most of what a pull tells.

    The algorithm's pulls are noisy, and worth repeating. Here a selection that is known under the
    present parameters would be answered from the log and teach nothing, so ω is drawn again.
    """

    def __init__(self, upper: float | None, prior: float) -> None:
        super().__init__()
        self._upper = upper
        self._prior = prior
        self._limits: tuple[Limit, ...] = ()
        self._tallies = Tallies({}, {})
        self._losses: list[float] = []
        self._learned: set[tuple[Selection, str]] = set()

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; what was learned before stays."""
        super().begin(subproblem)
        self._limits = subproblem.limits
        self._credit([o for o in subproblem.history if _identity(o) not in self._learned])

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Credit the arms of each selection with its reward."""
        super().tell(observations)
        self._credit(observations)

    def _credit(self, observations: Sequence[Observation[Selection]]) -> None:
        self._losses.extend(o.loss for o in observations if np.isfinite(o.loss))
        for observation in observations:
            self._learned.add(_identity(observation))
            self._tallies.count(observation.point, self._reward(observation))

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        del waiting
        return play_untaken(self._tallies.copy(), self._play, taken)

    def _play(self, tallies: Tallies) -> Selection:
        """Sample ω for every arm and take the best arms; orders by the assignment problem."""

        def omega(arm: Arm) -> float:
            return self._omega(tallies.rewards.get(arm, 0.0), tallies.pulls.get(arm, 0.0))

        picks = {d.name: best_pick(d, omega) for d in self._space.decisions}
        return self._space.complete(picks)

    def _omega(self, reward: float, pulls: float) -> float:
        """ω ~ Beta(α₀ + r, δ₀ + n − r)."""
        return float(self._rng.beta(self._prior + reward, self._prior + pulls - reward))

    def _reward(self, observation: Observation[Selection]) -> float:
        if observation.failed or not np.isfinite(observation.loss):
            return 0.0
        if self._upper is not None:
            return self._toss(observation, self._upper)
        return Scale.of(self._losses).reward(observation.loss)

    def _toss(self, observation: Observation[Selection], upper: float) -> float:
        """The binary reward r ~ Bernoulli(r̃) of the paper."""
        pairs = zip(self._limits, observation.constraints, strict=True)
        if not all(limit.holds(value) for limit, value in pairs):
            return 0.0
        share = 1.0 - min(max(observation.objective / upper, 0.0), 1.0)
        return float(self._rng.random() < share)


def _identity(observation: Observation[Selection]) -> tuple[Selection, str]:
    """What stays the same of an observation when multipliers change: its point and raw loss.

    As a text, because the NaN of a failure equals no other NaN.
    """
    return observation.point, repr(observation.objective)
