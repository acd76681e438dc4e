"""The promises of a θ-solver in a box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from automl_admm.core.priors import PriorPoints, takes_priors
from automl_admm.core.protocols import ThetaSolver
from automl_admm.core.space import Array, Parameter
from automl_admm.core.structure.axis_tree import AxisTree
from automl_admm.testing.problems import (
    BUDGET,
    GRIDS,
    MIXED,
    TREE,
    box_problem,
    observed,
    points_of,
)


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
        check_inside(self.propose(MIXED, 0, rounds=self.budget))

    def test_categories_and_conditions(self) -> None:
        """A box may have categories, and axes active at some of them only."""
        points = self.propose(TREE, 3)
        assert len(points) == self.rounds
        check_inside(points, len(TREE))
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
            check_inside(points, len(MIXED))
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
            check_inside(asked, len(GRIDS))
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


def check_inside(points: Sequence[Array], dimension: int = len(MIXED)) -> None:
    """Check that points are in the unit cube of so many axes."""
    for point in points:
        shape, values = np.shape(point), np.asarray(point)
        assert shape == (dimension,), f"a point of shape {shape} in a box of {dimension} axes"
        is_inside = np.all((values >= 0.0) & (values <= 1.0))
        assert is_inside, f"a point outside [0, 1]: {values.tolist()}"
