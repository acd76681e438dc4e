"""The rule of the θ-solver `ctpe`: raw objective and raw constraints, each split by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.builtin.theta.active_axes import Mask
from automl_admm.builtin.theta.gaussian.training_set import excess_at
from automl_admm.builtin.theta.parzen.kernels import Points
from automl_admm.builtin.theta.parzen.mixture import Split
from automl_admm.builtin.theta.parzen.tpe import Groups, Told, first_ranked, group_size
from automl_admm.builtin.theta.sites import Sites
from automl_admm.core.space import Array
from automl_admm.core.subproblems import ThetaSubproblem
from automl_admm.search.protocol import derive_seed

# N_p of algorithm 2.
AUGMENTED = 200


@dataclass(frozen=True, slots=True, eq=False)
class Knowledge:
    """Points with one constraint known and nothing else; `excess` is g − ε, turned."""

    points: Array
    excess: Array


class ConstrainedRule:
    """c-TPE: a split for the objective and one for each constraint, their ratios multiplied.

    `by_feasible` counts the objective's good group in feasible points (B.3.1), else in points;
    `relative` takes relative density ratios, and puts the point nearest to a limit into its good
    group if no point satisfies it (B.3.2). The naive extension of B.2 does neither. Cheap
    constraints are learned before the first evaluation (knowledge augmentation, algorithm 2).
    """

    def __init__(self, *, by_feasible: bool, relative: bool) -> None:
        self._by_feasible = by_feasible
        self._relative = relative

    def begin(self, subproblem: ThetaSubproblem) -> None:
        """Call the cheap functions, once a sub-problem."""
        self._unit = subproblem.objective_unit
        self._knowledge = augment(subproblem)

    def part(self, told: Told) -> list[Groups]:
        """Return the good points: for the objective, then for each constraint."""
        values = ranked_by(told, self._unit)
        succeeded = np.isfinite(values)
        feasible = np.asarray((told.excess <= 0.0).all(axis=1))
        counted = feasible if self._by_feasible else succeeded
        # B.3.1: rank by the objective down to the ⌈√N/4⌉-th feasible point; a failure is never
        # good.
        objective = first_ranked(values, counted, group_size(len(values))) & succeeded
        constraints = zip(told.excess.T, self._knowledge, strict=True)
        return [Groups.of(told.points, objective)] + [
            self._constraint(told.points, *constraint) for constraint in constraints
        ]

    def _constraint(self, points: Array, excess: Array, knowledge: Knowledge | None) -> Groups:
        """Return the split of D, or of D_aug = D ∪ D_p if the constraint is cheap.

        D holds measured values of this constraint; points refused because of another one are left
        out.
        """
        measured = ~np.isnan(excess)
        points, excess = points[measured], excess[measured]
        if knowledge is not None:
            # Algorithm 2: the cheap points join this constraint's split only, never the
            # objective's.
            points = np.concatenate([points, knowledge.points])
            excess = np.concatenate([excess, knowledge.excess])
        return Groups.of(points, self._within(excess))

    def _within(self, excess: Array) -> Mask:
        """Mark the points satisfying a constraint; if there is none, the one nearest to it."""
        good = excess <= 0.0
        if self._relative and not good.any() and np.isfinite(excess).any():
            # An empty good group would give the constraint no say at all.
            good[int(excess.argmin())] = True
        return good

    def score(self, splits: Sequence[Split], points: Points) -> Array:
        """Return Σ_i log r_rel,i, or Σ_i log r_i of the naive extension."""
        if self._relative:
            terms = [split.log_relative_ratio(points) for split in splits]
        else:
            terms = [split.log_ratio(points) for split in splits]
        return np.asarray(np.sum(terms, axis=0))


def augment(subproblem: ThetaSubproblem) -> list[Knowledge | None]:
    """Return for each cheap limit its values at N_p = 200 random points, fewer in a small box.

    The points are the same for all limits. They come from a generator of their own, so that the
    proposals of the design do not depend on the cheap limits.
    """
    functions = subproblem.cheap or (None,) * len(subproblem.limits)
    if not any(functions):
        return [None] * len(functions)
    points = _distinct_points(subproblem)
    return [
        None
        if function is None
        else Knowledge(points, np.array([excess_at(limit, function(p)) for p in points]))
        for function, limit in zip(functions, subproblem.limits, strict=True)
    ]


def _distinct_points(subproblem: ThetaSubproblem) -> Array:
    sites = Sites(subproblem.parameters)
    rng = np.random.default_rng(derive_seed(subproblem.seed, "knowledge"))
    found: dict[bytes, Array] = {}
    for _ in range(AUGMENTED):
        point = sites.draw(rng, found)
        if point is None:
            break
        places, keys = sites.locate([point])
        found[keys[0]] = places[0]
    return np.array(list(found.values()))


def ranked_by(told: Told, unit: float) -> Array:
    """Return f in its unit plus ADMM's known cost, without limits' prices; infinite if failed.

    Without limits it is the loss.
    """
    if not told.excess.shape[1]:
        return told.losses
    return told.objectives / unit + told.known
