"""Priors of other tables: solvers that take them, and how strongly they follow."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from installed import PLUGINS

from automl_admm.core.priors import ArmPrior, PriorPoints, takes_priors
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.contracts import ThetaSolverContract, ZSolverContract
from automl_admm.testing.hard_boxes import PLAIN
from automl_admm.testing.problems import (
    TABLE,
    box_problem,
    observed,
    points_of,
    seen,
    table_problem,
)

THETA = ("gp:trust=10", "tpe:trust=1", "ctpe:trust=1")
Z = ("bo:trust=10", "cmab:trust=4", "mcts:trust=4")
# Good at x = 0.9, nothing known of y.
CORNER = (PriorPoints((0,), np.array([[0.9], [0.2]]), np.array([0.95, 0.05])),)
TREES = {("model", "tree"): ArmPrior(1.0, 0.0), ("model", "line"): ArmPrior(0.0, 1.0)}


def solver_of(request: str, kind: str) -> Any:
    return build_solver(getattr(PLUGINS, kind), request)


@pytest.mark.parametrize("request_", THETA)
def test_a_theta_solver_with_priors_keeps_its_promises(request_: str) -> None:
    class Held(ThetaSolverContract):
        def make(self) -> Any:
            return solver_of(request_, "theta_solvers")

    assert takes_priors(Held().make())
    Held().test_priors_help_or_are_ignored()


@pytest.mark.parametrize("request_", Z)
def test_a_z_solver_with_priors_keeps_its_promises(request_: str) -> None:
    class Held(ZSolverContract):
        def make(self) -> Any:
            return solver_of(request_, "z_solvers")

    assert takes_priors(Held().make())
    Held().test_priors_help_or_are_ignored()


@pytest.mark.parametrize("request_", ["gp", "tpe", "ctpe", "gp:trust=0", "trust-region"])
def test_without_trust_a_theta_solver_takes_none(request_: str) -> None:
    assert not takes_priors(solver_of(request_, "theta_solvers"))


@pytest.mark.parametrize("request_", ["bo", "cmab", "mcts", "ucb", "rising-bandits"])
def test_without_trust_a_z_solver_takes_none(request_: str) -> None:
    assert not takes_priors(solver_of(request_, "z_solvers"))


@pytest.mark.parametrize("request_", ["gp:trust=-1", "tpe:trust=-0.5", "gp:trust=nan"])
def test_no_other_trust(request_: str) -> None:
    with pytest.raises(Exception, match="trust must be a number, 0 or more"):
        solver_of(request_, "theta_solvers")


@pytest.mark.parametrize("request_", THETA)
def test_the_second_point_is_where_it_was_good_elsewhere(request_: str) -> None:
    """The start comes first; then x moves, and y stays, because nothing is known of it."""
    solver = solver_of(request_, "theta_solvers")
    solver.begin(replace(box_problem(PLAIN, evaluations=16), prior=CORNER))
    found = []
    for _ in range(2):
        (point,) = points_of(solver.ask(1, []))
        solver.tell([observed(point, 1.0)])
        found.append(point.tolist())
    assert found == [[0.5, 0.5], [0.9, 0.5]]


@pytest.mark.parametrize("request_", THETA)
def test_a_misleading_prior_is_outvoted(request_: str) -> None:
    solver = solver_of(request_, "theta_solvers")
    solver.begin(replace(box_problem(PLAIN, evaluations=40), prior=CORNER))
    late = []
    for number in range(40):
        (point,) = points_of(solver.ask(1, []))
        solver.tell([observed(point, float(np.sum((point - 0.1) ** 2)))])
        late += [point] if number >= 30 else []
    assert np.median([point[0] for point in late]) < 0.4


@pytest.mark.parametrize("request_", Z)
def test_a_z_solver_begins_with_what_was_good_elsewhere(request_: str) -> None:
    played: Counter[Any] = Counter()
    for seed in range(10):
        solver = solver_of(request_, "z_solvers")
        solver.begin(replace(table_problem(seed=seed), prior=TREES))
        for _ in range(5):
            (point,) = points_of(solver.ask(1, []))
            solver.tell([replace(seen(point), loss=1.0, objective=1.0)])
            # The start is that of the sub-problem.
            played[point.get("model")] += point != TABLE.complete({})
    assert played["tree"] > 1.5 * played["line"]
