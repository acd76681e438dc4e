"""Python objects in place of names: solvers, strategies, executors, metrics, limits, components."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value
from automl_admm.grammar.given_text import GrammarText, is_text_of_grammar
from automl_admm.plugins.given_parts import (
    GivenParts,
    UsedObject,
    WithoutOptions,
    check_call,
    name_of,
    say_given,
)
from automl_admm.plugins.named_record import NAME
from automl_admm.plugins.records import (
    ComponentPlugin,
    Constraint,
    ConstraintPlugin,
    ExecutorPlugin,
    MetricPlugin,
    StrategyPlugin,
    ThetaSolverPlugin,
    ZSolverPlugin,
)
from automl_admm.runs.validation import refuse_iterator, several

SOLVER_METHODS = ("begin", "ask", "tell")
SUMMARY = "given as an object"
PLUGINS = "extra_plugins"


def take_objects(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a run with names in place of objects, which come as plugins.

    Settings of a wrong kind stay as they are: the checks of `RunConfig` tell them.
    """
    found, given = dict(settings), dict[str, GivenParts]()
    for setting, (hook, read) in PARTS.items():
        value = found.get(setting)
        record = None if value is None or isinstance(value, str) else read(setting, value)
        if record is not None:
            found[setting] = record.name
            given[setting] = GivenParts(_said(record, value), {hook: (record,)})
    if "constraints" in found:
        found["constraints"], records = _parted(found["constraints"])
        given |= _several("constraints", records)
    if "components" in found:
        found["components"] = components_of(found["components"])
        given |= _several("components", found["components"])
    if "observers" in found:
        found["observers"] = several("observers", found["observers"])
    if isinstance(grammar := found.get("grammar"), str) and is_text_of_grammar(grammar):
        found["grammar"] = GrammarText(grammar)
    return found | {PLUGINS: {**found.get(PLUGINS, {}), **given}}


def _said(record: Any, value: Any) -> str:
    return f"the record '{record.name}'" if record is value else say_given(value)


def _several(setting: str, records: tuple[Any, ...]) -> dict[str, GivenParts]:
    said = ", ".join(f"the record '{record.name}'" for record in records)
    return {setting: GivenParts(said, {setting: records})} if records else {}


def _solver(kind: type[Any], setting: str, given: Any) -> Any:
    """Return the record of a class, a function or an object that is a solver; else None."""
    if isinstance(given, kind):
        return given
    is_solver = all(callable(getattr(given, name, None)) for name in SOLVER_METHODS)
    if is_solver and not isinstance(given, type):
        factory: Callable[..., Any] = UsedObject(setting, given)
    elif callable(given):
        check_call(setting, given)
        factory = WithoutOptions(given)
    else:
        return None
    return kind(name=name_of(setting, given), summary=SUMMARY, factory=factory)


def _strategy(setting: str, given: Any) -> Any:
    if isinstance(given, StrategyPlugin) or not callable(given):
        return given if isinstance(given, StrategyPlugin) else None
    check_call(setting, given, "problem", "solvers")
    search = WithoutOptions(given)
    return StrategyPlugin(name=name_of(setting, given), summary=SUMMARY, search=search)


def _executor(setting: str, given: Any) -> Any:
    if isinstance(given, ExecutorPlugin):
        return given
    if not callable(given):
        if hasattr(given, "submit"):
            raise ConfigurationError(
                f"{setting}={say_value(given)} was made without the work of the run.",
                hint="Give its class, or a function of (work, setting) that makes one.",
            )
        return None
    check_call(setting, given, "work", "setting")
    factory = WithoutOptions(given)
    return ExecutorPlugin(name=name_of(setting, given), summary=SUMMARY, factory=factory)


def _metric(setting: str, given: Any) -> Any:
    """Return the record of a metric; a scorer or a function stays as it is."""
    del setting
    return given if isinstance(given, MetricPlugin) else None


# The hook of each setting, and the reader of its objects.
PARTS: Mapping[str, tuple[str, Callable[[str, Any], Any]]] = MappingProxyType(
    {
        "theta_solver": ("theta_solvers", partial(_solver, ThetaSolverPlugin)),
        "z_solver": ("z_solvers", partial(_solver, ZSolverPlugin)),
        "strategy": ("strategies", _strategy),
        "executor": ("executors", _executor),
        "scoring": ("metrics", _metric),
    }
)


def components_of(given: Any) -> tuple[ComponentPlugin, ...]:
    """Return the records of components that were given; raise if one is none."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigurationError(
            f"components must be a list of ComponentPlugin, not {say_value(given)}."
        )
    refuse_iterator("components", given)
    found = tuple(given)
    for record in found:
        if not isinstance(record, ComponentPlugin):
            raise ConfigurationError(
                f"components must be a list of ComponentPlugin, and {say_value(record)} is none."
            )
    return found


def _parted(given: Iterable[Any]) -> tuple[tuple[Any, ...], tuple[ConstraintPlugin, ...]]:
    """Part limits from definitions: records, and functions by their name."""
    limits, records = [], []
    for item in given:
        if isinstance(item, ConstraintPlugin):
            records.append(item)
        elif callable(item) and not isinstance(item, Constraint) and _is_definition(item):
            name = item.__name__
            records.append(ConstraintPlugin(name=name, summary=SUMMARY, function=item))
        else:
            limits.append(item)
    texts = [item for item in limits if isinstance(item, str)]
    for record in records:
        _check_used(record.name, texts)
    return tuple(limits), tuple(records)


def _is_definition(item: Any) -> bool:
    """Return True for a function with a name of its own; others are told as no limit."""
    return hasattr(item, "__code__") and bool(NAME.fullmatch(item.__name__))


def _check_used(name: str, texts: Iterable[str]) -> None:
    """Raise if no limit is on a defined measure: the run would ignore it in silence."""
    around = (r"(?<![\w-])((min|max|macro)_)?", r"(_[\d.]+)?(_gap|_ratio)?(?![\w-])")
    used = re.compile(re.escape(name).join(around))
    if not any(used.search(text) for text in texts):
        raise ConfigurationError(
            f"constraints defines '{name}', and no limit is on it.",
            hint=f'Add one beside it, such as "{name} <= 0.1".',
        )
