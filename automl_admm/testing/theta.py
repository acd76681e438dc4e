"""The promises of a θ-solver."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import ClassVar

import numpy as np

from automl_admm.core.structure.axis_tree import AxisTree
from automl_admm.search.protocol import unwrap
from automl_admm.testing.fresh_process import in_another_process
from automl_admm.testing.hard_boxes import HardBoxPromises
from automl_admm.testing.objectives import SPHERE
from automl_admm.testing.problems import (
    GRIDS,
    MIXED,
    TREE,
    box_problem,
    observed,
    points_of,
)
from automl_admm.testing.silence import silence
from automl_admm.testing.whole import WholeSpacePromises

# The best loss found must be below this share of that of random points.
BETTER_BY = 0.6


class ThetaSolverContract(HardBoxPromises, WholeSpacePromises):
    """The promises of a θ-solver to the core, in a box and in the strategy `joint`.

    `seeds` is the number of searches compared in the test of progress: lower it for a slow solver.
    """

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
