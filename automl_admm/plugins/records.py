"""The records of plugins: names, factories and promises, checked when they are made.

A factory imports its libraries when it is called; the declaring module never does. So listing
plugins stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from automl_admm.core.errors import PluginError
from automl_admm.core.evidence import Evidence
from automl_admm.core.limits import DeclaredRange, Limit
from automl_admm.core.messages import say_value
from automl_admm.core.protocols import Executor
from automl_admm.core.run import SavedRun
from automl_admm.core.structure.pipeline_space import Item
from automl_admm.plugins.component_record import AXES, ROLES, ComponentFactory, ComponentPlugin
from automl_admm.plugins.contexts import (
    FEW_LEVELS,
    GAPS,
    KINDS,
    TASKS,
    BuildContext,
    ExecutorSetting,
    LearningTask,
    NeededKind,
    TableFact,
)
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.named_record import NAME, NamedRecord
from automl_admm.plugins.record_with_options import NoOptions, RecordWithOptions
from automl_admm.plugins.solver_records import (
    Solvers,
    StrategyPlugin,
    ThetaSolverPlugin,
    View,
    ZSolverPlugin,
)

# Names of other modules stand here, too: records are imported with what they speak of.
__all__ = [
    "AXES",
    "FEW_LEVELS",
    "GAPS",
    "KINDS",
    "NAME",
    "ROLES",
    "TASKS",
    "Better",
    "BuildContext",
    "ChangingFunction",
    "CheapFunction",
    "ColumnFunction",
    "CommandPlugin",
    "ComponentFactory",
    "ComponentPlugin",
    "Constraint",
    "ConstraintFunction",
    "ConstraintKind",
    "ConstraintPlugin",
    "ExecutorPlugin",
    "ExecutorSetting",
    "ExporterPlugin",
    "GrammarPlugin",
    "GroupFunction",
    "GroupedFunction",
    "LearningTask",
    "LimitSetting",
    "Masks",
    "Measured",
    "MetricPlugin",
    "NeededKind",
    "NoOptions",
    "NumberedConstraint",
    "SetConstraint",
    "Solvers",
    "StrategyPlugin",
    "TableFact",
    "Target",
    "ThetaSolverPlugin",
    "View",
    "ZSolverPlugin",
]

if TYPE_CHECKING:
    import click

# A constraint is measured in one of these ways.
WAYS = ("function", "grouped", "numbered", "columned", "changing", "by_setting", "configured")
# Options of a limit that name classes of the target, of any constraint.
CLASS_OPTIONS = frozenset({"class", "true", "predicted"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorPlugin(RecordWithOptions):
    """A way to run evaluations; the factory gets the work, the setting and the options.

    >>> ExecutorPlugin(name="cluster", summary="ours", factory=LocalExecutor).options is NoOptions
    True
    """

    factory: Callable[[Any, ExecutorSetting, Any], Executor]


Measured = float | Evidence
ConstraintFunction = Callable[[EvaluatedPipeline], Measured]
Masks = Mapping[str, NDArray[np.bool_]]
GroupedFunction = Callable[[EvaluatedPipeline, Masks], Measured]
ColumnFunction = Callable[[EvaluatedPipeline, NDArray[np.float64]], Measured]
ChangingFunction = Callable[[EvaluatedPipeline, Any], Measured]
NumberedConstraint = Callable[[float], "ConstraintPlugin"]
ConfiguredConstraint = Callable[[Any], "ConstraintPlugin"]
CheapFunction = Callable[[tuple[Item, ...]], float]
GroupFunction = Callable[[Any], NDArray[np.object_]]
ConstraintKind = Literal["checked", "measured", "statistical"]
LimitSetting = Literal["", "cost", "column_cost"]  # options that say how it is measured
SetConstraint = Callable[[Any], "ConstraintPlugin"]
Target = Literal["any", "classes", "two classes", "class pair", "a quantity"]
Better = Literal["", "smaller", "larger"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstraintPlugin(RecordWithOptions):
    """A named measurement for limits, and the range of its values if known.

    It returns a number, or a record such as `Rate` as the evidence of a certificate. `kind` is
    `checked` for a fact equal on any rows, `measured` for a cost, and `statistical` for a function
    of `y`, `decisions`, `predictions` and `sensitive` alone: it is tried before the search on right
    predictions, and `NAME_gap[column]` and `NAME_ratio[column]` come with it. `target` is the kind
    of prediction it needs. A decision threshold is chosen for a statistical one; set
    `uses_decisions` to False if it looks at scores alone, as an AUROC does, to save that time.

    To compare groups, give `grouped` instead of `function`: its second argument has a mask of the
    rows for the name of every group. Limits on it are written `NAME[column]`.

    To compare scores with a column of numbers, give `columned` instead: its second argument has
    the number of every row in the column, NaN where it is missing.

    To ask the pipeline about rows in which a column of numbers is changed, give `changing` instead:
    its second argument is the label of the column in `X`. It asks the pipeline for all answers that
    it compares; before the search a constant answers. It looks at scores: a statistical one has
    `uses_decisions` set to False, since thresholds are chosen where no pipeline is at hand. A
    `function` that asks the pipeline about rows of its own has `asks_model` set to True, and keeps
    to the same.

    For a name that ends in a number of the user's, such as `errors_above_2.5`, give `numbered`
    instead of both: the function from that number to a record. It may raise a ValueError that says
    which numbers it takes.

    For one measured by what the user gives in an option, name this option as `setting`, and give
    `by_setting` instead: the function from its value to a record.

    For one with options, such as `reject_rate{band=0.1}`, give a dataclass of `options` and as
    `configured` the function from an instance of it to a record of the same kind and target. It may
    raise a ValueError, too.

    For a value known without training, give as `cheap` the function from the steps of a pipeline to
    it; solvers may ask for it at any number of points, and excluded pipelines are never trained.

    One for "two classes" is asked of any class of several, too, as in `NAME{class="a"}`, with 1 for
    this class in `y` and `decisions`. Set `rows_apart` for a `Rate` whose rows are other ones for
    every class, as those of a recall are: the mean over classes then has a sharper bound. One for a
    "class pair" is written `NAME{true="a",predicted="b"}`: 1 in `y` is the true class and 1 in
    `decisions` the predicted one.

    `better` says which values anybody wants, "smaller" or "larger" ones; it is empty where that
    hangs on the user. A limit from the other side is warned of.

    With `takes_weights` a statistical function heeds `weights`, the weights of the rows, if there
    are any; data with weights refuse a limit without it.

    With `counts_undecided` it is about rows that the model leaves undecided, which have −1 in
    `decisions`: limiting it from above, without groups, allows the model to leave some. All other
    measures of decisions are then given the decided rows alone.

    `timed_calls` is the number of calls timed in the search: a final fit with more of them
    (`EvaluatedPipeline.calls`) is given more time. A cost that `adds_up` is for an ensemble about
    the sum of those of its members, as latency is; others are measured on the whole alone. With
    `first_fold` the value of the first fold stands for all: set it for what is slow to measure and
    hardly differs between folds.

    A `measured` one is taken to need rows from which the model did not learn. There are none for an
    ensemble or a mean of fold models, so neither ships within such a limit. Set `any_rows` for a
    cost such as memory, whose value is the same on any rows; `adds_up` says it, too.

    >>> ConstraintPlugin(name="steps", summary="steps", function=lambda evaluated: 1.0).kind
    'measured'
    """

    function: ConstraintFunction | None = None
    grouped: GroupedFunction | None = None
    numbered: NumberedConstraint | None = None
    setting: LimitSetting = ""
    by_setting: SetConstraint | None = None
    configured: ConfiguredConstraint | None = None
    columned: ColumnFunction | None = None
    changing: ChangingFunction | None = None
    lowest: float | None = 0.0
    highest: float | None = None
    cheap: CheapFunction | None = None
    kind: ConstraintKind = "measured"
    target: Target = "any"
    better: Better = ""
    uses_decisions: bool = True
    takes_weights: bool = False
    rows_apart: bool = False
    counts_undecided: bool = False
    asks_model: bool = False
    timed_calls: int = 0
    adds_up: bool = False
    first_fold: bool = False
    any_rows: bool = False

    def __post_init__(self) -> None:
        RecordWithOptions.__post_init__(self)
        if sum(getattr(self, one) is not None for one in WAYS) != 1:
            named = f"{', '.join(WAYS[:-1])} and {WAYS[-1]}"
            raise PluginError(f"constraint '{self.name}' needs one of {named}.")
        self._check_options()
        given = {
            "kind": (self.kind, ConstraintKind),
            "target": (self.target, Target),
            "better": (self.better, Better),
            "setting": (self.setting, LimitSetting),
        }
        for what, (value, kinds) in given.items():
            if value not in get_args(kinds):
                named = ", ".join(map(repr, get_args(kinds)))
                message = f"constraint '{self.name}': its {what} must be one of {named}"
                raise PluginError(f"{message}, not {say_value(value)}.")
        for what in (*WAYS, "cheap"):
            if (value := getattr(self, what)) is not None and not callable(value):
                raise PluginError(f"constraint '{self.name}': its {what} must be callable.")
        asks = self.changing is not None or self.asks_model
        if asks and self.kind == "statistical" and self.uses_decisions:
            said = "what asks about changed rows must have uses_decisions=False"
            raise PluginError(f"constraint '{self.name}': {said}.")
        calls: Any = self.timed_calls
        if isinstance(calls, bool) or not isinstance(calls, int) or calls < 0:
            said = f"its timed_calls must be a whole number from 0 on, not {say_value(calls)}"
            raise PluginError(f"constraint '{self.name}': {said}.")

    def _check_options(self) -> None:
        if (self.configured is None) != (not fields(self.options)):
            raise PluginError(f"constraint '{self.name}': options and configured go together.")
        for name in CLASS_OPTIONS.intersection(one.name for one in fields(self.options)):
            said = f"'{name}' names a class in every limit, and can be no option"
            raise PluginError(f"constraint '{self.name}': {said}.")


@dataclass(frozen=True, slots=True)
class Constraint:
    """A limit together with its measuring function; any callable will do.

    `groups` names the group of every row, given the sensitive columns, for a limit on groups: every
    part of the rows then has some of each group. With `of_baseline` the bound is so many times the
    value of the first pipeline of the search, and unknown before that is measured. A value outside
    the `declared` range makes an evaluation invalid. One that `asks_model` is measured on rows that
    it changes, and one that `counts_undecided` is about rows without a decision. A cost with
    `any_rows` has the same value on rows that the model learned from.
    """

    limit: Limit
    function: ConstraintFunction
    cheap: CheapFunction | None = None
    kind: ConstraintKind = "measured"
    target: Target = "any"
    groups: GroupFunction | None = None
    of_baseline: float | None = None
    uses_decisions: bool = True
    takes_weights: bool = False
    timed_calls: int = 0
    adds_up: bool = False
    first_fold: bool = False
    declared: DeclaredRange | None = None
    asks_model: bool = False
    counts_undecided: bool = False
    better: Better = ""
    any_rows: bool = False

    @property
    def allows_undecided(self) -> bool:
        """Return True for a limit that lets the model leave rows undecided."""
        return self.counts_undecided and self.groups is None

    @property
    def is_told(self) -> bool:
        """Return True if predictions of the rows alone tell its value."""
        return self.kind == "statistical" and not self.asks_model

    @property
    def needs_unseen(self) -> bool:
        """Return True if the model itself is asked, about rows that it did not learn from."""
        is_cost = self.kind == "measured" and (self.any_rows or self.adds_up)
        return not (self.is_told or self.kind == "checked" or is_cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricPlugin(RecordWithOptions):
    """A metric by name; the factory returns what `sklearn.metrics.make_scorer` returns.

    Without `options` it is called with nothing, with them with an instance: `--metric cost:fn=5`.

    It sees the labels of the data, and all of them in a parameter `classes` if it has one.

    >>> MetricPlugin(name="gini", summary="2 AUROC - 1", factory=dict).name
    'gini'
    """

    factory: Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class GrammarPlugin(NamedRecord):
    """A grammar with a name.

    `quick` are pipelines of it that are fitted within a moment. A timed search evaluates the first
    one that the task at hand has before all others: so it soon has a result that is better than
    none, however long the pipeline takes at which it begins.

    >>> GrammarPlugin(name="text", summary="for texts", path=Path("nowhere.lark"))
    Traceback (most recent call last):
    automl_admm.core.errors.PluginError: grammar 'text': there is no file 'nowhere.lark'.
    """

    path: Path
    quick: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        NamedRecord.__post_init__(self)
        if not isinstance(self.path, Path) or not self.path.is_file():
            raise PluginError(f"grammar '{self.name}': there is no file '{self.path}'.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandPlugin(NamedRecord):
    """A sub-command of `automl-admm`; the factory returns a click command.

    >>> CommandPlugin(name="deploy", summary="ship a run", factory=lambda: None).name
    'deploy'
    """

    factory: Callable[[], click.Command]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterPlugin(NamedRecord):
    """A form of another tool: `automl-admm export RUN --to NAME:TARGET` calls `write`.

    It writes all of the run to the target and returns a line for the screen; `target` shows the
    user how a target is written.

    >>> ExporterPlugin(name="csv", summary="a table", target="FILE", write=lambda run, to: to).name
    'csv'
    """

    target: str
    write: Callable[[SavedRun, str], str]

    def __post_init__(self) -> None:
        NamedRecord.__post_init__(self)
        if not callable(self.write):
            raise PluginError(
                f"plugin '{self.name}': write must be callable, not {say_value(self.write)}."
            )
