"""The promises of a θ-solver after failures, and within limits."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from automl_admm.core.space import Array, Parameter
from automl_admm.core.subproblems import Observation, ThetaSubproblem
from automl_admm.testing.boxes import BoxPromises, check_inside
from automl_admm.testing.problems import (
    MIXED,
    box_constraints,
    box_problem,
    limited_box,
    observed,
    points_of,
)

PLAIN = (Parameter("x", 0, 1), Parameter("y", 0, 1))


class HardBoxPromises(BoxPromises):
    """The promises of a θ-solver where evaluations fail, tell nothing, or break limits.

    `learns` is False for a solver that never does.
    """

    learns: ClassVar[bool] = True

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
            check_inside(asked)
            solver.tell([_limited(point) for point in asked])
        # One failure of each form.
        solver.tell(_failures(asked * 3))
        assert len(solver.ask(1, [])) == 1


def _limited(point: Array) -> Observation[Array]:
    return observed(point, float(np.sum(point)), constraints=box_constraints(point))


def _failures(points: Iterable[Array]) -> list[Observation[Array]]:
    """Return failures as they occur: without values of the limits, or with values not finite."""
    values: list[tuple[float, ...]] = [(), (math.nan, 0.5), (math.inf, math.nan)]
    return [
        observed(point, 9.0, failed=True, constraints=values[place % len(values)])
        for place, point in enumerate(points)
    ]
