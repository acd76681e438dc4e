"""The record of a component, a building block of pipelines."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value
from automl_admm.core.space import Array, Choice, Condition, Parameter, Value
from automl_admm.plugins.contexts import KINDS, TASKS, BuildContext, LearningTask, NeededKind
from automl_admm.plugins.growth import Growth
from automl_admm.plugins.named_record import NamedRecord

ROLES, AXES = ("transformer", "estimator", "weigher"), ("columns", "rows")


class Weigher(Protocol):
    """Weighs the rows that a pipeline learns from."""

    def weigh(self, y: Any, groups: Any, weights: Array) -> Array:
        """Return a weight from 0 on for each row; only their ratios count.

        `y` has the number of the class of each row, or its quantity. `groups` has equal numbers
        where no limit tells two rows apart, and `weights` are those of the rows so far.
        """


class ComponentFactory(Protocol):
    """Makes an unfitted scikit-learn object of parameter values, or a weigher."""

    def __call__(self, values: Mapping[str, Value], context: BuildContext) -> Any:
        """Import the library and build the object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPlugin(NamedRecord):
    """A building block of pipelines. `capped` names parameters bounded by the data at fit time.

    `capped={"n_components": "columns"}` limits the components to the columns arriving at this step:
    the pipeline builder lowers the value before the step is fitted. `trusted_types` are the full
    names of types in the fitted object beside those trusted by skops: without them
    `automl-admm predict` refuses to load the model. `needs` are kinds of columns: with a table that
    lacks one of them, the grammar leaves the component out, as one of another task. "groups" are
    limits that compare groups of rows.

    The factory of a `weigher` makes a `Weigher` of the rows to learn from. It stands anywhere
    before the estimator but in no branch, and no data flow through it.

    `idle_without_gaps` names parameters that change nothing where no number is missing, such as the
    strategy of an imputer: a grammar that begins with the component searches them in tables with
    gaps alone, and has their defaults elsewhere.

    `fidelity` names the whole number of an estimator that its time grows with, such as
    "n_estimators": where a solver asks for a rough answer, the estimator has a share of it and
    learns from all rows; without it a share of the rows stands for that. With a `growth` a later
    fit of a larger size goes on from a smaller one; see `Growth`.

    A component with a `missing` part, such as a library of the wrong version, cannot be built here:
    say in a few words what is missing and how to get it. A grammar leaves it out if it imports it
    by `%import?`, and refuses it otherwise.

    >>> ComponentPlugin(name="twice", summary="doubles", role="transformer", factory=dict).tasks
    ('classification', 'regression')
    """

    role: Literal["transformer", "estimator", "weigher"]
    factory: ComponentFactory
    parameters: tuple[Parameter | Choice, ...] = ()
    tasks: tuple[LearningTask, ...] = TASKS
    capped: Mapping[str, Literal["columns", "rows"]] | None = None
    trusted_types: tuple[str, ...] = ()
    needs: frozenset[NeededKind] = frozenset()
    idle_without_gaps: tuple[str, ...] = ()
    missing: str = ""
    fidelity: str = ""
    growth: Growth | None = None

    def __post_init__(self) -> None:
        NamedRecord.__post_init__(self)
        problem = (
            self._wrong_kind()
            or wrong_parameters(self.parameters)
            or self._wrong_names()
            or self._wrong_types()
        )
        if problem:
            raise PluginError(f"component '{self.name}': {problem}.")

    @property
    def defaults(self) -> dict[str, Value]:
        """The values of its parameters by default; one with a condition may rightly be absent."""
        return {item.name: _default(item) for item in self.parameters if item.when is None}

    def _wrong_kind(self) -> str | None:
        """Return the mistake in the role, the tasks or the needs, if there is one."""
        if self.role not in ROLES:
            return f"its role must be one of {ROLES}, not {say_value(self.role)}"
        tasks: Any = self.tasks
        if isinstance(tasks, str) or not tasks or not set(tasks) <= set(TASKS):
            return f"its tasks must be some of {TASKS}, not {say_value(tasks)}"
        needs: Any = self.needs
        if not isinstance(needs, frozenset) or not needs <= set(KINDS):
            return f"its needs must be a frozenset of some of {KINDS}, not {say_value(needs)}"
        missing: Any = self.missing
        if not isinstance(missing, str):
            return f"its missing part must be told as text, not {say_value(missing)}"
        return None

    def _wrong_names(self) -> str | None:
        """Return the mistake in what names parameters, if there is one."""
        names = [one.name for one in self.parameters]
        for name, axis in (self.capped or {}).items():
            if name not in names:
                return f"capped names '{name}', which is none of its parameters"
            if axis not in AXES:
                return f"capped['{name}'] must be 'columns' or 'rows', not {say_value(axis)}"
        if self.fidelity and not self._is_size(self.fidelity):
            return f"fidelity names {say_value(self.fidelity)}, no whole number of an estimator"
        growth: Any = self.growth
        if growth is not None and not (isinstance(growth, Growth) and self.fidelity):
            return "growth must be a Growth, and fidelity must name what grows"
        idle: Any = self.idle_without_gaps
        if isinstance(idle, str) or not set(idle) <= set(names):
            return f"idle_without_gaps must name parameters of it, not {say_value(idle)}"
        return None

    def _wrong_types(self) -> str | None:
        """Return the mistake in `trusted_types`, if there is one."""
        types: Any = self.trusted_types
        if isinstance(types, str) or not all(isinstance(one, str) and "." in one for one in types):
            named = say_value(types)
            return f"its trusted_types must be full names such as 'package.Class', not {named}"
        return None

    def _is_size(self, name: object) -> bool:
        """Return True if a parameter is a whole number above 0 of an estimator."""
        sizes = [p for p in self.parameters if isinstance(p, Parameter) and p.kind == "int"]
        is_one = any(one.name == name and one.low >= 1 for one in sizes)
        return self.role == "estimator" and is_one


def _default(item: Parameter | Choice) -> Value:
    if isinstance(item, Choice):
        return item.value(item.alternatives[0])
    return item.value(item.default_unit())


def wrong_parameters(parameters: tuple[Any, ...]) -> str | None:
    """Return the mistake in the parameters of a component, if there is one."""
    known: dict[str, Parameter | Choice] = {}
    for one in parameters:
        if not isinstance(one, Parameter | Choice):
            return f"its parameters must be Parameter or Choice, not {say_value(one)}"
        if one.name in known:
            return f"it has two parameters named '{one.name}'"
        if (twice := _written_twice(one)) is not None:
            return f"parameter '{one.name}' has two values that a grammar writes as {twice}"
        known[one.name] = one
    for one in parameters:
        if one.when is not None and (problem := _wrong_condition(one.when, known)):
            return f"parameter '{one.name}' {problem}"
    return None


def _written_twice(one: Parameter | Choice) -> str | None:
    """Return the text of two values, such as 1 and '1': a grammar could not tell them apart."""
    written = (v if isinstance(v, str) else json.dumps(v, default=repr) for v in one.values)
    texts = Counter(written)
    return next((text for text, count in texts.items() if count > 1), None)


def _wrong_condition(when: Condition, known: Mapping[str, Parameter | Choice]) -> str | None:
    """Return the reason for a condition that can never hold: no such choice, or no such label."""
    decision = known.get(when.decision)
    if not isinstance(decision, Choice):
        names = [name for name, one in known.items() if isinstance(one, Choice)]
        return f"hangs on '{when.decision}', which is none of its choices ({names})"
    strange = [label for label in when.alternatives if label not in decision.alternatives]
    if strange:
        return f"hangs on '{when.decision}' being {say_value(strange[0])}, which it never is"
    return None
