"""The θ-solver that has Optuna sample."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from automl_admm.axes import AxisTree
from automl_admm.problem import Observation, ThetaSubproblem
from automl_admm.space import Array
from automl_admm_optuna.samplers import Kind
from automl_admm_optuna.trials import Result, Trials

SEEDS = 2**32


class OptunaTheta:
    """Proposes the start, then what Optuna samples and has not been tried.

    Without limits Optuna minimises `Observation.loss`. With limits that loss holds their price,
    and Optuna has constraints of its own; to be told both would be to count each limit twice. So
    it is told the loss without what the limits add to it, and how far each limit is exceeded:

        v = f / unit + known cost,    c_m = (g_m − ε_m) / |ε_m|  (turned round for "at least")

    Optuna takes v to matter where every c_m ≤ 0. Its TPE adds the c_m up, hence the one unit.
    Raw numbers stay true when multipliers change.
    """

    def __init__(self, kind: Kind) -> None:
        self._kind = kind

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start a study, and learn the history of the box."""
        self._subproblem = subproblem
        self._rng = np.random.default_rng(subproblem.seed)
        self._tree = AxisTree(subproblem.parameters)
        self._known: dict[bytes, Result] = {}
        self._untold: list[Result] = []
        self.tell(subproblem.history)
        self._untold = _instructive(list(self._known.values()), self._kind.points)
        sampler = self._kind.sampler(
            seed=subproblem.seed % SEEDS,
            budget=subproblem.evaluations,
            is_conditional=self._tree.is_conditional,
        )
        self._trials = Trials(self._tree, sampler, self._kind.widest)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with those before it taken as pending."""
        waiting = {self._tree.key(point): point for point in pending}
        proposed: list[Array] = []
        while len(proposed) < count:
            point = self._propose(waiting)
            if point is None:
                break
            waiting[self._tree.key(point)] = point
            proposed.append(point)
        return proposed

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; less than whole evaluations, which this solver never asks for, are passed over.

        Of two results of one point the better is learnt.
        """
        for told in observations:
            if told.fidelity == 1.0:
                key, result = self._tree.key(told.point), self._result(told)
                if key not in self._known or _rank(result) < _rank(self._known[key]):
                    self._known[key] = result
                    self._untold.append(result)

    def _result(self, told: Observation[Array]) -> Result:
        """v and c_m; there is no v where anything is no number."""
        limits, value = self._subproblem.limits, told.loss
        excess: tuple[float, ...] = ()
        if limits and not told.failed and len(told.constraints) == len(limits):
            unit = self._subproblem.objective_unit
            value = told.objective / unit + float(self._subproblem.known_cost(told.point)[0])
            excess = tuple(
                (limit.turned(g) - limit.turned(limit.bound)) / (abs(limit.bound) or 1.0)
                for limit, g in zip(limits, told.constraints, strict=True)
            )
        is_valid = len(excess) == len(limits) and all(map(math.isfinite, (value, *excess)))
        return Result(told.point, float(value) if is_valid and not told.failed else None, excess)

    def _propose(self, waiting: dict[bytes, Array]) -> Array | None:
        taken = waiting.keys() | self._known.keys()
        if len(taken) >= self._tree.size:
            return None
        if self._tree.key(self._subproblem.start) not in taken:
            return np.clip(self._subproblem.start, 0.0, 1.0)
        # Before anything succeeds there is no good region, and no price for a failure.
        if any(result.value is not None for result in self._known.values()):
            sampled = self._sample(waiting, taken)
            if sampled is not None:
                return sampled
        return self._tree.draw(self._rng, taken)

    def _sample(self, waiting: dict[bytes, Array], taken: set[bytes]) -> Array | None:
        """What Optuna samples; it repeats itself where axes are grids, and at corners."""
        for result in self._priced(self._untold):
            self._trials.tell(result)
        self._untold = []
        self._trials.wait_for(waiting)
        for _ in range(self._kind.tries):
            point = self._trials.sample()
            if self._tree.key(point) not in taken:
                return point
        return None

    def _priced(self, results: Sequence[Result]) -> list[Result]:
        """The results with failures as the sampler can learn from them.

        A pruned trial is worse than any other, but only within the limits: so it is outside of
        them, as far as can be. To a model a failure is a little worse than the worst success in
        everything.
        """
        limits = len(self._subproblem.limits)
        succeeded = [r for r in self._known.values() if r.value is not None]
        if self._kind.prunes:
            value, excess = None, (math.inf,) * limits
        else:
            values = [r.value for r in succeeded if r.value is not None]
            worst = max(values)
            value = worst + max(worst - min(values), 1e-3 * (1.0 + abs(worst)))
            excess = tuple(max(r.excess[m] for r in succeeded) for m in range(limits))
        return [r if r.value is not None else Result(r.point, value, excess) for r in results]


def _rank(result: Result) -> tuple[float, float]:
    """Results by how good they are: least excess first, then the least value; failures last."""
    if result.value is None:
        return math.inf, math.inf
    return sum(max(excess, 0.0) for excess in result.excess), result.value


def _instructive(results: Sequence[Result], count: int) -> list[Result]:
    """The best half and the latest of what is known, in the order in which it came."""
    if len(results) <= count:
        return list(results)
    order = sorted(range(len(results)), key=lambda place: _rank(results[place]))
    best = set(order[: count // 2])
    others = [place for place in range(len(results)) if place not in best]
    kept = sorted([*best, *others[len(best) - count :]])
    return [results[place] for place in kept]
