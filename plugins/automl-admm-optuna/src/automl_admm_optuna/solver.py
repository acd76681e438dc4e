"""The θ-solver by Optuna."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from automl_admm.plugin_api import (
    Array,
    AxisTree,
    Observation,
    ThetaSubproblem,
    best_and_latest,
    one_by_one,
)
from automl_admm_optuna.prices import Price, price_of
from automl_admm_optuna.samplers import Kind
from automl_admm_optuna.trials import Result, Trials

SEEDS = 2**32


class OptunaTheta:
    """Proposes the start, then new points from Optuna's sampler.

    Without limits Optuna minimises `Observation.loss`. With limits that loss holds their price,
    and Optuna has constraints of its own; telling both would count each limit twice. So Optuna gets
    the loss without the limits' part, and the excess of each limit:

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
        self._start(subproblem.seed % SEEDS)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with those before it taken as pending."""
        return one_by_one(self._propose, count, pending)

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

    def _start(self, seed: int) -> None:
        """Start a study of the known points, with nothing told yet."""
        known = list(self._known.values())
        self._untold = best_and_latest(known, list(map(_rank, known)), self._kind.points)
        sampler = self._kind.sampler(
            seed=seed,
            budget=self._subproblem.evaluations,
            is_conditional=self._tree.is_conditional,
        )
        self._trials = Trials(self._tree, sampler, self._kind.widest)
        self._paid: Price | None = None

    def _result(self, told: Observation[Array]) -> Result:
        """v and c_m; there is no v where anything is no number. A refusal keeps what is known."""
        limits, value, excess = self._subproblem.limits, told.loss, self._excess(told)
        if told.failed:
            return Result(told.point, None, excess if told.refused else ())
        if excess:
            unit = self._subproblem.objective_unit
            value = told.objective / unit + float(self._subproblem.known_cost(told.point)[0])
        is_valid = len(excess) == len(limits) and all(map(math.isfinite, (value, *excess)))
        return Result(told.point, *((float(value), excess) if is_valid else (None, ())))

    def _excess(self, told: Observation[Array]) -> tuple[float, ...]:
        """c_m, if each limit has a constraint."""
        limits = self._subproblem.limits
        if len(told.constraints) != len(limits):
            return ()
        return tuple(
            (limit.turned(g) - limit.turned(limit.bound)) / (abs(limit.bound) or 1.0)
            for limit, g in zip(limits, told.constraints, strict=True)
        )

    def _propose(self, pending: Sequence[Array]) -> Array | None:
        waiting = {self._tree.key(point): point for point in pending}
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
        """Return Optuna's sample if it is new; Optuna repeats itself on grids and at corners."""
        self._learn()
        self._trials.wait_for(waiting)
        for _ in range(self._kind.tries):
            point = self._trials.sample()
            if self._tree.key(point) not in taken:
                return point
        return None

    def _learn(self) -> None:
        """Tell Optuna what it has not been told, with failures as the sampler can learn from them.

        A pruned trial is worse than any other, but only within the limits: so it is outside of
        them, as far as can be. A model is told a price.
        """
        if self._kind.prunes:
            outside = (math.inf,) * len(self._subproblem.limits)
            told = [_pruned(result, outside) for result in self._untold]
        else:
            told = self._priced(price_of(list(self._known.values())))
        for result in told:
            self._trials.tell(result)
        self._untold = []

    def _priced(self, price: Price) -> list[Result]:
        """Return the results to tell at this price; start a new study if the old one misleads.

        The value of a trial cannot be changed, nor taken back: cheap failures of the past would
        look good for ever, and a model would take ever longer.
        """
        is_full = self._trials.told + len(self._untold) > 2 * self._kind.points
        if is_full or (self._paid is not None and price.has_risen(self._paid)):
            self._start(int(self._rng.integers(SEEDS)))
        if self._paid is None and any(result.value is None for result in self._untold):
            self._paid = price
        return [price.told(result) for result in self._untold]


def _pruned(result: Result, outside: tuple[float, ...]) -> Result:
    """Return a failure as a trial outside of every limit."""
    return result if result.value is not None else Result(result.point, None, outside)


def _rank(result: Result) -> tuple[float, float]:
    """Results by how good they are: least excess first, then the least value; failures last."""
    if result.value is None:
        return math.inf, math.inf
    return sum(max(excess, 0.0) for excess in result.excess), result.value
