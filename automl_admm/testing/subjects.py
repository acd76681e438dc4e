"""The subjects of a check: what an installed plugin provides, each with its contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, Literal

from automl_admm.plugins.configured import configure
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.plugins.plugin_options import build_options, split_request
from automl_admm.plugins.records import NoOptions
from automl_admm.plugins.registry import Registry
from automl_admm.runs.prepare.assembly import build_solver

SOLVERS = ("theta_solvers", "z_solvers")
# The contract of each hook, a class of `automl_admm.testing.contracts`. Hooks that a plugin itself
# observes every run by are held to one contract together: the plugin is one observer.
CONTRACTS: Mapping[str, str] = MappingProxyType(
    {
        "theta_solvers": "ThetaSolverContract",
        "z_solvers": "ZSolverContract",
        "strategies": "StrategyContract",
        "components": "ComponentContract",
        "constraints": "ConstraintContract",
        "metrics": "MetricContract",
        "executors": "ExecutorContract",
        "grammars": "GrammarContract",
        "exporters": "ExporterContract",
        "commands": "CommandContract",
        "observers": "ObserverContract",
        "observing": "ObserverContract",
    }
)


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing to be checked: its hook, and its request, a name with or without options.

    The hook of a component has its task behind a colon; an observing plugin has `observing`.
    """

    place: str
    request: str

    @property
    def hook(self) -> str:
        """The hook that provides it."""
        return self.place.partition(":")[0]

    @property
    def name(self) -> str:
        """Its name alone."""
        return split_request(self.request)[0]

    @property
    def contract(self) -> str:
        """The name of its contract; a component that weighs rows has one of its own."""
        is_weigher = self.hook == "components" and _registry(self).get(self.name).role == "weigher"
        return "WeigherContract" if is_weigher else CONTRACTS[self.hook]


@cache
def installed() -> Plugins:
    """Load all plugins, once: what is wrong with others is no fault of the subject."""
    return load_plugins(quietly=True)


def _registry(subject: Subject) -> Registry[Any]:
    plugins = installed()
    if subject.hook != "components":
        found: Registry[Any] = getattr(plugins, subject.hook)
        return found
    task: Any = subject.place.partition(":")[2]
    return plugins.components[task]


def make_subject(subject: Subject) -> Any:
    """Return what the contract asks for: a solver, a record, or an observing plugin.

    Of a strategy and of an executor it is the function that starts them, and of an observer by
    name a fresh one. Options are settled, also those of a constraint and of a metric.
    """
    if subject.hook == "observing":
        return installed().manager.get_plugin(subject.request)
    if subject.hook in SOLVERS:
        return build_solver(_registry(subject), subject.request)
    return _settled(subject, _registry(subject).get(subject.name))


def _settled(subject: Subject, record: Any) -> Any:
    """Return what the contract asks for, made of a record with the options of the request."""
    given = split_request(subject.request)[1]
    if subject.hook == "constraints":
        return configure(record, given)
    if subject.hook not in ("metrics", "strategies", "executors", "observers"):
        return record
    options = build_options(subject.name, record.options, given)
    if subject.hook == "observers":
        return record.factory(options)
    if subject.hook == "metrics":
        settled = replace(record, factory=partial(record.factory, options), options=NoOptions)
        return settled if fields(options) else record
    start = record.search if subject.hook == "strategies" else record.factory
    return lambda *given: start(*given, options)


def view_of(subject: Subject) -> Literal["one-hot", "conditional"]:
    """Return the form of a whole space that a θ-solver wishes for."""
    if subject.hook != "theta_solvers":
        return "one-hot"
    view: Literal["one-hot", "conditional"] = _registry(subject).get(subject.name).joint
    return view


def title_of(subject: Subject) -> tuple[str, str]:
    """Return the kind and the name of a subject."""
    kind = "observer" if subject.hook == "observing" else _registry(subject).kind
    return kind, subject.name
