"""The promises that every solver keeps, as test classes for pytest.

A plugin author subclasses one and says how a solver is made::

    class TestMySolver(ThetaSolverContract):
        def make(self):
            return MySolver()

`make` must be importable by name: one test runs it in another process.
"""

from __future__ import annotations

from automl_admm.testing.problems import (
    BUDGET,
    MIXED,
    TABLE,
    box_problem,
    observed,
    table_loss,
    table_problem,
)
from automl_admm.testing.theta import ThetaSolverContract
from automl_admm.testing.z import ZSolverContract

__all__ = [
    "BUDGET",
    "MIXED",
    "TABLE",
    "ThetaSolverContract",
    "ZSolverContract",
    "box_problem",
    "observed",
    "table_loss",
    "table_problem",
]
