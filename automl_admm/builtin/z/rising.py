"""The z-solver `rising-bandits`: one arm an algorithm, dismissed when it can no longer win."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from automl_admm.builtin.z.algorithms import Puller, choice_of_arms, members_of, turn
from automl_admm.builtin.z.learner import Learner
from automl_admm.core.space import Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem


@dataclass(frozen=True, slots=True)
class Curve:
    """An arm's losses in the order of its pulls, its mean seconds, and its best loss by now.

    `today` is that best loss at the latest known prices, if prices change; without it take the best
    of `losses`.
    """

    losses: tuple[float, ...]
    seconds: float
    today: float | None = None

    @property
    def reward(self) -> float:
        """y(n), the lower bound l(n) of the final reward: minus the best loss so far."""
        return -(min(self.losses, default=math.inf) if self.today is None else self.today)

    def growth(self, window: int) -> float:
        """Return ω(n) = (y(n) − y(n − C)) / C, equation (10); infinite before C + 1 pulls."""
        if len(self.losses) <= window:
            return math.inf
        before = -min(self.losses[:-window])
        # −∞ − (−∞) is NaN: without any success there is no growth.
        return 0.0 if self.reward <= before else (self.reward - before) / window

    def upper_bound(self, window: int, pulls_left: float) -> float:
        """Return u = y(n) + ω(n) · pulls left: inequality (9), equation (16), smooth rate (10).

        The paper has min(·, 1) here, because its rewards are accuracies; a loss may have any size.
        """
        growth = self.growth(window)
        if math.isinf(growth):
            return math.inf
        # 0 · ∞ is NaN: evaluations that take no time buy infinitely many pulls.
        return self.reward + (growth * max(pulls_left, 0.0) if growth > 0.0 else 0.0)


@dataclass
class Pulls:
    """The result of every evaluation, in the order of telling; kept for good.

    A selection evaluated again with other parameters is another pull: it has other raw
    measurements. The same measurements again, as in the history of the next sub-problem, are no new
    pull; they only update the price. If only a loss was measured, the loss tells pulls apart.
    """

    losses: dict[tuple[Selection, str], float] = field(default_factory=dict)
    seconds: dict[tuple[Selection, str], float] = field(default_factory=dict)

    def enter(self, observations: Iterable[Observation[Selection]], *, priced: bool) -> None:
        """Record new pulls, and new prices of old ones; ignore refusals.

        Without limits the raw objective is the loss: it compares over all sub-problems, in any unit
        of losses. With limits the loss is the price. The price of a pull with other parameters
        stays as told, because it is not priced anew.
        """
        for observation in observations:
            if observation.refused:
                continue
            raw = not priced and math.isfinite(observation.objective)
            loss = observation.objective if raw else observation.loss
            lost = observation.failed or not math.isfinite(loss)
            self.losses[_identity(observation)] = math.inf if lost else float(loss)
            self.seconds[_identity(observation)] = observation.seconds

    def by_arm(self, decision: str) -> defaultdict[str, list[tuple[Selection, str]]]:
        """Return the pulls of each arm."""
        found = defaultdict(list)
        for pulled in self.losses:
            found[str(pulled[0].get(decision))].append(pulled)
        return found


def _identity(observation: Observation[Selection]) -> tuple[Selection, str]:
    """Return the part of an evaluation untouched by multipliers.

    It is a text, because the NaN of a failure equals no other NaN.
    """
    measured = observation.objective
    if math.isnan(measured) and not observation.failed:
        measured = observation.loss
    return observation.point, repr((measured, observation.constraints, observation.seconds))


@dataclass
class Budget:
    """The rest of the present sub-problem: N − n pulls, B′ seconds, either, both or neither.

    `seconds` are on the clock and `spent` is the sum over all pulls. With w workers, the largest
    number of pulls ever in flight at once, a second on the clock buys w seconds of pulls.
    """

    evaluations: float | None = None
    seconds: float | None = None
    spent: float = 0.0
    workers: int = 1
    turns: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def spend(self, arm: str, observation: Observation[Selection]) -> None:
        """Enter one turn of an arm; a refusal costs nothing."""
        self.turns[arm] += turn(observation)
        if observation.refused:
            return
        if self.evaluations is not None:
            self.evaluations -= 1.0
        self.spent += observation.seconds

    def pulls_left(self, seconds_each: float, on_record: int) -> float:
        """Return the number of further pulls of one arm the budget would buy.

        For a number of evaluations N it is T − t = N − n, as in inequality (9). For seconds it is
        B′/c_k, as in equation (16): c_k is the mean `seconds_each` of the arm's pulls, and B′ the
        time left to w workers, w · seconds − spent. For both it is the smaller. With neither,
        expect as many pulls as are on record.
        """
        bought = [] if self.evaluations is None else [self.evaluations]
        if self.seconds is not None:
            left = self.workers * self.seconds - self.spent
            bought.append(left / seconds_each if seconds_each > 0.0 else math.inf)
        return min(bought, default=float(on_record))


class RisingBandits(Learner):
    """Algorithm 1 of Li et al. (2020) on the alternatives of one choice, normally the estimator.

    In each round every remaining arm with a new selection left is pulled once; then every arm is
    dismissed with an upper bound at most the lower bound of another. With a new sub-problem all
    arms are back, judged by the curves on record and by the present budget. A pull is one step of a
    search within the arm. In ADMM, the results of θ-min for a selection of the arm since the last
    sub-problem are pulls, too.

    With limits the curves are approximate. An arm's best is taken at the latest price of each of
    its selections, the present one for all in the history. The growth rate compares it with prices
    paid earlier. So an arm with violations now dearer counts as flat for a while, and one with
    cheaper violations as growing.
    """

    def __init__(self, window: int) -> None:
        super().__init__()
        self._window = window
        self._pulls = Pulls()
        self._puller = Puller("")
        self._alive: list[str] = []
        self._budget = Budget()
        self._judged = -1
        self._priced = False

    def begin(self, subproblem: SelectionSubproblem) -> None:
        """Start on a table of decisions with all arms."""
        if subproblem.space is not self._space and subproblem.space != self._space:
            self._pulls = Pulls()
        super().begin(subproblem)
        choice = choice_of_arms(subproblem.space)
        self._puller = Puller("" if choice is None else choice.name)
        self._alive = [] if choice is None else list(choice.alternatives)
        self._budget = Budget(subproblem.evaluations, subproblem.seconds)
        self._judged = -1
        self._priced = bool(subproblem.limits)
        if not self._pulls.losses:  # a resumed run made its pulls earlier
            self._pulls.enter(subproblem.elsewhere, priced=self._priced)
        self._pulls.enter(subproblem.history, priced=self._priced)

    def tell(self, observations: Sequence[Observation[Selection]]) -> None:
        """Record observations and their cost."""
        super().tell(observations)
        self._pulls.enter(observations, priced=self._priced)
        for observation in observations:
            self._budget.spend(self._puller.arm(observation.point), observation)

    def _propose(
        self, waiting: Sequence[Selection], taken: Collection[Selection]
    ) -> Selection | None:
        # Nobody tells a solver the number of workers; its pending points show it.
        self._budget.workers = max(self._budget.workers, len(waiting) + 1)
        rounds = math.floor(self._puller.fewest(self._budget.turns, self._alive))
        # Judge once a round, after the last of its pulls.
        if rounds > self._judged:
            self._judged = rounds
            self._eliminate()
        arms = self._puller.in_turn(self._alive, self._budget.turns, waiting)
        return self._puller.first(self._space, self._record, arms, taken, self._rng)

    def _eliminate(self) -> None:
        """Dismiss arms with an upper bound at most another's lower bound, the worst first."""
        curves = self._curves(self._alive)
        ranked = sorted(self._alive, key=lambda label: curves[label].reward)
        rival = curves[ranked[-1]].reward if ranked else math.inf
        kept = [arm for arm in ranked[:-1] if self._bound(curves[arm]) > rival]
        # Lower bounds are rewards, so the best reward is the strongest rival.
        # The best arm may go, too, if another is as good and still grows.
        second = curves[kept[-1]].reward if kept else -math.inf
        gone = {*ranked[:-1]} - {*kept}
        if kept and self._bound(curves[ranked[-1]]) <= second:
            gone.add(ranked[-1])
        self._alive = [arm for arm in self._alive if arm not in gone]

    def _bound(self, curve: Curve) -> float:
        left = self._budget.pulls_left(curve.seconds, len(self._pulls.losses))
        return curve.upper_bound(self._window, left)

    def _curves(self, arms: Iterable[str]) -> dict[str, Curve]:
        """Return the curve of each arm."""
        pulls = self._pulls.by_arm(self._puller.decision)
        members = members_of(self._record, self._puller.decision) if self._priced else {}
        return {arm: self._curve(pulls[arm], members.get(arm, ())) for arm in arms}

    def _curve(self, pulls: Sequence[tuple[Selection, str]], members: Sequence[Selection]) -> Curve:
        losses = tuple(self._pulls.losses[pulled] for pulled in pulls)
        seconds = _mean(self._pulls.seconds[pulled] for pulled in pulls)
        if not self._priced:
            return Curve(losses, seconds)
        latest = (self._record.losses[selection] for selection in members)
        return Curve(losses, seconds, min(latest, default=math.inf))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return float(np.mean(found)) if found else 0.0
