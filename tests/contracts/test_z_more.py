"""The z-solvers beside `cmab` and `random` keep the promises that every z-solver keeps."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
from installed import PLUGINS

from automl_admm.core.protocols import ZSolver
from automl_admm.core.space import Selection
from automl_admm.core.subproblems import Observation
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.contracts import TABLE, ZSolverContract, table_problem


class WithoutRepeats(ZSolverContract):
    """Of a table of 144 selections the 80th best is no good one: what comes late comes earlier."""

    __test__ = False
    request: ClassVar[str] = ""
    rounds: ClassVar[int] = 32

    def make(self) -> ZSolver:
        return build_solver(PLUGINS.z_solvers, self.request)

    def propose(self, seed: int, rounds: int = 12) -> list[Selection]:
        return super().propose(seed, min(rounds, self.rounds))

    def test_nothing_is_proposed_twice(self) -> None:
        points = self.propose(5, rounds=self.rounds)
        assert len(set(points)) == self.rounds


class TestUcb(WithoutRepeats):
    __test__ = True
    request = "ucb"


class TestSoftmax(WithoutRepeats):
    __test__ = True
    request = "softmax"


class TestMcts(WithoutRepeats):
    __test__ = True
    request = "mcts"


class TestGenetic(WithoutRepeats):
    __test__ = True
    request = "genetic"


class TestPolicy(WithoutRepeats):
    __test__ = True
    request = "policy"


class TestBestFirst(WithoutRepeats):
    __test__ = True
    request = "best-first"


class TestRisingBandits(WithoutRepeats):
    __test__ = True
    request = "rising-bandits"
    rounds = 52  # four arms are pulled eight times before any can go


class TestHalving(WithoutRepeats):
    __test__ = True
    request = "halving"


class TestBo(WithoutRepeats):
    __test__ = True
    request = "bo"


class TestExhaustive(WithoutRepeats):
    __test__ = True
    learns = False
    request = "exhaustive"

    def test_long_history(self) -> None:
        """With everything known there is nothing to propose."""
        rng = np.random.default_rng(2)
        solver = self.make()
        known = [Observation(TABLE.sample(rng), 1.0) for _ in range(2000)]
        assert len({observation.point for observation in known}) == 144
        solver.begin(table_problem(known))
        assert list(solver.ask(1, [])) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "ucb:exploration=-1",
        "softmax:temperature=0",
        "mcts:exploration=-1",
        "genetic:population=1",
        "rising-bandits:window=0",
    ],
)
def test_senseless_options_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"must be"):
        build_solver(PLUGINS.z_solvers, wrong)
