"""From names to parts: solvers, strategies, executors and limits, built by their plugins."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from queue import Empty
from typing import Any

from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import bare_limit, constraint_of
from automl_admm.constraints.undecided import with_decided_rows
from automl_admm.core.errors import ConfigurationError, PluginError, Remedy
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_value
from automl_admm.core.priors import Priors, takes_priors
from automl_admm.core.protocols import Executor
from automl_admm.execution.threads import openmp_limiter
from automl_admm.plugins.distributions import NOTHING, Behind
from automl_admm.plugins.event_hooks import EVENT_HOOKS
from automl_admm.plugins.factories import expect, make
from automl_admm.plugins.given_parts import UsedObject
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.plugin_options import build_options, split_request
from automl_admm.plugins.records import (
    TASKS,
    ComponentPlugin,
    Constraint,
    ExecutorSetting,
    LearningTask,
    Solvers,
    StrategyPlugin,
    View,
)
from automl_admm.plugins.registry import Registry
from automl_admm.runs.config import RunConfig
from automl_admm.search.guard.checked_search import checked_search
from automl_admm.search.guard.guard import (
    LONGEST_CALL,
    SHORT_CALL,
    Helper,
    Post,
    guard_theta,
    guard_z,
)
from automl_admm.search.protocol import Search, SearchProblem

EXECUTOR_METHODS = ("submit", "wait", "kill", "close")
GENERATOR_METHODS = ("__next__", "send", "throw", "close")


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chosen solver, built, and the needs of its guard."""

    solver: Any
    title: str
    stand_in: Callable[[], Any]
    begin_use: Callable[[], None] = lambda: None

    def post(self, problem: SearchProblem, tell: Callable[..., object]) -> Post:
        """Its post in one search."""

        def report(title: str, reason: str) -> None:
            tell("solver_replaced", solver=title, reason=reason)

        clock, deadline = problem.clock, problem.deadline
        return Post(self.title, self.stand_in, report, openmp_limiter(), deadline, clock)


@dataclass(frozen=True, slots=True)
class SearchPlan:
    """The chosen strategy and solvers, built; nothing has run yet."""

    strategy: StrategyPlugin
    title: str
    options: Any
    theta_solver: Chosen
    z_solver: Chosen
    view: View = "one-hot"

    def taken(self, priors: Priors) -> Priors:
        """Return the part of the priors that the solvers take."""
        theta, z = (takes_priors(one.solver) for one in (self.theta_solver, self.z_solver))
        return priors.taken_by(theta=theta, z=z)

    def search(self, problem: SearchProblem, tell: Callable[..., object]) -> Search:
        """The search over a problem, its solvers under guard; `tell` hears of those replaced."""
        problem = replace(problem, priors=self.taken(problem.priors))
        theta_solver = guard_theta(self.theta_solver.solver, self.theta_solver.post(problem, tell))
        z_solver = guard_z(self.z_solver.solver, self.z_solver.post(problem, tell))
        with closing(theta_solver), closing(z_solver):
            for chosen in (self.theta_solver, self.z_solver):
                chosen.begin_use()
            solvers = Solvers(theta_solver, z_solver, self.view)
            search = make(self.title, self.strategy.search, problem, solvers, self.options)
            is_one = all(hasattr(search, method) for method in GENERATOR_METHODS)
            expect(self.title, "generator", search, is_one=is_one)
            yield from checked_search(self.title, search, problem, openmp_limiter())


def plan_search(config: RunConfig, plugins: Plugins) -> SearchPlan:
    """Look everything up by name, to report a misspelt one before any work."""
    name, given = split_request(config.strategy)
    strategy = plugins.strategies.get(name)
    options = build_options(name, strategy.options, given)
    limit, until = openmp_limiter(), config.deadline
    theta_solver = choose_solver(plugins.theta_solvers, config.theta_solver, limit, until)
    z_solver = choose_solver(plugins.z_solvers, config.z_solver, limit, until)
    view = plugins.theta_solvers.get(split_request(config.theta_solver)[0]).joint
    title = plugins.strategies.title(name)
    return SearchPlan(strategy, title, options, theta_solver, z_solver, view)


def choose_solver(
    registry: Registry[Any], request: str, limit: Callable[[], None], deadline: float | None
) -> Chosen:
    """Build a solver from `name:key=value,…`, with its title and its stand-in.

    `limit` holds the thread that builds it to one OpenMP thread.
    """
    name, _ = split_request(request)
    helper = Helper(limit)
    solver = _in_time(
        helper, partial(build_solver, registry, request), registry.title(name), deadline
    )
    chosen = Chosen(
        solver, registry.title(name), lambda: build_solver(registry, registry.stand_in().name)
    )
    factory = registry.get(name).factory
    return replace(chosen, begin_use=factory.serve) if isinstance(factory, UsedObject) else chosen


def _in_time(helper: Helper, build: Callable[[], Any], title: str, deadline: float | None) -> Any:
    """Build in a thread of its own: a factory may hang like any call of a solver.

    It is given five seconds at least: its imports may come from a slow disk.
    """
    left = LONGEST_CALL if deadline is None else max(deadline - time.monotonic(), SHORT_CALL)
    patience = min(LONGEST_CALL, left)
    try:
        built, problem = helper.call(build, patience)
    except Empty:
        reason = f"its factory did not come back within {patience:.3g} s"
        raise PluginError(f"{title} cannot be made: {reason}.") from None
    finally:
        helper.stop()
    if problem is not None:
        raise problem
    return built


def build_solver(registry: Registry[Any], request: str) -> Any:
    """Build a solver, or an observer, from `name:key=value,…`."""
    name, given = split_request(request)
    record = registry.get(name)
    options = build_options(name, record.options, given)
    return make(registry.title(name), record.factory, options)


def check_executor(config: RunConfig, plugins: Plugins) -> None:
    """Raise if the executor, an observer or one of their options does not exist."""
    requests: list[tuple[Registry[Any], str]] = [(plugins.executors, config.executor)]
    requests += [(plugins.observers, one) for one in config.observers]
    for registry, request in requests:
        name, given = split_request(request)
        build_options(name, registry.get(name).options, given)


def build_executor(
    config: RunConfig, plugins: Plugins, work: Any, scratch: Path, behind: Behind = NOTHING
) -> Executor:
    """Build the chosen executor with its work, given the distributions behind it."""
    name, given = split_request(config.executor)
    record = plugins.executors.get(name)
    setting = ExecutorSetting(
        config.n_jobs,
        config.memory_limit,
        scratch,
        config.default_workers,
        config.server,
        config.deadline,
        behind.plugins,
        behind.libraries,
    )
    options, title = build_options(name, record.options, given), title_of_executor(config, plugins)
    executor: Executor = make(title, record.factory, work, setting, options)
    is_one = all(hasattr(executor, method) for method in EXECUTOR_METHODS)
    expect(title, "executor", executor, is_one=is_one)
    return executor


def title_of_executor(config: RunConfig, plugins: Plugins) -> str:
    """Return the chosen executor in words, with the package that provides it."""
    return plugins.executors.title(split_request(config.executor)[0])


def build_observers(config: RunConfig, plugins: Plugins) -> tuple[tuple[str, object], ...]:
    """Build the observers asked for, each beside its name; raise if one would never be called."""
    built, registry = [], plugins.observers
    for request in config.observers:
        name, observer = split_request(request)[0], build_solver(registry, request)
        if not any(hasattr(observer, hook) for hook in EVENT_HOOKS):
            raise PluginError(
                f"{registry.title(name)} has no method of an observer.",
                hint=f"Known: {', '.join(EVENT_HOOKS)}.",
            )
        built.append((name, observer))
    return tuple(built)


def resolve_constraints(
    config: RunConfig, plugins: Plugins, task: LearningTask | None = None
) -> tuple[Constraint, ...]:
    """Constraints given as text become records; a name may have a limit on either side.

    Raise if one is of another task than this one.
    """
    settings = {"cost": config.cost, "column_cost": config.column_cost}
    found = tuple(_constraint(item, plugins, task, settings) for item in config.constraints)
    check_names([constraint.limit for constraint in found])
    # What hangs on a baseline has no number yet.
    check_ranges([constraint.limit for constraint in found if constraint.of_baseline is None])
    return with_decided_rows(found)


def check_confidences(constraints: Sequence[Constraint], config: RunConfig) -> None:
    """Raise if a limit asks for a confidence in a run without a certificate."""
    asked = next((one for one in constraints if one.limit.confidence is not None), None)
    if asked is None or config.certify is not None:
        return
    less, more = f"eave out '@ {asked.limit.confidence:.12g}'", "dd {certify=0.95}"
    # What is measured once a fit, as a memory, has no test at all.
    is_tested = asked.kind == "statistical"
    raise ConfigurationError(
        f"'{asked.limit}' asks for a proof, and this run makes none.",
        hint=Remedy(
            f"A{more}, or l{less}." if is_tested else f"L{less}, or a{more} if it has a test."
        ),
    )


def _constraint(
    given: object, plugins: Plugins, task: LearningTask | None, settings: Mapping[str, Any]
) -> Constraint:
    if isinstance(given, Constraint):
        return given
    if not isinstance(given, str):
        hint = 'Give text such as "latency_us <= 50", or Constraint(Limit(name, bound), function).'
        raise ConfigurationError(f"{say_value(given)} is no limit.", hint=hint)
    return constraint_of(read_text(given), plugins.constraints, task, settings)


def read_limit(text: str, example: str) -> Limit:
    """Read a limit without groups; `example` is a limit as it should be written."""
    return bare_limit(read_text(text, example))


def check_names(limits: Sequence[Limit]) -> None:
    """Raise if two limits on one name are on the same side: of a range there are two ends."""
    sides = [(limit.name, limit.at_least) for limit in limits]
    for side in sides:
        if sides.count(side) > 1:
            sign = ">=" if side[1] else "<="
            raise ConfigurationError(
                f"there are two limits on '{side[0]}' with '{sign}'.", hint="Keep the tighter."
            )


def check_ranges(limits: Sequence[Limit]) -> None:
    """Raise if no number is within both limits on one name."""
    least = {limit.name: limit for limit in limits if limit.at_least}
    for limit in limits:
        other = least.get(limit.name)
        if not limit.at_least and other is not None and other.bound > limit.bound:
            raise ConfigurationError(f"no number is within both '{other}' and '{limit}'.")


def in_known_order(
    config: RunConfig, constraints: tuple[Constraint, ...]
) -> tuple[RunConfig, tuple[Constraint, ...]]:
    """Return the settings and their limits in the order of the continued run.

    The log has the values of limits by place. Other limits than before keep the order given.
    """
    if (before := config.run_before()) is None:
        return config, constraints
    known = [(one["name"], one["at_least"]) for one in before["settings"]["limits"]]
    given = [(one.limit.name, one.limit.at_least) for one in constraints]
    if given == known or sorted(given) != sorted(known):
        return config, constraints
    places = [given.index(one) for one in known]
    texts: Sequence[str | Constraint] = [config.constraints[place] for place in places]
    return replace(config, constraints=tuple(texts)), tuple(constraints[place] for place in places)


def components_for(
    task: LearningTask, plugins: Plugins, held: Collection[str]
) -> tuple[Registry[ComponentPlugin], frozenset[str], frozenset[str]]:
    """Return the components of a task, the names of those of other tasks, and those held back.

    Held back are components that are installed by now, but that the run began without.
    """
    components = plugins.components[task]
    back = frozenset(r.name for r in components if r.name in held and not r.missing)
    components = components.without(back)
    everywhere = {record.name for each in TASKS for record in plugins.components[each]} - back
    elsewhere = frozenset(everywhere - {record.name for record in components})
    return components, elsewhere, back
