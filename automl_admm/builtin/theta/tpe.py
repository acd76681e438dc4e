"""The θ-solvers `tpe` and `ctpe` without the rules by which they part observations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from automl_admm.builtin.theta.asking import one_by_one
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.parzen import Cells, Split
from automl_admm.problem import Limit, Observation, ThetaSubproblem
from automl_admm.space import Array

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What is known of a box, one row a point, its integers on their grids.

    `excess` is g − ε of each limit, turned so that above 0 is outside; what failed or was not
    measured is infinite everywhere. `known` is the known cost.
    """

    points: Array
    losses: Array
    objectives: Array
    known: Array
    excess: Array


class ParzenOptions(Protocol):
    """What the frame is told."""

    @property
    def initial(self) -> int | None:
        """How many points come before the estimators."""

    @property
    def candidates(self) -> int:
        """How many points are drawn from each good group (N_s)."""


class Rule(Protocol):
    """How observations are parted, and what their estimators are worth."""

    def part(self, told: Told) -> list[Mask]:
        """Which observations are good: for the objective, then for each constraint."""

    def score(self, splits: Sequence[Split], points: Array) -> Array:
        """What is to be largest."""


class Memory:
    """The observations of one box, one a point."""

    def __init__(self, box: Box, subproblem: ThetaSubproblem) -> None:
        self._box = box
        self._limits = subproblem.limits
        self._known_cost = subproblem.known_cost
        self._rows: dict[bytes, tuple[Array, float, float, float, tuple[float, ...]]] = {}
        self.add(subproblem.history)

    @property
    def keys(self) -> set[bytes]:
        """The points that are known."""
        return set(self._rows)

    @property
    def has_success(self) -> bool:
        """Whether anything did not fail."""
        return any(row[1] < math.inf for row in self._rows.values())

    def add(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; of two observations of one point the cheaper one is kept."""
        points = np.array([o.point for o in observations], dtype=float)
        points = points.reshape(len(observations), self._box.dimension)
        rows = zip(self._box.keys(points), self._box.project(points), points, strict=True)
        for (key, place, point), told in zip(rows, observations, strict=True):
            loss = math.inf if told.failed or not math.isfinite(told.loss) else float(told.loss)
            if key not in self._rows or loss <= self._rows[key][1]:
                cost = float(self._known_cost(point)[0])
                objective = told.objective if math.isfinite(loss) else math.inf
                excess = _excess(told, self._limits)
                self._rows[key] = (place, loss, _or_infinite(objective), cost, excess)

    def told(self) -> Told:
        """All of it as arrays."""
        rows = list(self._rows.values())
        points, losses, objectives, known, excess = (
            np.array([row[place] for row in rows], dtype=float) for place in range(5)
        )
        return Told(points, losses, objectives, known, excess)


def _or_infinite(value: float) -> float:
    return math.inf if math.isnan(value) else float(value)


def _excess(told: Observation[Array], limits: Sequence[Limit]) -> tuple[float, ...]:
    """g − ε of each limit; a failure is outside all of them."""
    if told.failed or len(told.constraints) != len(limits):
        return (math.inf,) * len(limits)
    pairs = zip(limits, told.constraints, strict=True)
    return tuple(_or_infinite(m.turned(value) - m.turned(m.bound)) for m, value in pairs)


class ParzenTheta:
    """Proposes the candidate that is likeliest among the good and unlikely among the bad.

    N_init points come first: the start, then uniform ones; what the history knows counts. Then
    N_s candidates are drawn from the good group of the objective and of each constraint, on the
    grids, and the one of the largest score that is neither known nor pending is proposed.
    A pending point counts as bad for the objective.
    """

    def __init__(self, options: ParzenOptions, rule: Rule) -> None:
        self._options = options
        self._rule = rule

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box and learn its history."""
        self._subproblem = subproblem
        self._rng = np.random.default_rng(subproblem.seed)
        self._box = Box.of(subproblem.parameters)
        self._cells = Cells.of(subproblem.parameters)
        self._memory = Memory(self._box, subproblem)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with those before it taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn."""
        self._memory.add(observations)

    def _propose(self, pending: Sequence[Array]) -> Array | None:
        waiting = np.array(pending, dtype=float).reshape(len(pending), self._box.dimension)
        taken = self._memory.keys | set(self._box.keys(waiting))
        if self._box.is_used_up(taken):
            return None
        if len(taken) < self._design_size() or not self._memory.has_success:
            start = np.clip(self._subproblem.start, 0.0, 1.0)
            is_new = self._box.keys(start[None])[0] not in taken
            return start if is_new else self._box.draw(self._rng, taken)
        best = self._best_candidate(self._box.project(waiting), taken)
        return self._box.draw(self._rng, taken) if best is None else best

    def _design_size(self) -> int:
        """N_init: ten, and less where the whole budget is small."""
        budget = self._subproblem.evaluations
        few = 10 if budget is None else min(10, max(2, budget // 4))
        return self._options.initial or few

    def _best_candidate(self, waiting: Array, taken: set[bytes]) -> Array | None:
        """The untried candidate of the largest score."""
        told, splits = self._memory.told(), []
        for place, good in enumerate(self._rule.part(told)):
            bad = told.points[~good]
            bad = np.concatenate([bad, waiting]) if place == 0 else bad
            splits.append(Split.of(told.points[good], bad, self._cells))
        drawn = [split.good.sample(self._rng, self._options.candidates) for split in splits]
        candidates = self._box.project(np.concatenate(drawn))
        scores = self._rule.score(splits, candidates)
        keys = self._box.keys(candidates)
        for place in np.argsort(-scores, kind="stable"):
            if keys[place] not in taken:
                return np.asarray(candidates[place])
        return None


def first_ranked(values: Array, counted: Mask, wanted: int) -> Mask:
    """All up to and with the `wanted`-th counted one in the order of values; all if there are less.

    With everything counted these are the `wanted` smallest; with the feasible counted it is the
    objective's split of B.3.1.
    """
    order = np.argsort(values, kind="stable")
    ranked = counted[order].astype(int)
    before = np.cumsum(ranked) - ranked
    good = np.zeros(len(values), dtype=bool)
    good[order] = before < wanted
    return good


def group_size(count: int) -> int:
    """⌈√N / 4⌉."""
    return math.ceil(math.sqrt(count) / 4.0)


class LossRule:
    """The rule of TPE: the ⌈√N/4⌉ smallest losses are good, known cost and penalties included."""

    def part(self, told: Told) -> list[Mask]:
        """The good ones; a failure never is one."""
        succeeded = np.isfinite(told.losses)
        good = first_ranked(told.losses, succeeded, group_size(len(told.losses)))
        return [good & succeeded]

    def score(self, splits: Sequence[Split], points: Array) -> Array:
        """log r = log p(x | good) − log p(x | bad)."""
        return splits[0].log_ratio(points)
