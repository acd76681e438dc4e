"""The methods of limits_experiment.py: each spends so many evaluations of the one objective.

Those of the package search as `fit` does, but for the final fit. FLAML's BlendSearch is given the
same decisions and parameters as one flat space, the same start, and the limits as its
`metric_constraints`; what it asks for again costs it nothing, as it costs the others nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
from limits_objective import GAP, LATENCY, CachedWork, Outcome, bounded

from automl_admm.core.space import Candidate, Choice, Parameter, SearchSpace
from automl_admm.plugins.records import Solvers
from automl_admm.runs.driving.budget import Reserve
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.prepare.assembly import SearchPlan, build_executor, plan_search
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.search_run import budget_of, run_search, teller
from automl_admm.search.protocol import Search, SearchProblem
from automl_admm.search.starts import default_start
from automl_admm.store.memory import MemoryStore

MOST_REPEATS = 20


@dataclass(frozen=True)
class Trial:
    """What a run is made of: bounds on latency and gap (none: without limits), seed, budget."""

    bounds: tuple[float, ...]
    seed: int
    budget: int


@dataclass(frozen=True)
class Spent:
    """The outcomes of a run in their order, and the seconds of the processor besides them."""

    outcomes: tuple[Outcome, ...]
    solver_seconds: float


Method = Callable[[Preparation, CachedWork, Trial], None]


def spend(method: Method, prepared: Preparation, work: CachedWork, trial: Trial) -> Spent:
    """Run a method, and see what it evaluated and what it took besides."""
    told = (LATENCY, GAP) if trial.bounds else ()
    fresh = replace(work, told=told, seconds=0.0, known={})
    begun = time.process_time()
    method(prepared, fresh, trial)
    solver_seconds = time.process_time() - begun - fresh.seconds
    return Spent(tuple(fresh.known.values())[: trial.budget], solver_seconds)


def search(
    settings: Mapping[str, Any], prepared: Preparation, work: CachedWork, trial: Trial
) -> None:
    """A search of the package; `settings` are strategy and solvers, where not the default."""
    config = replace(
        prepared.config,
        max_evaluations=trial.budget,
        random_state=trial.seed,
        begun=time.monotonic(),
        **settings,
    )
    constraints = bounded(prepared.constraints, trial.bounds) if trial.bounds else ()
    prepared = replace(
        prepared,
        config=config,
        constraints=constraints,
        aims=tuple(constraint.limit for constraint in constraints),
    )
    problem, plan = prepared.problem, plan_search(config, prepared.plugins)
    tell = teller(config, problem, prepared.plugins)
    with TemporaryDirectory() as scratch:
        executor = build_executor(config, prepared.plugins, work, Path(scratch))
        desk = Desk(Dispatcher(executor), MemoryStore(), budget_of(config, Reserve()), tell)
        run_search(config, unguarded(plan), problem, desk)
        executor.close()


def unguarded(plan: SearchPlan) -> Any:
    """A plan whose solvers run in this thread.

    The guard of `SearchPlan` gives them one of their own, from which they come back the later the
    busier the machine is. Those here are known to come back.
    """

    def begin(problem: SearchProblem, tell: object) -> Search:
        del tell
        solvers = Solvers(plan.theta_solver.solver, plan.z_solver.solver, plan.view)
        return plan.strategy.search(problem, solvers, plan.options)

    return SimpleNamespace(search=begin)


def blend_search(prepared: Preparation, work: CachedWork, trial: Trial) -> None:
    """FLAML's BlendSearch with `metric_constraints`, as `flaml.tune.run` has it by default."""
    import optuna
    from flaml import tune
    from flaml.tune.searcher.blendsearch import BlendSearch

    # Both announce every study and every trial.
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    logging.getLogger("flaml").setLevel(logging.ERROR)
    space = prepared.grammar.pipelines.space
    axes = {item.name: _axis(item, tune) for item in (*space.decisions, *space.parameters)}
    solver = BlendSearch(
        metric="loss",
        mode="min",
        space=axes,
        points_to_evaluate=[_default_config(space)],
        num_samples=-1,
        metric_constraints=[(LATENCY, "<=", trial.bounds[0]), (GAP, "<=", trial.bounds[1])],
        seed=trial.seed,
    )
    asked = iter(range(MOST_REPEATS * trial.budget))
    with TemporaryDirectory() as scratch:

        def evaluate(config: Mapping[str, Any]) -> dict[str, float] | None:
            if len(work.known) >= trial.budget or next(asked, None) is None:
                return None
            outcome = work.outcome(_candidate(space, config), Path(scratch))
            return {"loss": outcome.loss, LATENCY: outcome.latency, GAP: outcome.gap}

        tune.run(evaluate, metric="loss", mode="min", search_alg=solver, num_samples=-1, verbose=0)


def _axis(item: Any, tune: Any) -> Any:
    """A decision or a parameter as FLAML has it; a real number on its axis [0, 1]."""
    if isinstance(item, Choice):
        return tune.choice(list(item.alternatives))
    if not item.is_integer:
        return tune.uniform(0.0, 1.0)
    draw = tune.lograndint if item.log else tune.randint
    return draw(int(item.low), int(item.high) + 1)


def _default_config(space: SearchSpace) -> dict[str, Any]:
    """Where the searches of the package begin."""
    picks = dict(default_start(space).selection.picks)
    config = {d.name: picks.get(d.name, d.alternatives[0]) for d in space.decisions}  # type: ignore[union-attr]
    units = zip(space.parameters, space.default_theta(), strict=True)
    return config | {p.name: _setting(p, float(unit)) for p, unit in units}


def _setting(parameter: Parameter, unit: float) -> float | int:
    return round(parameter.to_number(unit)) if parameter.is_integer else unit


def _candidate(space: SearchSpace, config: Mapping[str, Any]) -> Candidate:
    selection = space.complete({d.name: str(config[d.name]) for d in space.decisions})
    units = [
        p.to_unit(config[p.name]) if p.is_integer else float(config[p.name])
        for p in space.parameters
    ]
    return space.candidate(selection, np.array(units))


def share_feasible(outcomes: Sequence[Outcome], bounds: Sequence[float]) -> float:
    """The share of the evaluations that is within both limits."""
    return sum(is_within(outcome, bounds) for outcome in outcomes) / len(outcomes)


def best_feasible(outcomes: Sequence[Outcome], bounds: Sequence[float]) -> float:
    """The least loss within both limits, infinite without any."""
    losses = (outcome.loss for outcome in outcomes if is_within(outcome, bounds))
    return min(losses, default=float("inf"))


def is_within(outcome: Outcome, bounds: Sequence[float]) -> bool:
    """Whether an outcome is within both limits; a failure is not."""
    return outcome.latency <= bounds[0] and outcome.gap <= bounds[1]


LATE = {"strategy": "admm:first=16,step=16"}
METHODS: dict[str, Method] = {
    "ADMM": partial(search, {}),
    "ADMM 16+16t": partial(search, LATE),
    "ADMM, filtered": partial(search, {}),
    "16+16t, filtered": partial(search, LATE),
    "joint ctpe": partial(search, {"strategy": "joint", "theta_solver": "ctpe"}),
    "joint optuna": partial(search, {"strategy": "joint", "theta_solver": "optuna"}),
    "FLAML": blend_search,
}
FILTERED = {"ADMM": "ADMM, filtered", "ADMM 16+16t": "16+16t, filtered"}
