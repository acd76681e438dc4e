"""The promises of a θ-solver."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from automl_admm.core.priors import PriorPoints, takes_priors
from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.space import Array, Parameter
from automl_admm.core.structure.axis_tree import AxisTree
from automl_admm.core.subproblems import Observation, ThetaSubproblem
from automl_admm.search.protocol import unwrap
from automl_admm.testing.fresh_process import in_another_process
from automl_admm.testing.objectives import SPHERE
from automl_admm.testing.problems import (
    BUDGET,
    GRIDS,
    MIXED,
    TREE,
    box_constraints,
    box_problem,
    limited_box,
    observed,
    points_of,
)
from automl_admm.testing.silence import silence
from automl_admm.testing.whole import WholeSpacePromises

# The best loss found must be below this share of that of random points.
BETTER_BY = 0.6
PLAIN = (Parameter("x", 0, 1), Parameter("y", 0, 1))


class BoxPromises:
    """The promises of a θ-solver in a box, with any kind of axes.

    Lower these for a slow solver: `rounds` is the number of proposals in most tests, and `budget`
    the number in the tests of progress and of the box.
    """

    rounds: ClassVar[int] = 8
    budget: ClassVar[int] = BUDGET

    def make(self) -> ThetaSolver:
        """Make a fresh solver."""
        raise NotImplementedError

    def propose(
        self, parameters: Sequence[Parameter], seed: int, rounds: int | None = None
    ) -> list[Array]:
        """Ask and tell for a while; the loss of a point is the sum of its coordinates."""
        solver = self.make()
        solver.begin(box_problem(parameters, seed=seed))
        points: list[Array] = []
        for _ in range(self.rounds if rounds is None else rounds):
            for point in points_of(solver.ask(1, [])):
                solver.tell([observed(point, float(np.sum(point)))])
                points.append(point)
        return points

    def test_stays_inside(self) -> None:
        """Every proposal is a point of the box."""
        _check_inside(self.propose(MIXED, 0, rounds=self.budget))

    def test_categories_and_conditions(self) -> None:
        """A box may have categories, and axes active at some of them only."""
        points = self.propose(TREE, 3)
        assert len(points) == self.rounds
        _check_inside(points, len(TREE))
        assert np.array_equal(np.array(points), np.array(self.propose(TREE, 3)))

    def test_priors_help_or_are_ignored(self) -> None:
        """Good settings of other tables change no promise, nor anything unless it takes them.

        A solver takes them if it has an attribute `takes_priors` that is true.
        """
        prior = (PriorPoints((1, 2), np.array([[0.9, 0.0], [0.4, 1.0]]), np.array([0.8, 0.2])),)
        found = []
        for given in ((), prior):
            solver = self.make()
            solver.begin(replace(box_problem(MIXED, seed=5), prior=given))
            points: list[Array] = []
            for _ in range(self.rounds):
                for point in points_of(solver.ask(1, [])):
                    solver.tell([observed(point, float(np.sum(point)))])
                    points.append(point)
            _check_inside(points, len(MIXED))
            found.append(np.array(points))
        if not takes_priors(self.make()):
            assert np.array_equal(found[0], found[1]), (
                "it read priors, but has no attribute `takes_priors`"
            )

    def test_a_used_up_box_comes_to_an_end(self) -> None:
        """Once every point was told it proposes nothing, with or without knowledge of conditions.

        A solver without it may take the grid for as large as it is without conditions.
        """
        tree, solver = AxisTree(GRIDS), self.make()
        solver.begin(box_problem(GRIDS))
        found: set[bytes] = set()
        # Every combination of places, although conditions make many of them one point.
        for _ in range(math.prod(map(tree.places, range(len(GRIDS)))) + 1):
            asked = points_of(solver.ask(1, []))
            if not asked:
                break
            _check_inside(asked, len(GRIDS))
            found.update(map(tree.key, asked))
            solver.tell([observed(point, float(np.sum(point))) for point in asked])
        assert len(found) == tree.size
        assert list(solver.ask(1, [])) == []

    def test_no_parameters(self) -> None:
        """A box without parameters has one point, proposed once."""
        solver = self.make()
        solver.begin(box_problem(()))
        (point,) = points_of(solver.ask(1, []))
        assert point.shape == (0,)
        assert list(solver.ask(1, [point])) == []
        solver.tell([observed(point, 1.0)])
        assert list(solver.ask(1, [])) == []

    def test_one_parameter(self) -> None:
        """One dimension is enough, also one of two values."""
        assert len(self.propose(MIXED[:1], 0)) == self.rounds
        assert self.propose(MIXED[3:], 0)

    def test_boxes_of_different_sizes_in_turn(self) -> None:
        """One solver serves every selection of a run."""
        solver = self.make()
        for parameters in (MIXED, MIXED[:2], (), MIXED):
            solver.begin(box_problem(parameters))
            for point in points_of(solver.ask(2, [])):
                assert len(point) == len(parameters)
                solver.tell([observed(point, 0.5)])


class ThetaSolverContract(BoxPromises, WholeSpacePromises):
    """The promises of a θ-solver to the core, in a box and in the strategy `joint`.

    `learns` is False for a solver that never does. `seeds` is the number of searches compared in
    the test of progress: lower it for a slow solver.
    """

    learns: ClassVar[bool] = True
    seeds: ClassVar[int] = 5

    def test_same_seed_same_proposals(self) -> None:
        """A run can be repeated."""
        one, other = self.propose(MIXED, 3), self.propose(MIXED, 3)
        assert np.array_equal(np.array(one), np.array(other)), "one seed gave different points"
        another = np.array(self.propose(MIXED, 4))
        assert not np.array_equal(np.array(one), another), "two seeds gave the same points"

    def test_same_proposals_in_another_process(self) -> None:
        """Nothing depends on hash seeds or on earlier work of the process."""
        asked = "[[float(x) for x in p] for box in (MIXED, TREE) for p in c.propose(box, 3)]"
        here = [self.propose(box, 3) for box in (MIXED, TREE)]
        there = in_another_process(type(self), asked)
        # Linear algebra may differ in its last digits from process to process.
        assert np.allclose(np.concatenate(here), there, atol=1e-9)

    def test_says_nothing_and_leaves_nothing(self) -> None:
        """No print, no warning in the log, no file in the working folder."""
        # Enough points for a model, so that its fit must be quiet, too.
        points = np.random.default_rng(5).random((20, 4))
        history = [observed(point, float(np.sum(point))) for point in points]
        with silence():
            solver = self.make()
            solver.begin(box_problem(MIXED, history))
            for _ in range(3):
                asked = points_of(solver.ask(1, []))
                solver.tell([observed(point, float(np.sum(point))) for point in asked])

    def test_whoever_knows_conditions_repeats_nothing(self) -> None:
        """Two points equal on all active axes are one, and it is proposed once."""
        # A solver of the one-hot view cannot know conditions.
        if self.view != "conditional":
            return
        tree, solver, keys = AxisTree(GRIDS), self.make(), list[bytes]()
        solver.begin(box_problem(GRIDS))
        while asked := points_of(solver.ask(1, [])):
            keys.extend(map(tree.key, asked))
            solver.tell([observed(point, float(np.sum(point))) for point in asked])
            assert len(keys) <= tree.size
        assert len(set(keys)) == len(keys) == tree.size

    def test_told_nothing(self) -> None:
        """`tell([])` is harmless, before the first ask and after."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        solver.tell([])
        asked = points_of(solver.ask(1, []))
        solver.tell([])
        assert len(solver.ask(1, asked)) == 1

    def test_ask_for_nothing(self) -> None:
        """`ask(0)` proposes nothing."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        assert list(solver.ask(0, [])) == []

    def test_several_at_a_time_with_pending(self) -> None:
        """Points asked for together, or pending, are not all the same."""
        solver = self.make()
        history = [observed(p, float(np.sum(p))) for p in np.random.default_rng(0).random((12, 4))]
        solver.begin(box_problem(MIXED, history))
        first = points_of(solver.ask(3, []))
        second = points_of(solver.ask(3, first))
        different = len({tuple(np.round(point, 9)) for point in first + second})
        # On the grids a few points may meet by chance.
        assert different > 3, f"of 6 points at a time only {different} were different"

    def test_unasked_failed_and_out_of_order(self) -> None:
        """It goes on after any observation."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        asked = points_of(solver.ask(4, []))
        told = [observed(point, float(place)) for place, point in enumerate(asked[::-1])]
        solver.tell([observed(np.full(4, 0.25), 9.0, failed=True), *told])
        solver.tell([observed(np.full(4, 0.75), math.inf), observed(np.zeros(4), math.nan)])
        assert len(solver.ask(1, [])) == 1

    def test_only_failures(self) -> None:
        """A box without any success is searched on."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        for _ in range(self.rounds):
            asked = points_of(solver.ask(1, []))
            solver.tell([observed(point, 1.0, failed=True) for point in asked])
        assert len(solver.ask(1, [])) == 1

    def test_a_failure_is_none_to_be_near_to(self) -> None:
        """Avoid failures at any cost told: before a success nobody knows their price."""
        if not self.learns:
            return

        def told(point: Array) -> Observation[Array]:
            failed = bool(point[0] < 0.5)
            # The failures seem best by far: only the flag `failed` tells.
            return observed(point, -9.0 if failed else 9.0 - float(point[0]), failed=failed)

        points = np.random.default_rng(1).random((20, 2))
        solver, proposed = self.make(), list[Array]()
        solver.begin(box_problem(PLAIN, [told(point) for point in points]))
        for _ in range(self.rounds):
            asked = points_of(solver.ask(1, []))
            solver.tell([told(point) for point in asked])
            proposed.extend(asked)
        failed = sum(point[0] < 0.5 for point in proposed)
        assert failed <= len(proposed) / 2, f"{failed} of {len(proposed)} were where all fails"

    def test_a_failure_stays_worse_than_all_that_succeeds_later(self) -> None:
        """After one good start a failure may seem nearly as good, and stay so when worse ones come.

        The solver is asked for a point in between, as in a run, and may then settle the price of
        failures. Only the latter proposals count, since the first may have been chosen by then. No
        result is told: a solver wrong about failures would learn the truth from them.
        """
        if not self.learns:
            return
        solver, start = self.make(), np.array([1.0, 1.0])
        solver.begin(replace(box_problem(PLAIN, evaluations=self.rounds), start=start))
        solver.tell([observed(start, 0.0)])
        points = np.random.default_rng(2).random((16, 2))
        for point in points[points[:, 0] < 0.5]:
            solver.tell([observed(point, 1.0, failed=True)])
        waiting = points_of(solver.ask(1, []))
        for point in points[points[:, 0] >= 0.5]:
            solver.tell([observed(point, 10.0 + 20.0 * float(point[1]))])
        latter = points_of(solver.ask(2 * self.rounds, waiting))[self.rounds :]
        failing = sum(point[0] < 0.5 for point in latter)
        assert failing < len(latter) / 2, f"{failing} of {len(latter)} were where all fails"

    def test_constant_losses(self) -> None:
        """A flat function is no reason to stop."""
        solver = self.make()
        solver.begin(box_problem(MIXED))
        for _ in range(self.rounds + 2):
            solver.tell([observed(point, 1.0) for point in points_of(solver.ask(1, []))])
        assert len(solver.ask(1, [])) == 1

    def test_limits_with_raw_values(self) -> None:
        """With limits, observations carry the raw values; failures may have none."""
        points = np.random.default_rng(3).random((12, 4))
        history = [*map(_limited, points), *_failures(points[:3])]
        self._search_on(limited_box(history))

    def test_limits_that_nothing_keeps(self) -> None:
        """It searches on if every known point is outside a limit, or failed."""
        points = np.random.default_rng(4).random((6, 4))
        outside = [observed(p, 1.0, constraints=(0.9, 0.1)) for p in points]
        self._search_on(limited_box(outside))
        self._search_on(limited_box(_failures(points)))

    def _search_on(self, problem: ThetaSubproblem) -> None:
        solver = self.make()
        solver.begin(problem)
        for _ in range(self.rounds):
            asked = points_of(solver.ask(1, []))
            assert len(asked) == 1
            _check_inside(asked)
            solver.tell([_limited(point) for point in asked])
        # One failure of each form.
        solver.tell(_failures(asked * 3))
        assert len(solver.ask(1, [])) == 1

    def test_seconds_instead_of_evaluations(self) -> None:
        """The budget may be a time, and nothing else."""
        solver = self.make()
        solver.begin(replace(box_problem(MIXED, evaluations=None), seconds=5.0))
        assert len(solver.ask(1, [])) == 1

    def test_fidelity_where_it_is_allowed(self) -> None:
        """A solver asking for less than a whole evaluation stays within the permitted range."""
        solver = self.make()
        solver.begin(replace(box_problem(MIXED), lowest_fidelity=0.25))
        for _ in range(self.rounds):
            for point, fidelity in map(unwrap, solver.ask(1, [])):
                assert 0.25 <= fidelity <= 1.0
                told = observed(point, float(np.sum(point)))
                solver.tell([replace(told, fidelity=fidelity)])

    def test_budget_of_one(self) -> None:
        """A single evaluation is worth a proposal."""
        solver = self.make()
        solver.begin(box_problem(MIXED, evaluations=1))
        assert len(solver.ask(1, [])) == 1

    def test_long_history(self) -> None:
        """Two thousand known points are no reason to break."""
        points = np.random.default_rng(1).random((2000, 4))
        history = [observed(point, float(np.sum(point))) for point in points]
        solver = self.make()
        solver.begin(box_problem(MIXED, history))
        assert len(solver.ask(1, [])) == 1

    def test_a_proposal_is_no_view(self) -> None:
        """A run keeps every point: a view would keep the array behind it as well."""
        points = np.random.default_rng(1).random((40, 4))
        history = [observed(point, float(np.sum(point))) for point in points]
        solver = self.make()
        solver.begin(box_problem(MIXED, history))
        for point in points_of(solver.ask(2, [])):
            base = getattr(point, "base", None)
            # A small base is harmless: a reshaped point has one, too.
            assert base is None or base.nbytes <= 16 * np.asarray(point).nbytes

    def test_progress(self) -> None:
        """On an easy function it is clearly better than random points."""
        if not self.learns:
            return
        ours = [self._best_on_sphere(seed) for seed in range(self.seeds)]
        shape = (self.budget, SPHERE.dimension)
        # At least five random searches, even for a solver too slow for so many of its own.
        points = [np.random.default_rng(seed).random(shape) for seed in range(max(self.seeds, 5))]
        random = [min(SPHERE(point) for point in each) for each in points]
        # Medians: one unlucky seed must not decide.
        ratio = float(np.median(ours) / np.median(random))
        assert ratio < BETTER_BY, f"the best found loses {ratio:.2f} of what random points lose"

    def _best_on_sphere(self, seed: int) -> float:
        solver = self.make()
        solver.begin(box_problem(SPHERE.parameters(), seed=seed, evaluations=self.budget))
        best = math.inf
        for _ in range(self.budget):
            for point in points_of(solver.ask(1, [])):
                loss = SPHERE(point)
                best = min(best, loss)
                solver.tell([observed(point, loss)])
        return best


def _check_inside(points: Sequence[Array], dimension: int = len(MIXED)) -> None:
    for point in points:
        shape, values = np.shape(point), np.asarray(point)
        assert shape == (dimension,), f"a point of shape {shape} in a box of {dimension} axes"
        is_inside = np.all((values >= 0.0) & (values <= 1.0))
        assert is_inside, f"a point outside [0, 1]: {values.tolist()}"


def _limited(point: Array) -> Observation[Array]:
    return observed(point, float(np.sum(point)), constraints=box_constraints(point))


def _failures(points: Iterable[Array]) -> list[Observation[Array]]:
    """Return failures as they occur: without values of the limits, or with values not finite."""
    values: list[tuple[float, ...]] = [(), (math.nan, 0.5), (math.inf, math.nan)]
    return [
        observed(point, 9.0, failed=True, constraints=values[place % len(values)])
        for place, point in enumerate(points)
    ]
