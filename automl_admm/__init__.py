"""automl-admm: the most accurate pipeline within the limits you set.

This is the public door. Names that need scikit-learn, pandas or a solver are resolved when they
are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automl_admm.api import AutoMLClassifier, AutoMLRegressor, MinimizeResult, minimize
    from automl_admm.api.monitoring import monitor
    from automl_admm.api.saved_runs import FolderRun, read_run
    from automl_admm.certify.certificate import Certificate
    from automl_admm.core.errors import (
        AutomlAdmmError,
        FallbackWarning,
        InfeasibleError,
        LimitWarning,
        NoSuccessError,
        NotCertifiedError,
    )
    from automl_admm.core.evaluations import Evaluation, Status
    from automl_admm.core.evidence import (
        F1,
        Average,
        Calibration,
        Explained,
        Fact,
        Gap,
        Largest,
        Mean,
        Quantile,
        RankCorrelation,
        Ranking,
        Rate,
        Ratio,
        RootMeanSquare,
        Smallest,
        Timing,
    )
    from automl_admm.core.limits import Limit
    from automl_admm.core.space import Choice, Condition, Order, Parameter, SearchSpace, Selection
    from automl_admm.core.subproblems import Observation, SelectionSubproblem, ThetaSubproblem
    from automl_admm.pipelines.intervals import IntervalRegressor
    from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
    from automl_admm.plugins.observer_plugin import ObserverPlugin
    from automl_admm.plugins.records import (
        BuildContext,
        CommandPlugin,
        ComponentPlugin,
        Constraint,
        ConstraintPlugin,
        ExecutorPlugin,
        ExecutorSetting,
        GrammarPlugin,
        MetricPlugin,
        NoOptions,
        StrategyPlugin,
        ThetaSolverPlugin,
        ZSolverPlugin,
    )
    from automl_admm.plugins.specs import hookimpl
    from automl_admm.runs.saved.loaded_model import load
    from automl_admm.runs.saved.monitor.monitored import Monitored
    from automl_admm.runs.study.study import Study
    from automl_admm.runs.study.trial import Trial, TrialResult

__version__ = "0.1.0"

_HOMES = {
    "AutoMLClassifier": "api",
    "AutoMLRegressor": "api",
    "AutomlAdmmError": "core.errors",
    "FallbackWarning": "core.errors",
    "LimitWarning": "core.errors",
    "Average": "core.evidence",
    "Calibration": "core.evidence",
    "BuildContext": "plugins.records",
    "Certificate": "certify.certificate",
    "Choice": "core.space",
    "CommandPlugin": "plugins.records",
    "ComponentPlugin": "plugins.records",
    "Condition": "core.space",
    "Constraint": "plugins.records",
    "ConstraintPlugin": "plugins.records",
    "EvaluatedPipeline": "plugins.evaluated_pipeline",
    "Evaluation": "core.evaluations",
    "ExecutorPlugin": "plugins.records",
    "ExecutorSetting": "plugins.records",
    "Explained": "core.evidence",
    "F1": "core.evidence",
    "Fact": "core.evidence",
    "FolderRun": "api.saved_runs",
    "Gap": "core.evidence",
    "GrammarPlugin": "plugins.records",
    "InfeasibleError": "core.errors",
    "Largest": "core.evidence",
    "Limit": "core.limits",
    "Mean": "core.evidence",
    "MetricPlugin": "plugins.records",
    "MinimizeResult": "runs.study.optimized",
    "NoOptions": "plugins.records",
    "NoSuccessError": "core.errors",
    "NotCertifiedError": "core.errors",
    "Observation": "core.subproblems",
    "ObserverPlugin": "plugins.observer_plugin",
    "Order": "core.space",
    "Parameter": "core.space",
    "Quantile": "core.evidence",
    "RankCorrelation": "core.evidence",
    "Ranking": "core.evidence",
    "Rate": "core.evidence",
    "Ratio": "core.evidence",
    "RootMeanSquare": "core.evidence",
    "SearchSpace": "core.space",
    "Selection": "core.space",
    "SelectionSubproblem": "core.subproblems",
    "Smallest": "core.evidence",
    "Status": "core.evaluations",
    "StrategyPlugin": "plugins.records",
    "Study": "runs.study.study",
    "ThetaSolverPlugin": "plugins.records",
    "ThetaSubproblem": "core.subproblems",
    "Timing": "core.evidence",
    "Trial": "runs.study.trial",
    "TrialResult": "runs.study.trial",
    "ZSolverPlugin": "plugins.records",
    "hookimpl": "plugins.specs",
    "IntervalRegressor": "pipelines.intervals",
    "load": "runs.saved.loaded_model",
    "minimize": "runs.minimize",
    "monitor": "api.monitoring",
    "Monitored": "runs.saved.monitor.monitored",
    "read_run": "api.saved_runs",
}

__all__ = [
    "F1",
    "AutoMLClassifier",
    "AutoMLRegressor",
    "AutomlAdmmError",
    "Average",
    "BuildContext",
    "Calibration",
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
    "Explained",
    "Fact",
    "FallbackWarning",
    "FolderRun",
    "Gap",
    "GrammarPlugin",
    "InfeasibleError",
    "IntervalRegressor",
    "Largest",
    "Limit",
    "LimitWarning",
    "Mean",
    "MetricPlugin",
    "MinimizeResult",
    "Monitored",
    "NoOptions",
    "NoSuccessError",
    "NotCertifiedError",
    "Observation",
    "ObserverPlugin",
    "Order",
    "Parameter",
    "Quantile",
    "RankCorrelation",
    "Ranking",
    "Rate",
    "Ratio",
    "RootMeanSquare",
    "SearchSpace",
    "Selection",
    "SelectionSubproblem",
    "Smallest",
    "Status",
    "StrategyPlugin",
    "Study",
    "ThetaSolverPlugin",
    "ThetaSubproblem",
    "Timing",
    "Trial",
    "TrialResult",
    "ZSolverPlugin",
    "hookimpl",
    "load",
    "minimize",
    "monitor",
    "read_run",
]


def __getattr__(name: str) -> Any:
    """Resolve a public name in its home module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'automl_admm' has no attribute '{name}'")
    return getattr(import_module(f"automl_admm.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, resolved or not."""
    return [*__all__, "__version__"]
