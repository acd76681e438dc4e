"""The records that plugins yield: what they provide, said once, checked on the way in.

A factory imports what it needs when it is called, never the module that declares it: listing
plugins must stay cheap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from automl_admm.errors import PluginError
from automl_admm.problem import Limit
from automl_admm.protocols import Executor, ThetaSolver, ZSolver
from automl_admm.shape import Item
from automl_admm.space import Choice, Parameter, Value

if TYPE_CHECKING:
    import click

Task = Literal["classification", "regression"]
TASKS: tuple[Task, ...] = ("classification", "regression")
NAME = re.compile(r"[a-z][a-z0-9_]*(-[a-z0-9_]+)*")


@dataclass(frozen=True, slots=True)
class NoOptions:
    """For a plugin that has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    name: str
    summary: str

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name):
            raise PluginError(
                f"'{self.name}' is no plugin name: lower case letters, digits, '-' and '_'."
            )
        if not self.summary.strip():
            raise PluginError(f"plugin '{self.name}' needs a summary.")


@dataclass(frozen=True, slots=True, kw_only=True)
class _WithOptions(_Named):
    options: type[Any] = NoOptions

    def __post_init__(self) -> None:
        _Named.__post_init__(self)
        if not is_dataclass(self.options):
            raise PluginError(f"plugin '{self.name}': its options must be a dataclass.")
        if any(field.init and not _has_default(field) for field in fields(self.options)):
            raise PluginError(f"plugin '{self.name}': every option needs a default.")


def _has_default(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class ThetaSolverPlugin(_WithOptions):
    """A solver for θ-min; the factory gets an instance of `options`.

    `joint` says how it wants to see a whole space in the strategy `joint`: `one-hot`, an axis for
    each alternative, for a solver that models distances; `conditional` for one that knows
    categories (`Parameter.is_category`) and conditions (`Parameter.when`).
    """

    factory: Callable[[Any], ThetaSolver]
    joint: Literal["one-hot", "conditional"] = "one-hot"


@dataclass(frozen=True, slots=True, kw_only=True)
class ZSolverPlugin(_WithOptions):
    """A solver for z-min; the factory gets an instance of `options`."""

    factory: Callable[[Any], ZSolver]


@dataclass(frozen=True, slots=True)
class ExecutorSetting:
    """What every executor is told, whatever its own options are."""

    workers: int = 1
    memory_bytes: int | None = None
    scratch: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorPlugin(_WithOptions):
    """A way to run evaluations; the factory gets the work, the setting and the options."""

    factory: Callable[[Any, ExecutorSetting, Any], Executor]


@dataclass(frozen=True, slots=True)
class EvaluatedPipeline:
    """What a constraint looks at: a fitted pipeline, rows that it has not seen, and the costs.

    `predictions` are those of the rows of `X`: probabilities or scores where there are any.
    Class labels are numbered in their sorted order, in `y` and in what `pipeline.predict` returns.
    """

    pipeline: Any
    X: Any
    y: Any
    predictions: Any
    fit_seconds: float
    predict_seconds: float


ConstraintFunction = Callable[[EvaluatedPipeline], float]
CheapFunction = Callable[[tuple[Item, ...]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintPlugin(_Named):
    """A named measurement that a limit can be set on, and the range of its values if known.

    One whose value is known without training has, as `cheap`, the function that computes it from
    the steps of a pipeline; solvers may then ask for it at as many points as they like.
    """

    function: ConstraintFunction
    lowest: float | None = 0.0
    highest: float | None = None
    cheap: CheapFunction | None = None


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit together with the function that measures it; any callable will do."""

    limit: Limit
    function: ConstraintFunction
    cheap: CheapFunction | None = None


@dataclass(frozen=True, slots=True)
class BuildContext:
    """What a component may know of the data: the task, and which columns hold what."""

    task: Task
    numeric: tuple[Any, ...] = ()
    categorical: tuple[Any, ...] = ()


class ComponentFactory(Protocol):
    """Makes an unfitted scikit-learn object of parameter values."""

    def __call__(self, values: Mapping[str, Value], context: BuildContext) -> Any:
        """Import what is needed and build it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPlugin(_Named):
    """A building block of pipelines. `capped` names parameters that the data bound at fit time.

    `capped={"n_components": "columns"}` says that no more components can be had than columns
    arrive at this step: the pipeline builder lowers the value to that before the step is fitted.
    `trusted_types` are the types, by their full names, that the fitted object consists of beside
    those that skops trusts: without them `automl-admm predict` refuses to load the model.
    """

    role: Literal["transformer", "estimator"]
    factory: ComponentFactory
    parameters: tuple[Parameter | Choice, ...] = ()
    tasks: tuple[Task, ...] = TASKS
    capped: Mapping[str, Literal["columns", "rows"]] | None = None
    trusted_types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPlugin(_Named):
    """A metric by name; the factory returns what `sklearn.metrics.make_scorer` returns."""

    factory: Callable[[], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarPlugin(_Named):
    """A grammar that can be asked for by name."""

    path: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlugin(_Named):
    """A sub-command of `automl-admm`; the factory returns a click command."""

    factory: Callable[[], click.Command]
