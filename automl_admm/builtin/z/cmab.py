"""The z-solver `cmab`: a combinatorial bandit by Thompson sampling (algorithm A1 of the paper).

Each alternative of a decision is an arm, and each (item, position) of an order. A pull plays one
arm of every decision that is active; its reward goes to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from automl_admm.builtin.z.arms import Arm, Scale, arms_of, best_alternative, best_order
from automl_admm.problem import Limit, Observation, SelectionSubproblem
from automl_admm.space import Choice, Decision, Order, Pick, SearchSpace, Selection


class CombinatorialBandit:
    """Thompson sampling over arms with Beta posteriors that last for the whole run.

    With `upper` = f̂ and `prior` = 10 this is algorithm A1: the reward of an objective f is
    r̃ = 1 − min(max(f/f̂, 0), 1), a coin with that probability is tossed, and the arms count it;
    outside the limits nothing is earned.

    Without `upper` the losses need not lie in [0, 1]: r̃ is 1 at the best loss seen and 0 at the
    0.7 quantile of those seen, and it is counted as it is, without the coin, which at the few
    pulls of a sub-problem throws away most of what a pull tells.
    """

    def __init__(self, upper: float | None, prior: float) -> None:
        self._upper = upper
        self._prior = prior
        self._space = SearchSpace()
        self._limits: tuple[Limit, ...] = ()
        self._rng = np.random.default_rng(0)
        self._rewards: dict[Arm, float] = {}
        self._pulls: dict[Arm, float] = {}
        self._losses: list[float] = []
        self._learned: set[tuple[Selection, str]] = set()
        self._first: list[Selection] = []

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; what was learned before stays."""
        self._space = subproblem.space
        self._limits = subproblem.limits
        self._rng = np.random.default_rng(subproblem.seed)
        known = {observation.point for observation in subproblem.history}
        self._first = [] if subproblem.start in known else [subproblem.start]
        self.tell([o for o in subproblem.history if _identity(o) not in self._learned])

    def ask(self, count: int, pending: Sequence[Selection]) -> Sequence[Selection]:
        """Sample ω for every arm and take the best arms; orders by the assignment problem."""
        del pending
        proposals, self._first = self._first[:count], self._first[count:]
        while len(proposals) < count:
            picks = {decision.name: self._draw(decision) for decision in self._space.decisions}
            proposals.append(self._space.complete(picks))
        return proposals

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Credit the arms of each selection with its reward."""
        self._losses.extend(o.loss for o in observations if np.isfinite(o.loss))
        for observation in observations:
            self._learned.add(_identity(observation))
            reward = self._reward(observation)
            for arm in arms_of(observation.point):
                self._pulls[arm] = self._pulls.get(arm, 0.0) + 1.0
                self._rewards[arm] = self._rewards.get(arm, 0.0) + reward

    def _draw(self, decision: Decision) -> Pick:
        """The alternative, or the permutation, with the largest sum of sampled ω."""
        if isinstance(decision, Choice):
            return best_alternative(decision, self._omega)
        return self._draw_order(decision)

    def _draw_order(self, order: Order) -> tuple[str, ...]:
        """Maximise Σ_ik o_ik ω_ik over permutation matrices o."""
        return best_order(order, self._omega)

    def _omega(self, arm: Arm) -> float:
        """ω ~ Beta(α₀ + r, δ₀ + n − r)."""
        reward, pulls = self._rewards.get(arm, 0.0), self._pulls.get(arm, 0.0)
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
