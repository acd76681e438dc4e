"""The promises of everything that a plugin may provide, as test classes for pytest.

Subclass one and make your solver in it::

    class TestMySolver(ThetaSolverContract):
        def make(self):
            return MySolver()

`make` must be importable by name: one test runs it in another process. The classes need no pytest:
`automl-admm plugins check NAME` runs them without it. A name is looked up when it is used: the
suite of a solver, and the new process of one of its tests, wait for no models.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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
    from automl_admm.testing.weighers import WeigherContract
    from automl_admm.testing.z import ZSolverContract

_HOMES = {
    "BUDGET": "problems",
    "CommandContract": "exporters",
    "ComponentContract": "components",
    "ConstraintContract": "constraints",
    "ExecutorContract": "executors",
    "ExporterContract": "exporters",
    "GrammarContract": "grammars",
    "MIXED": "problems",
    "MetricContract": "metrics",
    "ObserverContract": "observers",
    "StrategyContract": "strategies",
    "TABLE": "problems",
    "ThetaSolverContract": "theta",
    "WeigherContract": "weighers",
    "ZSolverContract": "z",
    "box_problem": "problems",
    "observed": "problems",
    "table_loss": "problems",
    "table_problem": "problems",
}

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
    "WeigherContract",
    "ZSolverContract",
    "box_problem",
    "observed",
    "table_loss",
    "table_problem",
]


def __getattr__(name: str) -> Any:
    """Resolve a name in the module of its promises."""
    if name not in _HOMES:
        raise AttributeError(f"module 'automl_admm.testing.contracts' has no attribute '{name}'")
    return getattr(import_module(f"automl_admm.testing.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the names, resolved or not."""
    return list(__all__)
