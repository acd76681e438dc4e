"""The promises of solvers, strategies, components and executors, as test classes for pytest.

Subclass one and make your solver in it::

    class TestMySolver(ThetaSolverContract):
        def make(self):
            return MySolver()

`make` must be importable by name: one test runs it in another process.
"""

from __future__ import annotations

from automl_admm.testing.components import ComponentContract
from automl_admm.testing.executors import ExecutorContract
from automl_admm.testing.problems import (
    BUDGET,
    MIXED,
    TABLE,
    box_problem,
    observed,
    table_loss,
    table_problem,
)
from automl_admm.testing.strategies import StrategyContract
from automl_admm.testing.theta import ThetaSolverContract
from automl_admm.testing.z import ZSolverContract

__all__ = [
    "BUDGET",
    "MIXED",
    "TABLE",
    "ComponentContract",
    "ExecutorContract",
    "StrategyContract",
    "ThetaSolverContract",
    "ZSolverContract",
    "box_problem",
    "observed",
    "table_loss",
    "table_problem",
]
