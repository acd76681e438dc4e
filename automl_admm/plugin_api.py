"""The one module that plugin authors import; all names here keep semantic versioning.

A plugin declares records, and its hooks return them. This one brings a θ-solver:

>>> class Halving:
...     def begin(self, subproblem: ThetaSubproblem) -> None:
...         self.point: Array = subproblem.start
...
...     def ask(self, count: int, pending: list[Array]) -> list[Array]:
...         return one_by_one(lambda waiting: self.point / 2 ** len(waiting), count, pending)
...
...     def tell(self, observations: list[Observation[Array]]) -> None:
...         self.point = min(observations, key=lambda told: told.loss).point
>>> @hookimpl
... def theta_solvers():
...     yield ThetaSolverPlugin(name="halving", summary="halves", factory=lambda options: Halving())
>>> [record.name for record in theta_solvers()]
['halving']

A z-solver proposes a `Selection` instead: a label for each decision. A strategy returns a `Search`,
a generator that yields a `Proposal`, or `WAIT` until a result comes in.

A module may say `requires_api = "1.0"`: where `API_VERSION` has another first number or a smaller
second one, the plugin is left out with a line that says how to fix it.

Names are resolved when they are first used, so that a plugin that only declares stays cheap. The
test kit is `automl_admm.testing`. Nothing in the package imports this module.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from automl_admm.api.saved_runs import read_run
    from automl_admm.core.errors import (
        AutomlAdmmError,
        ConfigurationError,
        InvalidOutcome,
        PluginError,
        naming_os_errors,
    )
    from automl_admm.core.evaluations import Evaluation, Status
    from automl_admm.core.evidence import (
        F1,
        Average,
        Calibration,
        Estimate,
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
    from automl_admm.core.messages import say_error, say_value
    from automl_admm.core.priors import ArmPrior, PriorPoints
    from automl_admm.core.proposals import best_and_latest, one_by_one
    from automl_admm.core.protocols import Executor, Finished, Task, ThetaSolver, ZSolver
    from automl_admm.core.ranking import price_of_failure
    from automl_admm.core.run import RunInfo, RunResult, RunState, SavedRun, Stop, StopReason
    from automl_admm.core.space import (
        Array,
        Candidate,
        Choice,
        Condition,
        Order,
        Parameter,
        SearchSpace,
        Selection,
    )
    from automl_admm.core.structure.axis_tree import AxisTree
    from automl_admm.core.subproblems import (
        AtFidelity,
        Observation,
        Quadratic,
        SelectionSubproblem,
        ThetaSubproblem,
    )
    from automl_admm.execution.local_executor import LocalExecutor
    from automl_admm.execution.remote.letters import Answer, Brief, Job
    from automl_admm.execution.remote.remote_executor import RemoteExecutor, Staffing
    from automl_admm.execution.remote.station import Station
    from automl_admm.execution.remote.transport import (
        Ended,
        Heard,
        Joined,
        Left,
        Place,
        Refused,
        Transport,
    )
    from automl_admm.execution.remote.versions import explain_difference, installed_versions
    from automl_admm.execution.server.channel import wait_readable
    from automl_admm.execution.shared_state import SharedSetting
    from automl_admm.execution.stored_work import PickledWork, pickle_work
    from automl_admm.execution.task_folders import TaskFolders, remove_tree, written_files
    from automl_admm.execution.threads import count_cores, thread_environment, threads_each
    from automl_admm.pipelines.column_routes import native_routes
    from automl_admm.plugins.api_version import API_VERSION
    from automl_admm.plugins.distributions import behind_types
    from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
    from automl_admm.plugins.growth import Growth
    from automl_admm.plugins.model_parts import ModelParts
    from automl_admm.plugins.observer_plugin import ObserverPlugin
    from automl_admm.plugins.records import (
        BuildContext,
        CommandPlugin,
        ComponentPlugin,
        ConstraintPlugin,
        ExecutorPlugin,
        ExecutorSetting,
        ExporterPlugin,
        GrammarPlugin,
        MetricPlugin,
        NoOptions,
        Solvers,
        StrategyPlugin,
        ThetaSolverPlugin,
        ZSolverPlugin,
    )
    from automl_admm.plugins.specs import hookimpl
    from automl_admm.runs.saved.loaded_model import load
    from automl_admm.search.protocol import (
        WAIT,
        Book,
        Proposal,
        Search,
        SearchProblem,
        await_pending,
        derive_seed,
        unwrap,
    )
    from automl_admm.search.starts import beginning, draw_candidate, evaluate_starts

_HOMES = {
    "API_VERSION": "plugins.api_version",
    "Answer": "execution.remote.letters",
    "ArmPrior": "core.priors",
    "Array": "core.space",
    "AtFidelity": "core.subproblems",
    "AutomlAdmmError": "core.errors",
    "Average": "core.evidence",
    "Calibration": "core.evidence",
    "AxisTree": "core.structure.axis_tree",
    "Book": "search.protocol",
    "Brief": "execution.remote.letters",
    "BuildContext": "plugins.records",
    "Candidate": "core.space",
    "Choice": "core.space",
    "CommandPlugin": "plugins.records",
    "ComponentPlugin": "plugins.records",
    "Condition": "core.space",
    "ConfigurationError": "core.errors",
    "ConstraintPlugin": "plugins.records",
    "Ended": "execution.remote.transport",
    "Estimate": "core.evidence",
    "EvaluatedPipeline": "plugins.evaluated_pipeline",
    "Evaluation": "core.evaluations",
    "Executor": "core.protocols",
    "ExecutorPlugin": "plugins.records",
    "ExecutorSetting": "plugins.records",
    "ExporterPlugin": "plugins.records",
    "Explained": "core.evidence",
    "F1": "core.evidence",
    "Fact": "core.evidence",
    "Finished": "core.protocols",
    "Gap": "core.evidence",
    "GrammarPlugin": "plugins.records",
    "Growth": "plugins.growth",
    "Heard": "execution.remote.transport",
    "InvalidOutcome": "core.errors",
    "Job": "execution.remote.letters",
    "Joined": "execution.remote.transport",
    "Largest": "core.evidence",
    "Left": "execution.remote.transport",
    "Limit": "core.limits",
    "LocalExecutor": "execution.local_executor",
    "Mean": "core.evidence",
    "MetricPlugin": "plugins.records",
    "ModelParts": "plugins.model_parts",
    "NoOptions": "plugins.records",
    "Observation": "core.subproblems",
    "ObserverPlugin": "plugins.observer_plugin",
    "Order": "core.space",
    "Parameter": "core.space",
    "PickledWork": "execution.stored_work",
    "Place": "execution.remote.transport",
    "PluginError": "core.errors",
    "PriorPoints": "core.priors",
    "Proposal": "search.protocol",
    "Quadratic": "core.subproblems",
    "Quantile": "core.evidence",
    "RankCorrelation": "core.evidence",
    "Ranking": "core.evidence",
    "Rate": "core.evidence",
    "Ratio": "core.evidence",
    "RootMeanSquare": "core.evidence",
    "Refused": "execution.remote.transport",
    "RemoteExecutor": "execution.remote.remote_executor",
    "RunInfo": "core.run",
    "RunResult": "core.run",
    "RunState": "core.run",
    "SavedRun": "core.run",
    "Search": "search.protocol",
    "SearchProblem": "search.protocol",
    "SearchSpace": "core.space",
    "Selection": "core.space",
    "SelectionSubproblem": "core.subproblems",
    "SharedSetting": "execution.shared_state",
    "Smallest": "core.evidence",
    "Solvers": "plugins.records",
    "Staffing": "execution.remote.remote_executor",
    "Station": "execution.remote.station",
    "Status": "core.evaluations",
    "Stop": "core.run",
    "StopReason": "core.run",
    "StrategyPlugin": "plugins.records",
    "Task": "core.protocols",
    "TaskFolders": "execution.task_folders",
    "ThetaSolver": "core.protocols",
    "ThetaSolverPlugin": "plugins.records",
    "ThetaSubproblem": "core.subproblems",
    "Timing": "core.evidence",
    "Transport": "execution.remote.transport",
    "WAIT": "search.protocol",
    "ZSolver": "core.protocols",
    "ZSolverPlugin": "plugins.records",
    "await_pending": "search.protocol",
    "beginning": "search.starts",
    "behind_types": "plugins.distributions",
    "best_and_latest": "core.proposals",
    "count_cores": "execution.threads",
    "derive_seed": "search.protocol",
    "draw_candidate": "search.starts",
    "evaluate_starts": "search.starts",
    "explain_difference": "execution.remote.versions",
    "hookimpl": "plugins.specs",
    "installed_versions": "execution.remote.versions",
    "load": "runs.saved.loaded_model",
    "naming_os_errors": "core.errors",
    "native_routes": "pipelines.column_routes",
    "one_by_one": "core.proposals",
    "pickle_work": "execution.stored_work",
    "price_of_failure": "core.ranking",
    "read_run": "api.saved_runs",
    "remove_tree": "execution.task_folders",
    "say_error": "core.messages",
    "say_value": "core.messages",
    "thread_environment": "execution.threads",
    "threads_each": "execution.threads",
    "unwrap": "search.protocol",
    "wait_readable": "execution.server.channel",
    "written_files": "execution.task_folders",
}

__all__ = [
    "API_VERSION",
    "F1",
    "WAIT",
    "Answer",
    "ArmPrior",
    "Array",
    "AtFidelity",
    "AutomlAdmmError",
    "Average",
    "AxisTree",
    "Book",
    "Brief",
    "BuildContext",
    "Calibration",
    "Candidate",
    "Choice",
    "CommandPlugin",
    "ComponentPlugin",
    "Condition",
    "ConfigurationError",
    "ConstraintPlugin",
    "Ended",
    "Estimate",
    "EvaluatedPipeline",
    "Evaluation",
    "Executor",
    "ExecutorPlugin",
    "ExecutorSetting",
    "Explained",
    "ExporterPlugin",
    "Fact",
    "Finished",
    "Gap",
    "GrammarPlugin",
    "Growth",
    "Heard",
    "InvalidOutcome",
    "Job",
    "Joined",
    "Largest",
    "Left",
    "Limit",
    "LocalExecutor",
    "Mean",
    "MetricPlugin",
    "ModelParts",
    "NoOptions",
    "Observation",
    "ObserverPlugin",
    "Order",
    "Parameter",
    "PickledWork",
    "Place",
    "PluginError",
    "PriorPoints",
    "Proposal",
    "Quadratic",
    "Quantile",
    "RankCorrelation",
    "Ranking",
    "Rate",
    "Ratio",
    "Refused",
    "RemoteExecutor",
    "RootMeanSquare",
    "RunInfo",
    "RunResult",
    "RunState",
    "SavedRun",
    "Search",
    "SearchProblem",
    "SearchSpace",
    "Selection",
    "SelectionSubproblem",
    "SharedSetting",
    "Smallest",
    "Solvers",
    "Staffing",
    "Station",
    "Status",
    "Stop",
    "StopReason",
    "StrategyPlugin",
    "Task",
    "TaskFolders",
    "ThetaSolver",
    "ThetaSolverPlugin",
    "ThetaSubproblem",
    "Timing",
    "Transport",
    "ZSolver",
    "ZSolverPlugin",
    "await_pending",
    "beginning",
    "behind_types",
    "best_and_latest",
    "count_cores",
    "derive_seed",
    "draw_candidate",
    "evaluate_starts",
    "explain_difference",
    "hookimpl",
    "installed_versions",
    "load",
    "naming_os_errors",
    "native_routes",
    "one_by_one",
    "pickle_work",
    "price_of_failure",
    "read_run",
    "remove_tree",
    "say_error",
    "say_value",
    "thread_environment",
    "threads_each",
    "unwrap",
    "wait_readable",
    "written_files",
]


def __getattr__(name: str) -> Any:
    """Resolve a public name in its home module."""
    if name not in _HOMES:
        raise AttributeError(f"module 'automl_admm.plugin_api' has no attribute '{name}'")
    return getattr(import_module(f"automl_admm.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    """List the public names, resolved or not."""
    return list(__all__)
