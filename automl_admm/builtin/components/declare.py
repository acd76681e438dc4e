"""The vocabulary of components: parameters in one line, factories by name.

Nothing is imported until a component is built, so that listing components stays cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

from automl_admm.builtin.components.trusted import trusted_types
from automl_admm.core.space import Choice, Parameter, Value
from automl_admm.plugins.growth import Growth
from automl_admm.plugins.records import (
    BuildContext,
    ComponentFactory,
    ComponentPlugin,
    LearningTask,
    NeededKind,
)

Arguments = dict[str, Any]
Prepare = Callable[[Arguments], Arguments]


def real(name: str, low: float, high: float, default: float, *, log: bool = False) -> Parameter:
    """Declare a continuous parameter."""
    return Parameter(name, low, high, log=log, default=default)


def whole(name: str, low: int, high: int, default: int, *, log: bool = False) -> Parameter:
    """Declare an integer parameter."""
    return Parameter(name, low, high, kind="int", log=log, default=default)


def levels(name: str, *values: Value, default: Value) -> Parameter:
    """Declare a parameter of several ordered values: an index into them."""
    last = len(values) - 1
    return Parameter(name, 0, last, kind="int", default=values.index(default), values=values)


def switch(name: str, first: Value, second: Value) -> Parameter:
    """Declare a parameter of two values; the first is the default.

    Two values need no order, so an integer serves and no choice is spent on them.
    """
    return levels(name, first, second, default=first)


def flag(name: str, *, default: bool) -> Parameter:
    """Declare a parameter with the values on and off."""
    return switch(name, default, not default)


def choice(name: str, *labels: str) -> Choice:
    """Declare a parameter of several texts without an order; the first is the default."""
    return Choice(name, labels)


@dataclass(frozen=True, slots=True)
class Imported:
    """A factory that imports its class when called; `fixed` are arguments not searched."""

    module: str
    name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    prepare: Prepare | None = None

    def __call__(self, values: Mapping[str, Value], context: BuildContext) -> Any:  # noqa: ARG002
        """Build the object; `prepare` turns searched values into constructor arguments."""
        arguments = dict(values) if self.prepare is None else self.prepare(dict(values))
        # Searched values come last, so that they win over fixed ones.
        return getattr(import_module(self.module), self.name)(**{**self.fixed, **arguments})

    def class_taking(self, name: str, value: Value) -> type | None:
        """Return the scikit-learn class given this parameter unchanged, if there is one."""
        prepared = {name: value} if self.prepare is None else self.prepare({name: value})
        if not self.module.startswith("sklearn.") or prepared.get(name) != value:
            return None
        found: type = getattr(import_module(self.module), self.name)
        return found


def of(module: str, name: str, prepare: Prepare | None = None, **fixed: Any) -> ComponentFactory:
    """Make a factory of a class: `of("sklearn.decomposition", "PCA", svd_solver="full")`."""
    return Imported(module, name, fixed, prepare)


def transformer(
    name: str,
    summary: str,
    factory: ComponentFactory,
    *parameters: Parameter | Choice,
    needs: Iterable[NeededKind] = (),
    idle_without_gaps: Iterable[str] = (),
    **capped: Any,
) -> ComponentPlugin:
    """Declare a transformer for both tasks; the named arguments are those of `ComponentPlugin`."""
    return ComponentPlugin(
        name=name,
        summary=summary,
        role="transformer",
        factory=factory,
        parameters=parameters,
        capped=capped or None,
        trusted_types=trusted_types(name),
        needs=frozenset(needs),
        idle_without_gaps=tuple(idle_without_gaps),
    )


def estimator(
    name: str,
    summary: str,
    task: LearningTask,
    factory: ComponentFactory,
    *parameters: Parameter | Choice,
    **capped: Any,
) -> ComponentPlugin:
    """Declare an estimator for one task; `capped` as in `ComponentPlugin.capped`."""
    # Role and task aside the two records are the same.
    like = transformer(name, summary, factory, *parameters, **capped)
    return replace(like, role="estimator", tasks=(task,))


def growing(record: ComponentPlugin, size: str, growth: Growth | None = None) -> ComponentPlugin:
    """Declare the size of an estimator, which grows by scikit-learn's `warm_start`."""
    return replace(record, fidelity=size, growth=growth or Growth())
