"""Sequential halving over algorithms: the method of `halving` if every evaluation is whole."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Sequence

from automl_admm.builtin.z.algorithms import Puller, choice_of_arms, members_of, turn
from automl_admm.builtin.z.learner import Learner
from automl_admm.core.space import SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem

# Evaluations to plan with if the sub-problem has a time limit only.
UNKNOWN_BUDGET = 64


class SequentialHalving(Learner):
    """Rounds with an equal share for every remaining arm; then the worse half goes.

    An arm with its selections used up is not waited for.

    With K arms and a budget of N evaluations each of the ⌈log₂ K⌉ rounds has an equal part of N, so
    each arm of a later round has more. A round may outlast a sub-problem. The last arm is pulled to
    the end of the sub-problem, and the next one has all arms back.
    """

    def __init__(self) -> None:
        super().__init__()
        self._arms: tuple[str, ...] = ()
        self._puller = Puller("")
        self._alive: list[str] = []
        self._turns: defaultdict[str, float] = defaultdict(float)
        self._evaluations = UNKNOWN_BUDGET

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions; an unfinished bracket goes on."""
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._lay_out(subproblem.space)
        # The last bracket has its winner: begin another.
        elif len(self._alive) <= 1:
            self._alive = list(self._arms)
            self._turns = defaultdict(float)
        # New parameters make used-up arms worth pulling again.
        self._puller = Puller(self._puller.decision)
        self._evaluations = subproblem.evaluations or UNKNOWN_BUDGET
        super().begin(subproblem)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Record observations, and count the turns of this round."""
        super().tell(observations)
        for observation in observations:
            self._turns[self._puller.arm(observation.point)] += turn(observation)

    def _lay_out(self, space: SearchSpace) -> None:
        choice = choice_of_arms(space)
        self._puller = Puller("" if choice is None else choice.name)
        self._arms = () if choice is None else choice.alternatives
        self._alive = list(self._arms)
        self._turns = defaultdict(float)

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        # A round ends when every arm that can still be pulled has had its share.
        fewest = self._puller.fewest(self._turns, self._alive)
        if len(self._alive) > 1 and fewest >= self.share:
            self._dismiss()
        arms = self._puller.in_turn(self._alive, self._turns, waiting)
        return self._puller.first(self._space, self._record, arms, taken, self._rng)

    @property
    def share(self) -> int:
        """⌊N / (k ⌈log₂ K⌉)⌋ pulls for each of the k arms of a round, at least one."""
        rounds = max(math.ceil(math.log2(max(len(self._arms), 1))), 1)
        return max(self._evaluations // (len(self._alive) * rounds), 1)

    def _dismiss(self) -> None:
        """Keep the better half, ⌈k/2⌉ arms, by the best loss on record of each."""
        members = members_of(self._record, self._puller.decision)
        best = {
            arm: min(
                (self._record.losses[point] for point in members.get(arm, ())), default=math.inf
            )
            for arm in self._alive
        }
        kept = sorted(self._alive, key=best.__getitem__)[: math.ceil(len(self._alive) / 2)]
        self._alive = [arm for arm in self._alive if arm in kept]
        self._turns = defaultdict(float)
