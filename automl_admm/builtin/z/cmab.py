"""The z-solver `cmab`: a combinatorial bandit by Thompson sampling (algorithm A1 of Liu et al.).

Each alternative of a decision is an arm, and each (item, position) of an order. A pull plays one
arm of every active decision; its reward goes to all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from automl_admm.builtin.z.arms import Arm, ArmTable, Tallies, best_pick, play_untaken
from automl_admm.builtin.z.learner import Learner
from automl_admm.core.limits import Limit
from automl_admm.core.priors import ArmPrior, Arms
from automl_admm.core.space import Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

NOTHING = ArmPrior(0.0, 0.0)


class CombinatorialBandit(Learner):
    """Thompson sampling over arms with Beta posteriors.

    With `upper` = f̂ and `prior` = 10 this is algorithm A1. The reward of an objective f is r̃ = 1
    − min(max(f/f̂, 0), 1) (A39). A coin with that probability is tossed, and the arms count it for
    the whole run; a point outside the limits earns nothing.

    Without `upper` the losses need not lie in [0, 1]: r̃ is 1 at the best loss on record and 0 at
    the 0.7 quantile, all at today's prices. It counts as it is, without the coin: with the few
    pulls of a sub-problem a coin would waste most of the information.

    The algorithm's pulls are noisy, and worth repeating. Here a selection known under the present
    parameters would be answered from the log and teach nothing, so ω is drawn again.
    """

    def __init__(self, upper: float | None, prior: float, trust: float = 0.0) -> None:
        super().__init__()
        self._upper = upper
        self._prior = prior
        self._trust = trust
        self.takes_priors = trust > 0.0
        self._lessons: Arms = {}
        self._limits: tuple[Limit, ...] = ()
        self._arms = ArmTable()
        self._tossed = Tallies({}, {})
        self._learned: set[tuple[Selection, str]] = set()

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; earlier rewards stay."""
        super().begin(subproblem)
        self._limits = subproblem.limits
        self._lessons = subproblem.prior
        # A resumed run has pulls that this solver was never told of.
        self._toss_for([*subproblem.elsewhere, *subproblem.history])

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Credit the arms of each selection with its reward."""
        super().tell(observations)
        self._toss_for(observations)

    def _toss_for(self, observations: Sequence[Observation[Selection]]) -> None:
        """Toss the coin of each pull once, even if its price has changed since."""
        if self._upper is None:
            return
        for observation in observations:
            if (identity := _identity(observation)) not in self._learned:
                self._learned.add(identity)
                self._tossed.count(observation.point, self._toss(observation, self._upper))

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        # Pending selections are in `taken` already.
        del waiting
        if self._upper is None:
            return play_untaken(self._arms.credit(self._record.losses), self._play, taken)
        return play_untaken(self._tossed.copy(), self._play, taken)

    def _play(self, tallies: Tallies) -> Selection:
        """Sample ω for every arm and take the best arms; orders by the assignment problem."""

        def omega(arm: Arm) -> float:
            reward, pulls = tallies.rewards.get(arm, 0.0), tallies.pulls.get(arm, 0.0)
            lesson = self._lessons.get(arm[:2], NOTHING)
            total = lesson.good + lesson.bad
            return self._omega(reward + self._trust * lesson.good, pulls + self._trust * total)

        # Step 8: the sum separates into decisions.
        picks = {d.name: best_pick(d, omega) for d in self._space.decisions}
        return self._space.complete(picks)

    def _omega(self, reward: float, pulls: float) -> float:
        """Draw ω ~ Beta(α₀ + r, δ₀ + n − r)."""
        return float(self._rng.beta(self._prior + reward, self._prior + pulls - reward))

    def _toss(self, observation: Observation[Selection], upper: float) -> float:
        """Draw the paper's binary reward r ~ Bernoulli(r̃)."""
        if observation.failed or not np.isfinite(observation.objective):
            return 0.0
        pairs = zip(self._limits, observation.constraints, strict=True)
        if not all(limit.holds(value) for limit, value in pairs):
            return 0.0
        # (A39), step 9 of the algorithm; the coin is step 10.
        share = 1.0 - min(max(observation.objective / upper, 0.0), 1.0)
        return float(self._rng.random() < share)


def _identity(observation: Observation[Selection]) -> tuple[Selection, str]:
    """Return the part of an observation untouched by multipliers: its point and raw loss.

    It is a text, because the NaN of a failure equals no other NaN.
    """
    return observation.point, repr(observation.objective)
