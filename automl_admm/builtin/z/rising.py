"""The z-solver `rising-bandits`: one arm an algorithm, dismissed when it can no longer win."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.builtin.z.learner import Learner, first_new, neighbour
from automl_admm.problem import Observation, SelectionSubproblem
from automl_admm.space import Choice, Condition, SearchSpace, Selection, draw

TRIES = 16
FROM_BEST = 0.75


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
        """u = y(n) + ω(n) (N − n), inequality (9) with the smooth growth rate."""
        growth = self.growth(window)
        if math.isinf(growth):
            return math.inf
        return self.reward + growth * max(pulls_left, 0.0)


class RisingBandits(Learner):
    """Algorithm 1 of Li et al. (2020) on the alternatives of one choice, normally the estimator.

    The arms that are left are pulled in turn. An arm goes when its upper bound is at most the
    lower bound of another. With a new sub-problem all arms are back, judged by the curves on
    record and by the evaluations that there are now; without a number of those it is taken that
    as many are to come as were made.
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        self._window = window
        self._decision = ""
        self._alive: list[str] = []
        self._pulled: Counter[str] = Counter()
        self._evaluations: int | None = None

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions with all arms."""
        super().begin(subproblem)
        choice = choice_of_arms(subproblem.space)
        self._decision = "" if choice is None else choice.name
        self._alive = [] if choice is None else list(choice.alternatives)
        self._pulled = Counter()
        self._evaluations = subproblem.evaluations

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Take down what was observed, and count the pulls of this sub-problem."""
        super().tell(observations)
        self._pulled.update(self._arm(observation.point) for observation in observations)

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        members = self._members()
        if len(self._alive) > 1:
            self._eliminate(members)
        pulls = self._pulled + Counter(self._arm(selection) for selection in waiting)
        for arm in sorted(self._alive, key=lambda label: pulls[label]):
            selection = self._pull(arm, members.get(arm, ()), taken)
            if selection is not None:
                return selection
        return None

    def _arm(self, selection: Selection) -> str:
        return str(selection.get(self._decision))

    def _members(self) -> Mapping[str, Sequence[Selection]]:
        """What is known of each arm, in the order in which it became known."""
        members: dict[str, list[Selection]] = {}
        for selection in self._record.losses:
            members.setdefault(self._arm(selection), []).append(selection)
        return members

    def _eliminate(self, members: Mapping[str, Sequence[Selection]]) -> None:
        """Dismiss arms whose upper bound is at most another's lower bound, the worst first."""
        curves = {arm: self._curve(members.get(arm, ())) for arm in self._alive}
        for arm in sorted(self._alive, key=lambda label: curves[label].reward):
            others = [curves[other].reward for other in self._alive if other != arm]
            bound = curves[arm].upper_bound(self._window, self._pulls_left(curves[arm]))
            if others and bound <= max(others):
                self._alive.remove(arm)

    def _curve(self, selections: Sequence[Selection]) -> Curve:
        losses = tuple(self._record.losses[selection] for selection in selections)
        return Curve(losses, _mean(self._record.seconds[selection] for selection in selections))

    def _pulls_left(self, curve: Curve) -> float:
        """How many pulls of one arm the rest of the budget buys: B'/c_k of equation (16).

        The time left B' is that of the N − n evaluations left, at c̄ = the mean seconds of all:
        (N − n) c̄ / c_k. Where no seconds are known it is N − n.
        """
        made = sum(self._pulled.values())
        left = len(self._record.losses) if self._evaluations is None else self._evaluations - made
        usual = _mean(self._record.seconds.values())
        return left * usual / curve.seconds if usual > 0 and curve.seconds > 0 else float(left)

    def _pull(
        self, arm: str, members: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        """Within an arm: a draw, or a neighbour of the arm's best or of the best with this arm."""
        own = min(members, key=self._record.losses.__getitem__, default=None)
        bases = [self._record.best(), own]

        def make() -> Selection:
            picks = {d.name: draw(d, self._rng) for d in self._space.decisions}
            base = bases[int(self._rng.integers(2))]
            if base is not None and self._rng.random() < FROM_BEST:
                picks.update(neighbour(self._space, base, self._rng, fixed=self._decision).picks)
            return self._space.complete({**picks, self._decision: arm})

        return first_new(make, taken, TRIES)


def choice_of_arms(space: SearchSpace) -> Choice | None:
    """The choice with most parameters hanging on it; else most decisions, else alternatives.

    It is one that is always active, so that every selection is a pull of one of its arms.
    """
    roots = [d for d in space.decisions if isinstance(d, Choice) and d.when is None]
    return max(roots, key=lambda choice: _weight(space, choice), default=None)


def _weight(space: SearchSpace, root: Choice) -> tuple[int, int, int]:
    below = {root.name}
    for decision in space.decisions:
        if _hangs_on(decision.when, below):
            below.add(decision.name)
    parameters = sum(_hangs_on(parameter.when, below) for parameter in space.parameters)
    return parameters, len(below), len(root.alternatives)


def _hangs_on(when: Condition | None, names: set[str]) -> bool:
    return when is not None and when.decision in names


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else 0.0
