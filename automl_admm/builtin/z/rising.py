"""The z-solver `rising-bandits`: one arm an algorithm, dismissed when it can no longer win."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.builtin.z.algorithms import choice_of_arms, members_of, pull
from automl_admm.builtin.z.learner import Learner
from automl_admm.problem import Observation, SelectionSubproblem
from automl_admm.space import Selection


@dataclass(frozen=True, slots=True)
class Curve:
    """An arm's losses in the order of its pulls, and its mean seconds."""

    losses: tuple[float, ...]
    seconds: float

    @property
    def reward(self) -> float:
        """y(n), the lower bound l(n) of the final reward: minus the best loss so far."""
        return -min(self.losses, default=math.inf)

    def growth(self, window: int) -> float:
        """ω(n) = (y(n) − y(n − C)) / C, equation (10); unbounded before there are C + 1 pulls."""
        if len(self.losses) <= window:
            return math.inf
        before = -min(self.losses[:-window])
        # Minus infinity less itself is no number: where nothing ever succeeded nothing grows.
        return 0.0 if self.reward == before else (self.reward - before) / window

    def upper_bound(self, window: int, pulls_left: float) -> float:
        """u = y(n) + ω(n) · pulls left: inequality (9) and equation (16) with the smooth rate.

        Where the paper has min(·, 1), because its rewards are accuracies, there is nothing here: a
        loss may have any size.
        """
        growth = self.growth(window)
        if math.isinf(growth):
            return math.inf
        # Nothing times the pulls that free evaluations would buy is nothing.
        return self.reward + (growth * max(pulls_left, 0.0) if growth > 0.0 else 0.0)


@dataclass
class Budget:
    """What the present sub-problem still has: N − n pulls, B′ seconds, either, both or neither."""

    evaluations: float | None = None
    seconds: float | None = None
    pulls: Counter[str] = field(default_factory=Counter)

    def spend(self, arm: str, seconds: float) -> None:
        """Enter one pull."""
        self.pulls[arm] += 1
        if self.evaluations is not None:
            self.evaluations -= 1.0
        if self.seconds is not None:
            self.seconds -= seconds

    def pulls_left(self, seconds_each: float, on_record: int) -> float:
        """How many more pulls of one arm the budget would buy.

        Of a number of evaluations N it is T − t = N − n, as in inequality (9); of seconds it is
        B′/c_k, as in equation (16), with c_k the mean `seconds_each` of the arm's pulls. Of both
        it is the smaller. Without either, as many are expected as are on record.
        """
        bought = [] if self.evaluations is None else [self.evaluations]
        if self.seconds is not None:
            bought.append(self.seconds / seconds_each if seconds_each > 0.0 else math.inf)
        return min(bought, default=float(on_record))


class RisingBandits(Learner):
    """Algorithm 1 of Li et al. (2020) on the alternatives of one choice, normally the estimator.

    In each round every arm that is left is pulled once; then those go whose upper bound is at most
    the lower bound of another. With a new sub-problem all arms are back, judged by the curves on
    record and by the budget that there is now. A pull is one step of a search within the arm.
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        self._window = window
        self._decision = ""
        self._alive: list[str] = []
        self._budget = Budget()
        self._judged = -1

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions with all arms."""
        super().begin(subproblem)
        choice = choice_of_arms(subproblem.space)
        self._decision = "" if choice is None else choice.name
        self._alive = [] if choice is None else list(choice.alternatives)
        self._budget = Budget(subproblem.evaluations, subproblem.seconds)
        self._judged = -1

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Take down what was observed, and what it took of the budget."""
        super().tell(observations)
        for observation in observations:
            self._budget.spend(self._arm(observation.point), observation.seconds)

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        rounds = min((self._budget.pulls[arm] for arm in self._alive), default=0)
        if rounds > self._judged:
            self._judged = rounds
            self._eliminate()
        pulls = self._budget.pulls + Counter(self._arm(selection) for selection in waiting)
        for arm in sorted(self._alive, key=lambda label: pulls[label]):
            place = (self._decision, arm)
            selection = pull(self._space, self._record, place, taken, self._rng)
            if selection is not None:
                return selection
        return None

    def _arm(self, selection: Selection) -> str:
        return str(selection.get(self._decision))

    def _eliminate(self) -> None:
        """Dismiss arms whose upper bound is at most another's lower bound, the worst first."""
        members = members_of(self._record, self._decision)
        curves = {arm: self._curve(members.get(arm, ())) for arm in self._alive}
        on_record = len(self._record.losses)
        for arm in sorted(self._alive, key=lambda label: curves[label].reward):
            others = [curves[other].reward for other in self._alive if other != arm]
            left = self._budget.pulls_left(curves[arm].seconds, on_record)
            if others and curves[arm].upper_bound(self._window, left) <= max(others):
                self._alive.remove(arm)

    def _curve(self, selections: Sequence[Selection]) -> Curve:
        losses = tuple(self._record.losses[selection] for selection in selections)
        return Curve(losses, _mean(self._record.seconds[selection] for selection in selections))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else 0.0
