"""The promises of a z-solver after failures, and within limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from automl_admm.core.protocols import ZSolver
from automl_admm.core.space import Choice, SearchSpace, Selection
from automl_admm.core.subproblems import Observation, SelectionSubproblem
from automl_admm.testing.problems import (
    TABLE,
    limited_table,
    points_of,
    seen,
    seen_with_limits,
    table_problem,
)


class HardTablePromises:
    """The promises of a z-solver where evaluations fail, tell nothing, or break limits."""

    def make(self) -> ZSolver:
        """Make a fresh solver."""
        raise NotImplementedError

    def propose(self, seed: int, rounds: int = 12) -> list[Selection]:
        """Ask and tell for a while."""
        solver = self.make()
        solver.begin(table_problem(seed=seed))
        points: list[Selection] = []
        for _ in range(rounds):
            for point in points_of(solver.ask(1, [])):
                solver.tell([seen(point)])
                points.append(point)
        return points

    def test_unasked_failed_and_out_of_order(self) -> None:
        """It goes on after any observation."""
        solver = self.make()
        solver.begin(table_problem())
        asked = points_of(solver.ask(4, []))
        strange = TABLE.complete({"model": "near", "steps": ("c", "b", "a")})
        # A selection never asked for, and the others in reverse.
        solver.tell([Observation(strange, 5.0, failed=True), *map(seen, asked[::-1])])
        solver.tell([Observation(strange, math.inf), Observation(strange, math.nan)])
        assert len(solver.ask(1, [])) == 1

    def test_only_failures(self) -> None:
        """A table without any success is searched on."""
        solver = self.make()
        solver.begin(table_problem())
        for _ in range(8):
            asked = points_of(solver.ask(1, []))
            solver.tell([Observation(point, 1.0, failed=True) for point in asked])
        assert len(solver.ask(1, [])) == 1

    def test_constant_losses(self) -> None:
        """Equal losses are no reason to stop."""
        solver = self.make()
        solver.begin(table_problem())
        for _ in range(8):
            solver.tell([Observation(point, 1.0, 1.0) for point in points_of(solver.ask(1, []))])
        assert len(solver.ask(1, [])) == 1

    def test_limits_with_raw_values(self) -> None:
        """With limits, observations carry the raw values; failures may have none."""
        rng = np.random.default_rng(3)
        known = [TABLE.sample(rng) for _ in range(12)]
        self._search_on(limited_table([*map(seen_with_limits, known), *_failures(known[:3])]))

    def test_limits_that_nothing_keeps(self) -> None:
        """It searches on if every known selection is outside a limit, or failed."""
        rng = np.random.default_rng(4)
        known = [TABLE.sample(rng) for _ in range(6)]
        outside = [replace(seen(point), constraints=(0.9, 0.1)) for point in known]
        self._search_on(limited_table(outside))
        self._search_on(limited_table(_failures(known)))

    def _search_on(self, problem: SelectionSubproblem) -> None:
        solver = self.make()
        solver.begin(problem)
        for _ in range(8):
            asked = points_of(solver.ask(1, []))
            assert len(asked) == 1
            check_complete(asked[0], TABLE)
            solver.tell([seen_with_limits(asked[0])])
        # One failure of each form.
        solver.tell(_failures(asked * 3))
        assert len(solver.ask(1, [])) == 1


def check_complete(point: Selection, space: SearchSpace) -> None:
    """Check that a selection decides all that is active, and nothing else."""
    assert space.complete(dict(point.picks)) == point
    by_name = {decision.name: decision for decision in space.decisions}
    for name, pick in point:
        decision = by_name[name]
        if isinstance(decision, Choice):
            assert pick in decision.alternatives
        else:
            assert decision.allows(pick), f"'{name}' cannot be {pick}"


def _failures(points: list[Selection]) -> list[Observation[Selection]]:
    """Return failures as they occur: without values of the limits, or with values not finite."""
    values: list[tuple[float, ...]] = [(), (math.nan, 0.5), (math.inf, math.nan)]
    return [
        Observation(point, 9.0, math.nan, values[place % len(values)], 0.1, failed=True)
        for place, point in enumerate(points)
    ]
