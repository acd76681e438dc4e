"""The frame of the θ-solvers `tpe` and `ctpe`, and the rule of `tpe` for good points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.builtin.theta.gaussian.training_set import excess_of
from automl_admm.builtin.theta.parzen.axes import Cells
from automl_admm.builtin.theta.parzen.kernels import Kernels, Points
from automl_admm.builtin.theta.parzen.mixture import Lessons, Split
from automl_admm.builtin.theta.prior_density import first_tried
from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.proposals import one_by_one
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, ThetaSubproblem


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """All observations of a box, one row a point, its integers on their grids.

    `excess` is g − ε of each limit, turned so that above 0 is outside. It is infinite for a failure
    and NaN for an unknown value of a point refused by another limit. `known` is the known cost.
    """

    points: Array
    losses: Array
    objectives: Array
    known: Array
    excess: Array


class ParzenOptions(Protocol):
    """The options read by the frame."""

    @property
    def initial(self) -> int | None:
        """Number of points before the estimators take over."""

    @property
    def candidates(self) -> int:
        """Number of points drawn from each good group (N_s)."""

    @property
    def trust(self) -> float:
        """Number of good points that the settings of other tables count together."""


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The good points of a split, and the others."""

    good: Array
    bad: Array

    @classmethod
    def of(cls, points: Array, good: Mask) -> Groups:
        """Split points by a mask."""
        return cls(points[good], points[~good])


class Rule(Protocol):
    """A rule to split observations and to score candidates by the estimators."""

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a sub-problem."""

    def part(self, told: Told) -> list[Groups]:
        """Split the points: for the objective, then for each constraint."""

    def score(self, splits: Sequence[Split], points: Points) -> Array:
        """Return the score of each point; the largest wins."""


class Memory:
    """The observations of one box, one a point."""

    def __init__(self, sites: Sites, subproblem: ThetaSubproblem) -> None:
        self._sites = sites
        self._limits = subproblem.limits
        self._known_cost = subproblem.known_cost
        self._rows: dict[bytes, tuple[Array, float, float, float, tuple[float, ...]]] = {}
        self.add(subproblem.history)

    @property
    def keys(self) -> set[bytes]:
        """Keys of the known points."""
        return set(self._rows)

    @property
    def has_success(self) -> bool:
        """True if any evaluation succeeded."""
        return any(row[1] < math.inf for row in self._rows.values())

    def add(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn; of two observations of one point keep the cheaper one."""
        rows = zip(*self._sites.locate([o.point for o in observations]), strict=True)
        for (place, key), told in zip(rows, observations, strict=True):
            loss = math.inf if told.is_lost else float(told.loss)
            if key not in self._rows or loss <= self._rows[key][1]:
                cost = float(self._known_cost(told.point)[0])
                objective = told.objective if math.isfinite(loss) else math.inf
                excess = excess_of(told, self._limits)
                self._rows[key] = (place, loss, _or_infinite(objective), cost, excess)

    def told(self) -> Told:
        """Return all observations as arrays."""
        rows = list(self._rows.values())
        points, losses, objectives, known, excess = (
            np.array([row[place] for row in rows], dtype=float) for place in range(5)
        )
        return Told(points, losses, objectives, known, excess)


def _or_infinite(value: float) -> float:
    return math.inf if math.isnan(value) else float(value)


class ParzenTheta:
    """Propose the candidate likeliest among the good points and unlikely among the bad ones.

    N_init points come first: the start, then uniform ones; points of the history count. Then draw
    N_s candidates from the good group of the objective and of each constraint, on the grids, and
    propose the one with the largest score that is neither known nor pending. A pending point counts
    as bad for the objective.

    Settings that were good on other tables are half of the first points, and good points of a
    smaller weight.
    """

    def __init__(self, options: ParzenOptions, rule: Rule) -> None:
        self._options = options
        self._rule = rule
        self.takes_priors = options.trust > 0.0

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Start on a box and learn its history."""
        self._subproblem = subproblem
        self._rng = np.random.default_rng(subproblem.seed)
        self._sites = Sites(subproblem.parameters)
        self._kernels = Kernels.of(Cells.of(subproblem.parameters))
        self._memory = Memory(self._sites, subproblem)
        prior = subproblem.prior if self.takes_priors else ()
        dimension = len(subproblem.parameters)
        self._lessons = Lessons.of(prior, self._sites, dimension, self._options.trust)
        start = np.clip(subproblem.start, 0.0, 1.0)
        self._good: list[Array] = list(first_tried(prior, start)[: self._design_size() // 2])
        self._rule.begin(subproblem)
        self._started = False

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        """Propose one by one, each with the earlier points taken as pending."""
        return one_by_one(self._propose, count, pending)

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        """Learn from observations."""
        self._memory.add(observations)

    def _propose(self, pending: Sequence[Array]) -> Array | None:
        waiting, keys = self._sites.locate(pending)
        taken = self._memory.keys | set(keys)
        if self._sites.is_used_up(taken):
            return None
        # Without a success there is no good group.
        if len(taken) < self._design_size() or not self._memory.has_success:
            first = self._first(taken)
            return self._sites.draw(self._rng, taken) if first is None else first
        best = self._best_candidate(waiting, taken)
        return self._sites.draw(self._rng, taken) if best is None else best

    def _first(self, taken: set[bytes]) -> Array | None:
        """Return the start, then what was good elsewhere; each once.

        A result may be told at another point, on a grid or sorted.
        """
        waiting = [] if self._started else [np.clip(self._subproblem.start, 0.0, 1.0)]
        self._started = True
        self._good = [*waiting, *self._good]
        while self._good:
            point = self._good.pop(0)
            if self._sites.locate(point[None])[1][0] not in taken:
                return point
        return None

    def _design_size(self) -> int:
        return self._options.initial or design_size(self._subproblem.evaluations)

    def _best_candidate(self, waiting: Array, taken: set[bytes]) -> Array | None:
        """Return the untried candidate with the largest score."""
        splits = []
        for place, groups in enumerate(self._rule.part(self._memory.told())):
            # Only the objective's split has place 0; a pending point's constraints are anyone's
            # guess.
            bad = groups.bad if place else np.concatenate([groups.bad, waiting])
            lessons = None if place else self._lessons
            splits.append(Split.of(groups.good, bad, self._kernels, lessons))
        drawn = [split.good.sample(self._rng, self._options.candidates) for split in splits]
        candidates, keys = self._sites.locate(np.concatenate(drawn))
        scores = self._rule.score(splits, self._kernels.points(candidates))
        # Stable, so that equal scores do not depend on the platform.
        for place in np.argsort(-scores, kind="stable"):
            if keys[place] not in taken:
                # A copy: a view would keep all candidates in memory as long as it lives.
                return np.array(candidates[place])
        return None


def design_size(budget: int | None) -> int:
    """Return N_init: the paper's 5 % of the budget, and at least ten, its 5 % of 200.

    It is at most a quarter of the budget: an early sub-problem has 16 evaluations, and ten random
    points would leave the estimators next to nothing.
    """
    if budget is None:
        return 10
    return min(max(10, math.ceil(0.05 * budget)), max(2, budget // 4))


def first_ranked(values: Array, counted: Mask, wanted: int) -> Mask:
    """Mark all points up to the `wanted`-th counted one by value; all points if there are fewer.

    With everything counted these are the `wanted` smallest; with the feasible counted it is the
    objective's split of B.3.1.
    """
    order = np.argsort(values, kind="stable")
    ranked = counted[order].astype(int)
    # The number of counted points strictly before each one in the order.
    before = np.cumsum(ranked) - ranked
    good = np.zeros(len(values), dtype=bool)
    good[order] = before < wanted
    return good


def group_size(count: int) -> int:
    """Return ⌈√N / 4⌉."""
    return math.ceil(math.sqrt(count) / 4.0)


class LossRule:
    """The rule of TPE: the ⌈√N/4⌉ smallest losses are good, known cost and penalties included."""

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Do nothing: there is nothing to prepare."""

    def part(self, told: Told) -> list[Groups]:
        """Return one split; a failure is never good."""
        succeeded = np.isfinite(told.losses)
        good = first_ranked(told.losses, succeeded, group_size(len(told.losses)))
        return [Groups.of(told.points, good & succeeded)]

    def score(self, splits: Sequence[Split], points: Points) -> Array:
        """Return log r = log p(x | good) − log p(x | bad)."""
        return splits[0].log_ratio(points)
