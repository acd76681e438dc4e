"""Parts of a run given as Python objects: each becomes a record, and all of them a plugin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from inspect import signature
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value
from automl_admm.plugins.records import (
    ComponentPlugin,
    ConstraintPlugin,
    ExecutorPlugin,
    MetricPlugin,
    StrategyPlugin,
    ThetaSolverPlugin,
    ZSolverPlugin,
)
from automl_admm.plugins.specs import hookimpl

# Set on an object that has served a run: a deep copy, such as that of scikit-learn's `clone`, has
# it, too.
SERVED = "_automl_admm_served"
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class GivenParts:
    """A plugin of the records that one argument of a run was given; `said` tells what they were."""

    said: str
    records: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @hookimpl
    def theta_solvers(self) -> Iterable[ThetaSolverPlugin]:
        """Return the given θ-solvers."""
        return self.records.get("theta_solvers", ())

    @hookimpl
    def z_solvers(self) -> Iterable[ZSolverPlugin]:
        """Return the given z-solvers."""
        return self.records.get("z_solvers", ())

    @hookimpl
    def strategies(self) -> Iterable[StrategyPlugin]:
        """Return the given strategies."""
        return self.records.get("strategies", ())

    @hookimpl
    def executors(self) -> Iterable[ExecutorPlugin]:
        """Return the given executors."""
        return self.records.get("executors", ())

    @hookimpl
    def metrics(self) -> Iterable[MetricPlugin]:
        """Return the given metrics."""
        return self.records.get("metrics", ())

    @hookimpl
    def constraints(self) -> Iterable[ConstraintPlugin]:
        """Return the given constraints."""
        return self.records.get("constraints", ())

    @hookimpl
    def components(self) -> Iterable[ComponentPlugin]:
        """Return the given components."""
        return self.records.get("components", ())


class UsedObject:
    """The factory of a given object, which serves one run."""

    def __init__(self, setting: str, item: Any) -> None:
        self._setting, self._item = setting, item
        try:
            setattr(item, SERVED, getattr(item, SERVED, False))
        except AttributeError:
            raise ConfigurationError(
                f"{setting}={say_value(item)} takes no attributes, so nobody sees if it was used.",
                hint=f"Give a function that makes one: {setting}=lambda: …",
            ) from None

    def __call__(self, options: object) -> Any:
        """Return the object; raise if it has served a run."""
        del options
        if getattr(self._item, SERVED):
            raise ConfigurationError(
                f"{self._setting}={say_value(self._item)} has served a run, and knows of it.",
                hint=f"Give its class, or a function that makes one: {self._setting}=lambda: …",
            )
        return self._item

    def serve(self) -> None:
        """Note that a run begins to use the object."""
        setattr(self._item, SERVED, True)


class WithoutOptions:
    """The factory of a given class or function, which takes no options."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def __call__(self, *given: Any) -> Any:
        """Call the function without the options, which come last."""
        return self._make(*given[:-1])


def name_of(setting: str, given: Any) -> str:
    """Return a name that no package has: `own-`, and the name of the class or function.

    >>> name_of("theta_solver", dict), name_of("theta_solver", lambda: None)
    ('own-dict', 'own-theta-solver')
    """
    bare = given.func if isinstance(given, partial) else given
    named = str(getattr(bare, "__name__", type(bare).__name__)).strip("_")
    text = CAMEL.sub("-", named).lower().replace("_", "-")
    found = "-".join(re.findall(r"[a-z0-9]+", text))
    return f"own-{setting.replace('_', '-') if 'lambda' in named or not found else found}"


def say_given(given: Any) -> str:
    """Say what a given object is, and its origin.

    >>> say_given(dict), say_given({})
    ('the class builtins.dict', 'an object of builtins.dict')
    """
    if isinstance(given, type):
        return f"the class {given.__module__}.{given.__qualname__}"
    if hasattr(given, "__qualname__"):
        return f"the function {given.__module__}.{given.__qualname__}"
    return f"an object of {type(given).__module__}.{type(given).__qualname__}"


def check_call(setting: str, function: Callable[..., Any], *given: str) -> None:
    """Raise unless a class or function can be called with so many arguments."""
    try:
        shown = signature(function)
    except (TypeError, ValueError):  # Python knows nothing of some functions in C
        return
    try:
        shown.bind(*given)
    except TypeError as problem:
        wanted = f"with {', '.join(given)}" if given else "without arguments"
        raise ConfigurationError(
            f"{setting}={say_value(function)} cannot be called {wanted}: {problem}.",
            hint=f"Write {setting}=lambda {', '.join(given)}: …".replace(" :", ":"),
        ) from None
