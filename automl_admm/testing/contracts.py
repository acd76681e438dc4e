"""The promises that every solver keeps, as test classes for pytest.

A plugin author subclasses one and says how a solver is made::

    class TestMySolver(ThetaSolverContract):
        def make(self):
            return MySolver()

`make` must be importable by name: one test runs it in another process.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from automl_admm.problem import Observation, Quadratic, SelectionSubproblem, ThetaSubproblem
from automl_admm.protocols import ThetaSolver, ZSolver
from automl_admm.space import Array, Choice, Condition, Order, Parameter, SearchSpace, Selection
from automl_admm.testing.objectives import SPHERE

BUDGET = 24
SEEDS = range(5)
BETTER_BY = 0.6


def box_problem(
    parameters: Sequence[Parameter],
    history: Sequence[Observation[Array]] = (),
    *,
    seed: int = 0,
    evaluations: int | None = BUDGET,
) -> ThetaSubproblem:
    """A box without a known cost, started in its middle."""
    nothing = np.zeros(len(parameters))
    return ThetaSubproblem(
        parameters=tuple(parameters),
        start=np.full(len(parameters), 0.5),
        known_cost=Quadratic(nothing, nothing),
        history=tuple(history),
        evaluations=evaluations,
        seed=seed,
    )


MIXED = (
    Parameter("x", 0, 1),
    Parameter("y", 1e-3, 10, log=True),
    Parameter("n", 1, 50, kind="int"),
    Parameter("switch", 0, 1, kind="int"),
)


def observed(point: Array, loss: float, *, failed: bool = False) -> Observation[Array]:
    """An observation as the core makes it."""
    return Observation(point, loss, math.nan if failed else loss, (), 0.1, failed=failed)


class ThetaSolverContract:
    """What the core relies on from a θ-solver. `learns` is False for one that never does."""

    learns: ClassVar[bool] = True

    def make(self) -> ThetaSolver:
        """Make a fresh solver."""
        raise NotImplementedError

    def propose(self, parameters: Sequence[Parameter], seed: int, rounds: int = 8) -> list[Array]:
        """Ask and tell for a while; the loss of a point is the sum of its coordinates."""
        solver = self.make()
        solver.begin(box_problem(parameters, seed=seed))
        points: list[Array] = []
        for _ in range(rounds):
            for point in solver.ask(1, []):
                solver.tell([observed(point, float(np.sum(point)))])
                points.append(point)
        return points

    def test_same_seed_same_proposals(self) -> None:
        """A run can be repeated."""
        one, other = self.propose(MIXED, 3), self.propose(MIXED, 3)
        assert np.array_equal(np.array(one), np.array(other))
        assert not np.array_equal(np.array(one), np.array(self.propose(MIXED, 4)))

    def test_same_proposals_in_another_process(self) -> None:
        """Nothing hangs on hash seeds or on what ran before."""
        here = [[float(x) for x in point] for point in self.propose(MIXED, 3)]
        there = in_another_process(
            type(self), "[[float(x) for x in p] for p in c.propose(MIXED, 3)]"
        )
        assert np.allclose(here, there, atol=1e-9)

    def test_stays_inside(self) -> None:
        """Every proposal is a point of the box."""
        for point in self.propose(MIXED, 0, rounds=BUDGET):
            assert point.shape == (len(MIXED),)
            assert np.all((point >= 0.0) & (point <= 1.0))

    def test_ask_for_nothing(self) -> None:
        """`ask(0)` proposes nothing."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        assert list(solver.ask(0, [])) == []

    def test_several_at_a_time_with_pending(self) -> None:
        """Points that are asked for together, or pending, are not all the same."""
        solver = self.make()
        history = [observed(p, float(np.sum(p))) for p in np.random.default_rng(0).random((12, 4))]
        solver.begin(box_problem(MIXED, history))
        first = list(solver.ask(3, []))
        second = list(solver.ask(3, first))
        assert len({tuple(np.round(point, 9)) for point in first + second}) > 3

    def test_unasked_failed_and_out_of_order(self) -> None:
        """Whatever is told, it goes on."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        asked = list(solver.ask(4, []))
        told = [observed(point, float(place)) for place, point in enumerate(asked[::-1])]
        solver.tell([observed(np.full(4, 0.25), 9.0, failed=True), *told])
        solver.tell([observed(np.full(4, 0.75), math.inf), observed(np.zeros(4), math.nan)])
        assert len(solver.ask(1, [])) == 1

    def test_only_failures(self) -> None:
        """A box in which nothing ever succeeds is searched on."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        for _ in range(8):
            solver.tell([observed(point, 1.0, failed=True) for point in solver.ask(1, [])])
        assert len(solver.ask(1, [])) == 1

    def test_constant_losses(self) -> None:
        """A flat function is no reason to stop."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        for _ in range(10):
            solver.tell([observed(point, 1.0) for point in solver.ask(1, [])])
        assert len(solver.ask(1, [])) == 1

    def test_budget_of_one(self) -> None:
        """A single evaluation is worth a proposal."""
        solver = self.make()
        solver.begin(box_problem(MIXED, evaluations=1))
        assert len(solver.ask(1, [])) == 1

    def test_no_parameters(self) -> None:
        """A box without parameters has one point, which is proposed once."""
        solver = self.make()
        solver.begin(box_problem(()))
        (point,) = solver.ask(1, [])
        assert point.shape == (0,)
        assert list(solver.ask(1, [point])) == []
        solver.tell([observed(point, 1.0)])
        assert list(solver.ask(1, [])) == []

    def test_one_parameter(self) -> None:
        """One dimension is enough, also one of two values."""
        assert len(self.propose(MIXED[:1], 0)) == 8
        assert self.propose(MIXED[3:], 0)

    def test_boxes_of_different_sizes_in_turn(self) -> None:
        """One solver serves every selection of a run."""
        solver = self.make()
        for parameters in (MIXED, MIXED[:2], (), MIXED):
            solver.begin(box_problem(parameters))
            for point in solver.ask(2, []):
                assert len(point) == len(parameters)
                solver.tell([observed(point, 0.5)])

    def test_long_history(self) -> None:
        """Two thousand known points are no reason to break."""
        points = np.random.default_rng(1).random((2000, 4))
        history = [observed(point, float(np.sum(point))) for point in points]
        solver = self.make()
        solver.begin(box_problem(MIXED, history))
        assert len(solver.ask(1, [])) == 1

    def test_progress(self) -> None:
        """On an easy function it is clearly better than random points."""
        if not self.learns:
            return
        ours = [self._best_on_sphere(seed) for seed in SEEDS]
        points = [np.random.default_rng(seed).random((BUDGET, SPHERE.dimension)) for seed in SEEDS]
        random = [min(SPHERE(point) for point in each) for each in points]
        assert np.median(ours) < BETTER_BY * np.median(random)

    def _best_on_sphere(self, seed: int) -> float:
        solver = self.make()
        solver.begin(box_problem(SPHERE.parameters(), seed=seed))
        best = math.inf
        for _ in range(BUDGET):
            for point in solver.ask(1, []):
                loss = SPHERE(point)
                best = min(best, loss)
                solver.tell([observed(point, loss)])
        return best


TABLE = SearchSpace(
    decisions=(
        Choice("scaler", ("none", "standard", "robust", "quantile")),
        Choice("model", ("tree", "line", "net", "near")),
        Choice("kernel", ("rbf", "poly", "linear"), when=Condition("model", ("line",))),
        Order("steps", ("a", "b", "c")),
    )
)
WEIGHTS = {"standard": 0.1, "robust": 0.3, "quantile": 0.4, "none": 0.5, "line": 0.0, "tree": 0.3}


def table_loss(selection: Selection) -> float:
    """Best at standard, line, poly, and the order b a c: 0.1."""
    picks = dict(selection.picks)
    steps = picks["steps"]
    loss = WEIGHTS.get(str(picks["scaler"]), 0.5) + WEIGHTS.get(str(picks["model"]), 0.4)
    loss += 0.0 if picks.get("kernel") == "poly" else 0.2
    return loss + 0.1 * sum(one != other for one, other in zip(steps, ("b", "a", "c"), strict=True))


def table_problem(
    history: Sequence[Observation[Selection]] = (), *, seed: int = 0, iteration: int = 0
) -> SelectionSubproblem:
    """The table of decisions with three choices and an order."""
    return SelectionSubproblem(
        space=TABLE,
        start=TABLE.complete({}),
        history=tuple(history),
        evaluations=BUDGET,
        iteration=iteration,
        seed=seed,
    )


class ZSolverContract:
    """What the core relies on from a z-solver. `learns` is False for one that never does."""

    learns: ClassVar[bool] = True

    def make(self) -> ZSolver:
        """Make a fresh solver."""
        raise NotImplementedError

    def propose(self, seed: int, rounds: int = 12) -> list[Selection]:
        """Ask and tell for a while."""
        solver = self.make()
        solver.begin(table_problem(seed=seed))
        points: list[Selection] = []
        for _ in range(rounds):
            for point in solver.ask(1, []):
                solver.tell([_seen(point)])
                points.append(point)
        return points

    def test_same_seed_same_proposals(self) -> None:
        """A run can be repeated."""
        assert self.propose(3) == self.propose(3)
        assert self.propose(3) != self.propose(4)

    def test_same_proposals_in_another_process(self) -> None:
        """Nothing hangs on hash seeds or on what ran before."""
        here = json.loads(json.dumps([list(point.picks) for point in self.propose(3)]))
        assert here == in_another_process(type(self), "[list(p.picks) for p in c.propose(3)]")

    def test_proposals_are_complete_selections(self) -> None:
        """Active decisions and no others, each with one of its alternatives."""
        for point in self.propose(0, rounds=BUDGET):
            assert TABLE.complete(dict(point.picks)) == point

    def test_ask_for_nothing(self) -> None:
        """`ask(0)` proposes nothing."""
        solver = self.make()
        solver.begin(table_problem())
        assert list(solver.ask(0, [])) == []

    def test_several_at_a_time_with_pending(self) -> None:
        """Several can be asked for."""
        solver = self.make()
        solver.begin(table_problem())
        points = list(solver.ask(3, []))
        assert len(points) == 3
        assert len(solver.ask(2, points)) == 2

    def test_unasked_failed_and_out_of_order(self) -> None:
        """Whatever is told, it goes on."""
        solver = self.make()
        solver.begin(table_problem())
        asked = list(solver.ask(4, []))
        strange = TABLE.complete({"model": "near", "steps": ("c", "b", "a")})
        solver.tell([Observation(strange, 5.0, failed=True), *map(_seen, asked[::-1])])
        solver.tell([Observation(strange, math.inf), Observation(strange, math.nan)])
        assert len(solver.ask(1, [])) == 1

    def test_only_failures(self) -> None:
        """A table in which nothing ever succeeds is searched on."""
        solver = self.make()
        solver.begin(table_problem())
        for _ in range(8):
            solver.tell([Observation(p, 1.0, failed=True) for p in solver.ask(1, [])])
        assert len(solver.ask(1, [])) == 1

    def test_no_decisions(self) -> None:
        """A table without decisions has one selection."""
        solver = self.make()
        space = SearchSpace()
        solver.begin(SelectionSubproblem(space, space.complete({})))
        assert list(solver.ask(1, [])) in ([], [Selection(())])

    def test_subproblem_after_subproblem(self) -> None:
        """The history of the next sub-problem may hold what it was told in the last."""
        solver = self.make()
        history: list[Observation[Selection]] = []
        for iteration in range(4):
            solver.begin(table_problem(history, seed=iteration, iteration=iteration))
            for _ in range(6):
                told = [_seen(point) for point in solver.ask(1, [])]
                solver.tell(told)
                history += told
        assert len(history) == 24

    def test_long_history(self) -> None:
        """Two thousand known points are no reason to break."""
        rng = np.random.default_rng(2)
        solver = self.make()
        solver.begin(table_problem([_seen(TABLE.sample(rng)) for _ in range(2000)]))
        assert len(solver.ask(1, [])) == 1

    def test_progress(self) -> None:
        """What it proposes late is clearly better than a draw."""
        if not self.learns:
            return
        late = [table_loss(point) for seed in SEEDS for point in self.propose(seed, 80)[-20:]]
        rng = np.random.default_rng(0)
        drawn = [table_loss(TABLE.sample(rng)) for _ in range(400)]
        assert np.mean(late) < 0.8 * np.mean(drawn)


def _seen(selection: Selection) -> Observation[Selection]:
    loss = table_loss(selection)
    return Observation(selection, loss, loss, (), 0.1)


def in_another_process(contract: type, expression: str) -> Any:
    """Evaluate an expression of a contract `c` in a fresh interpreter with another hash seed."""
    path = Path(inspect.getfile(contract))
    code = (
        "import importlib.util, json, sys\n"
        f"spec = importlib.util.spec_from_file_location('contract_module', {str(path)!r})\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "sys.modules['contract_module'] = module\n"
        "spec.loader.exec_module(module)\n"
        "from automl_admm.testing.contracts import MIXED\n"
        f"c = getattr(module, {contract.__name__!r})()\n"
        f"print(json.dumps({expression}))\n"
    )
    done = subprocess.run(  # noqa: S603 - this interpreter, our own text
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7"},
        capture_output=True,
        text=True,
        check=True,
    )
    answer: Any = json.loads(done.stdout)
    return answer
