"""The promises of everything that a plugin may provide, as test classes for pytest.

Subclass one and make your solver in it::

    class TestMySolver(ThetaSolverContract):
        def make(self):
            return MySolver()

`make` must be importable by name: one test runs it in another process. The classes need no pytest:
`automl-admm plugins check NAME` runs them without it.
"""

from __future__ import annotations

from automl_admm.testing.components import ComponentContract
from automl_admm.testing.constraints import ConstraintContract
from automl_admm.testing.executors import ExecutorContract
from automl_admm.testing.exporters import CommandContract, ExporterContract
from automl_admm.testing.grammars import GrammarContract
from automl_admm.testing.metrics import MetricContract
from automl_admm.testing.observers import ObserverContract
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
    "CommandContract",
    "ComponentContract",
    "ConstraintContract",
    "ExecutorContract",
    "ExporterContract",
    "GrammarContract",
    "MetricContract",
    "ObserverContract",
    "StrategyContract",
    "ThetaSolverContract",
    "ZSolverContract",
    "box_problem",
    "observed",
    "table_loss",
    "table_problem",
]
