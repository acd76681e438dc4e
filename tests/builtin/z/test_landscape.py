"""Every z-solver that learns is clearly better than chance on one landscape."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from installed import PLUGINS

from automl_admm.core.space import Choice, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.runs.prepare.assembly import build_solver

SHAPE = (8, 11, 7, 11)
NAMES = "abcd"
SPACE = SearchSpace(
    tuple(
        Choice(name, tuple(str(i) for i in range(size)))
        for name, size in zip(NAMES, SHAPE, strict=True)
    )
)


def landscape(seed: int) -> Callable[[Selection], float]:
    """The rank, in per cent, of each of 6776 selections whose loss is additive and pairwise."""
    rng = np.random.default_rng([seed, 99])
    places = np.indices(SHAPE)
    loss = sum(rng.normal(size=size)[places[i]] for i, size in enumerate(SHAPE))
    for i in range(4):
        for j in range(i):
            loss = loss + 0.5 * rng.normal(size=(SHAPE[i], SHAPE[j]))[places[i], places[j]]
    ranks = 100.0 * loss.ravel().argsort().argsort().reshape(SHAPE) / loss.size
    return lambda selection: float(ranks[tuple(int(str(pick)) for _, pick in selection)])


def best_rank(request: str, evaluations: int, seed: int) -> float:
    rank = landscape(seed)
    solver = build_solver(PLUGINS.z_solvers, request)
    solver.begin(SelectionSubproblem(SPACE, SPACE.complete({}), evaluations=evaluations, seed=seed))
    found = []
    for _ in range(evaluations):
        (point,) = solver.ask(1, [])
        found.append(rank(point))
        solver.tell([Observation(point, found[-1], found[-1])])
    return min(found)


@pytest.mark.parametrize(
    "request_", ["ucb", "softmax", "mcts", "genetic", "rising-bandits", "halving", "bo"]
)
def test_it_learns(request_: str) -> None:
    evaluations = 48 if request_ == "bo" else 128
    ranks = [best_rank(request_, evaluations, seed) for seed in range(5)]
    # The best of n draws lies at 100 / (n + 1) per cent on average, at 69 % of that in the median.
    assert np.median(ranks) < 0.5 * 69.0 / evaluations
