"""Finding, loading and listing plugins. A broken one is skipped, named and explained.

Built-ins are entry points of this distribution and go through the same door as everybody's.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import metadata
from types import MappingProxyType
from typing import Any

import pluggy

from automl_admm.core.errors import PluginError, suggest
from automl_admm.core.messages import say_error
from automl_admm.plugins import specs as hookspecs
from automl_admm.plugins.api_version import check_version
from automl_admm.plugins.entries import installed_entries, module_of
from automl_admm.plugins.event_hooks import heard_hooks
from automl_admm.plugins.fingerprints import Origin
from automl_admm.plugins.hook_manager import new_manager
from automl_admm.plugins.import_probe import find_faults
from automl_admm.plugins.observer_plugin import ObserverPlugin
from automl_admm.plugins.provided import ask_once, ask_provider
from automl_admm.plugins.records import (
    TASKS,
    CommandPlugin,
    ComponentPlugin,
    ConstraintPlugin,
    ExecutorPlugin,
    ExporterPlugin,
    GrammarPlugin,
    LearningTask,
    MetricPlugin,
    StrategyPlugin,
    ThetaSolverPlugin,
    ZSolverPlugin,
)
from automl_admm.plugins.registry import HERE, DoubledNameError, Registry
from automl_admm.plugins.taken_names import NAMING, taken_by

logger = logging.getLogger(__name__)

OURS = "automl-admm"
# Distributions of this project beside the core, each with what it brings: solvers, executors,
# components and exporters.
# They are known to do no harm when they are imported; a name that only looks like ours is not.
OUR_PLUGINS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        f"{OURS}-boost": ("catboost", "lightgbm", "xgboost"),
        f"{OURS}-dask": ("dask",),
        f"{OURS}-ray": ("ray",),
        f"{OURS}-hyperopt": ("hyperopt", "hyperopt-anneal"),
        f"{OURS}-mlflow": ("mlflow",),
        f"{OURS}-optuna": ("optuna", "optuna-gp"),
        f"{OURS}-smac": ("smac", "smac-gp"),
    }
)
FAILED, WITHHELD = "failed: ", "withheld: "
ONLY = "AUTOML_ADMM_PLUGINS"


def package_of(name: str) -> str | None:
    """Return our distribution with a part of this name, such as a solver or an exporter."""
    return next((package for package, names in OUR_PLUGINS.items() if name in names), None)


def is_of_project(provider: str) -> bool:
    """Return True for the core, and for a distribution of this project beside it."""
    return provider.partition(" ")[0] in {OURS, *OUR_PLUGINS}


def is_of_others(provider: str) -> bool:
    """Return True for a distribution that is not of this project; Python objects have none."""
    return provider not in ("", HERE) and not is_of_project(provider)


@dataclass(frozen=True, slots=True)
class PluginSource:
    """The origin of a plugin, before it is imported from its `module`."""

    name: str
    provider: str
    load: Callable[[], object]
    builtin: bool = False
    module: str = ""
    distribution: metadata.Distribution | None = None

    @property
    def is_ours(self) -> bool:
        """True if this project made it: importing it is known to do no harm."""
        return self.builtin or self.provider.partition(" ")[0] in OUR_PLUGINS


@dataclass(frozen=True, slots=True)
class PluginInfo:
    """One line of `automl-admm plugins`.

    `state` is "active", or "failed: " or "withheld: " and the reason; `withheld` are names that
    another plugin claims, too, so that nobody gets them. `hears` are hooks for events of runs.
    """

    name: str
    provider: str
    state: str
    provides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unknown_hooks: tuple[str, ...] = ()
    hears: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plugins:
    """All records of the installed plugins, by kind."""

    theta_solvers: Registry[ThetaSolverPlugin] = field(
        default_factory=lambda: Registry("theta solver")
    )
    z_solvers: Registry[ZSolverPlugin] = field(default_factory=lambda: Registry("z solver"))
    strategies: Registry[StrategyPlugin] = field(default_factory=lambda: Registry("strategy"))
    constraints: Registry[ConstraintPlugin] = field(default_factory=lambda: Registry("constraint"))
    observers: Registry[ObserverPlugin] = field(default_factory=lambda: Registry("observer"))
    metrics: Registry[MetricPlugin] = field(default_factory=lambda: Registry("metric"))
    executors: Registry[ExecutorPlugin] = field(default_factory=lambda: Registry("executor"))
    grammars: Registry[GrammarPlugin] = field(default_factory=lambda: Registry("grammar"))
    exporters: Registry[ExporterPlugin] = field(default_factory=lambda: Registry("exporter"))
    commands: Registry[CommandPlugin] = field(default_factory=lambda: Registry("command"))
    components: Mapping[LearningTask, Registry[ComponentPlugin]] = field(
        default_factory=lambda: {task: Registry("component") for task in TASKS}
    )
    infos: list[PluginInfo] = field(default_factory=list)
    manager: pluggy.PluginManager = field(default_factory=new_manager)

    def registries(self, hook: str) -> Iterator[tuple[Registry[Any], Callable[[Any], bool]]]:
        """Yield the registries of a provider hook, each with the test for its records."""
        if hook != "components":
            yield getattr(self, hook), lambda _: True
            return
        for task, registry in self.components.items():
            yield registry, partial(_serves, task)


RECORDS: Mapping[str, type[Any]] = {
    "theta_solvers": ThetaSolverPlugin,
    "z_solvers": ZSolverPlugin,
    "strategies": StrategyPlugin,
    "constraints": ConstraintPlugin,
    "components": ComponentPlugin,
    "observers": ObserverPlugin,
    "metrics": MetricPlugin,
    "executors": ExecutorPlugin,
    "grammars": GrammarPlugin,
    "exporters": ExporterPlugin,
    "commands": CommandPlugin,
}


def load_plugins(
    extra: Mapping[str, object] | None = None,
    *,
    sources: Iterable[PluginSource] | None = None,
    quietly: bool = False,
) -> Plugins:
    """Load every installed plugin, and `extra` objects by name; nothing broken gets in.

    Skipped plugins are told, unless loaded `quietly` for a second time. A name doubled by `extra`
    objects is the caller's mistake, and raises.
    """
    plugins = Plugins()
    given = [
        PluginSource(name, HERE, partial(_itself, item)) for name, item in (extra or {}).items()
    ]
    found = [*(_probed(discover()) if sources is None else sources), *given]
    for source in sorted(found, key=lambda source: not source.builtin):  # a name is ours first
        plugins.infos.append(_admit(plugins, source))
    plugins.infos[:] = [_with_withheld(plugins, info) for info in plugins.infos]
    if not quietly:
        tell_skipped(plugins)
    return plugins


def tell_skipped(plugins: Plugins) -> None:
    """Warn of each skipped plugin and each skipped hook in one line."""
    for info in plugins.infos:
        for hook in info.unknown_hooks:
            told = "hook '%s' of plugin '%s' (%s) was skipped: this version does not know it"
            logger.warning(told, hook, info.name, info.provider)
        if info.state.startswith(FAILED):
            reason = info.state.removeprefix(FAILED)
            logger.warning("plugin '%s' (%s) was skipped: %s", info.name, info.provider, reason)


def discover() -> list[PluginSource]:
    """The entry points of the group, ours first; `AUTOML_ADMM_PLUGINS` narrows them."""
    wanted = os.environ.get(ONLY)
    names = None if wanted is None else {name.strip() for name in wanted.split(",") if name.strip()}
    found = [_source(*entry) for entry in installed_entries()]
    kept = [source for source in found if source.builtin or names is None or source.name in names]
    missing = (names or set()) - {source.name for source in found}
    if missing:
        name = min(missing)
        raise PluginError(
            f"{ONLY} names '{name}', which is not installed.",
            hint=suggest(name, [source.name for source in found]),
        )
    return sorted(kept, key=lambda source: (not source.builtin, source.name))


def _source(entry: metadata.EntryPoint, name: str, version: str) -> PluginSource:
    provider, module = f"{name} {version}".strip(), module_of(entry)
    load = entry.load if module else partial(_refuse, f"its entry '{entry.value}' names no module.")
    return PluginSource(entry.name, provider, load, name == OURS, module, entry.dist)


def _probed(sources: Sequence[PluginSource]) -> list[PluginSource]:
    """Return the sources; loading one that would crash or hang this process raises instead."""
    others = {
        s.name: Origin(s.provider, s.module, s.distribution)
        for s in sources
        if s.module and not s.is_ours
    }
    faults = find_faults(others) if others else {}
    return [
        replace(source, load=partial(_refuse, faults[source.name]))
        if not source.is_ours and source.name in faults
        else source
        for source in sources
    ]


def _refuse(reason: str) -> object:
    raise PluginError(reason)


def _admit(plugins: Plugins, source: PluginSource) -> PluginInfo:
    try:
        plugin = source.load()
        check_version(plugin, source.provider.partition(" ")[0])
        records = _register(plugins, plugin, source)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:
        if isinstance(problem, DoubledNameError) and source.provider == HERE:
            raise
        return PluginInfo(source.name, source.provider, f"{FAILED}{_explain(problem)}")
    callers = plugins.manager.get_hookcallers(plugin) or []
    strange, heard = _unknown_hooks(callers, plugin), heard_hooks(callers)
    return PluginInfo(source.name, source.provider, "active", _names(records), strange, heard)


def _names(records: Sequence[tuple[str, Any]]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for hook, record in records:
        found.setdefault(hook, {})[record.name] = None
    return {hook: tuple(names) for hook, names in found.items()}


def _with_withheld(plugins: Plugins, info: PluginInfo) -> PluginInfo:
    """Return the line of a plugin whose names another one claims, too."""
    reasons = dict(
        claim
        for hook in info.provides
        for registry, _ in plugins.registries(hook)
        for claim in registry.withheld_of(info.name)
    )
    if not reasons:
        return info
    reason = _explain(next(iter(reasons.values())))
    return replace(info, state=f"{WITHHELD}{reason}", withheld=tuple(reasons))


def _explain(problem: BaseException) -> str:
    """Return an error in a line; the class of one of ours says nothing to users."""
    said = say_error(problem)
    is_ours = isinstance(problem, PluginError)
    return said.removeprefix(f"{type(problem).__name__}: ") if is_ours else said


def _register(plugins: Plugins, plugin: object, source: PluginSource) -> list[tuple[str, Any]]:
    """Register all records of a plugin and return them; an exception undoes it all."""
    manager, name = plugins.manager, source.name
    if manager.has_plugin(name):
        raise PluginError(f"another plugin is named '{name}'.")
    try:
        manager.register(plugin, name=name)
        callers = manager.get_hookcallers(plugin) or []
        _check_hook_names(callers, plugin)
        records = _records(callers, plugin, ask_once if source.builtin else ask_provider)
        _add_all(plugins, records, source)
    except BaseException:
        if manager.has_plugin(name):
            manager.unregister(name=name)
        raise
    return records


def _add_all(plugins: Plugins, records: Sequence[tuple[str, Any]], source: PluginSource) -> None:
    """Add all records, or none where a name is taken: then the plugin is skipped as a whole.

    A doubled name goes to nobody, so that its owner is never a guess. Only built-ins keep their
    names in any case, and so do measures of scikit-learn.
    """
    if not source.builtin and any(hook in NAMING for hook, _ in records):
        _refuse_taken(plugins, records, source)
    claims = [
        (registry, record)
        for hook, record in records
        for registry, belongs in plugins.registries(hook)
        if belongs(record)
    ]
    counts = Counter((registry, record.name) for registry, record in claims)
    doubled = [(r, name) for (r, name), count in counts.items() if count > 1 or name in r]
    for registry, name in doubled:
        if name in registry and not is_ours(registry, name):
            registry.withhold(name, source.provider, source.name)
    if doubled:
        registry, name = doubled[0]
        raise registry.doubled(name, source.provider, source.name)
    for registry, record in claims:
        registry.add(record, source.provider, source.name)


def _refuse_taken(
    plugins: Plugins, records: Sequence[tuple[str, Any]], source: PluginSource
) -> None:
    """Raise for the name of a measure of scikit-learn, or of a comparison by one of ours."""
    limits = plugins.constraints
    ours = limits.without([one.name for one in limits if not is_ours(limits, one.name)])
    for hook, record in records:
        owner = taken_by(hook, record.name, ours)
        if owner is not None:
            registry: Registry[Any] = getattr(plugins, hook)
            raise registry.doubled(record.name, source.provider, source.name, owner)


def is_ours(registry: Registry[Any], name: str) -> bool:
    """Return True if this package provides a name."""
    return registry.provider(name).partition(" ")[0] == OURS


@cache
def _known_hooks() -> frozenset[str]:
    marker = f"{hookspecs.PROJECT}_spec"
    return frozenset(name for name, item in vars(hookspecs).items() if hasattr(item, marker))


def _check_hook_names(callers: Sequence[pluggy.HookCaller], plugin: object) -> None:
    """Raise if a plugin has an unknown hook without calling it optional."""
    known, optional = _known_hooks(), _unknown_hooks(callers, plugin)
    for caller in callers:
        if caller.name not in known and caller.name not in optional:
            hint = suggest(caller.name, known)
            raise PluginError(f"there is no hook '{caller.name}'.", hint=hint)


def _unknown_hooks(callers: Iterable[pluggy.HookCaller], plugin: object) -> tuple[str, ...]:
    """Return the optional hooks of a plugin that are unknown to this version."""
    known = _known_hooks()
    return tuple(
        caller.name
        for caller in callers
        if caller.name not in known
        and all(one.optionalhook for one in caller.get_hookimpls() if one.plugin is plugin)
    )


def _records(
    callers: Iterable[pluggy.HookCaller], plugin: object, ask: Callable[..., Iterable[Any]]
) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for caller in callers:
        wanted = RECORDS.get(caller.name)
        if wanted is None:
            continue
        for implementation in caller.get_hookimpls():
            if implementation.plugin is plugin:
                found.extend((caller.name, one) for one in ask(implementation.function, wanted))
    return found


def _itself(item: object) -> object:
    return item


def _serves(task: LearningTask, record: ComponentPlugin) -> bool:
    return task in record.tasks
