"""automl-admm: the most accurate pipeline within the limits you set.

This is the public door. Names that need scikit-learn, pandas or a solver are resolved when they
are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automl_admm.api import AutoMLClassifier, AutoMLRegressor, MinimizeResult, minimize
    from automl_admm.certify.certificate import Certificate
    from automl_admm.errors import AutomlAdmmError, InfeasibleError, NotCertifiedError
    from automl_admm.evidence import Fact, Gap, Largest, Mean, Ranking, Rate, Ratio, Timing
    from automl_admm.hookspecs import hookimpl
    from automl_admm.plugin_types import (
        BuildContext,
        CommandPlugin,
        ComponentPlugin,
        Constraint,
        ConstraintPlugin,
        EvaluatedPipeline,
        ExecutorPlugin,
        ExecutorSetting,
        GrammarPlugin,
        MetricPlugin,
        NoOptions,
        ThetaSolverPlugin,
        ZSolverPlugin,
    )
    from automl_admm.problem import (
        Evaluation,
        Limit,
        Observation,
        SelectionSubproblem,
        Status,
        ThetaSubproblem,
    )
    from automl_admm.space import Choice, Condition, Order, Parameter, SearchSpace, Selection

__version__ = "0.1.0"

_HOMES = {
    "AutoMLClassifier": "api",
    "AutoMLRegressor": "api",
    "AutomlAdmmError": "errors",
    "BuildContext": "plugin_types",
    "Certificate": "certify.certificate",
    "Choice": "space",
    "CommandPlugin": "plugin_types",
    "ComponentPlugin": "plugin_types",
    "Condition": "space",
    "Constraint": "plugin_types",
    "ConstraintPlugin": "plugin_types",
    "EvaluatedPipeline": "plugin_types",
    "Evaluation": "problem",
    "ExecutorPlugin": "plugin_types",
    "ExecutorSetting": "plugin_types",
    "Fact": "evidence",
    "Gap": "evidence",
    "GrammarPlugin": "plugin_types",
    "InfeasibleError": "errors",
    "Largest": "evidence",
    "Limit": "problem",
    "Mean": "evidence",
    "MetricPlugin": "plugin_types",
    "MinimizeResult": "api",
    "NoOptions": "plugin_types",
    "NotCertifiedError": "errors",
    "Observation": "problem",
    "Order": "space",
    "Parameter": "space",
    "Ranking": "evidence",
    "Rate": "evidence",
    "Ratio": "evidence",
    "SearchSpace": "space",
    "Selection": "space",
    "SelectionSubproblem": "problem",
    "Status": "problem",
    "ThetaSolverPlugin": "plugin_types",
    "ThetaSubproblem": "problem",
    "Timing": "evidence",
    "ZSolverPlugin": "plugin_types",
    "hookimpl": "hookspecs",
    "minimize": "api",
}

__all__ = [
    "AutoMLClassifier",
    "AutoMLRegressor",
    "AutomlAdmmError",
    "BuildContext",
    "Certificate",
    "Choice",
    "CommandPlugin",
    "ComponentPlugin",
    "Condition",
    "Constraint",
    "ConstraintPlugin",
    "EvaluatedPipeline",
    "Evaluation",
    "ExecutorPlugin",
    "ExecutorSetting",
    "Fact",
    "Gap",
    "GrammarPlugin",
    "InfeasibleError",
    "Largest",
    "Limit",
    "Mean",
    "MetricPlugin",
    "MinimizeResult",
    "NoOptions",
    "NotCertifiedError",
    "Observation",
    "Order",
    "Parameter",
    "Ranking",
    "Rate",
    "Ratio",
    "SearchSpace",
    "Selection",
    "SelectionSubproblem",
    "Status",
    "ThetaSolverPlugin",
    "ThetaSubproblem",
    "Timing",
    "ZSolverPlugin",
    "hookimpl",
    "minimize",
]


def __getattr__(name: str) -> Any:
    """Resolve a public name in its home module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'automl_admm' has no attribute '{name}'")
    return getattr(import_module(f"automl_admm.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, resolved or not."""
    return [*__all__, "__version__"]
