"""One search from its first evaluation to its last, over pipelines or over any function."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_error
from automl_admm.core.run import Account, RunInfo, RunResult
from automl_admm.plugins.foreign_calls import in_time, no_exit
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.observers import Hurry, Observers
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.budget import FIRST_SHARE, Budget, Reserve, attribute_work
from automl_admm.runs.driving.cost_model import CostModel, Foresight
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.driver import Driver
from automl_admm.runs.driving.logbook import NO_PAST, Past
from automl_admm.runs.prepare.assembly import build_observers
from automl_admm.search.protocol import Search, SearchProblem
from automl_admm.search.starts import default_start
from automl_admm.search.variants import with_variants


class Searcher(Protocol):
    """A maker of the search that a driver runs."""

    def search(self, problem: SearchProblem, tell: Callable[..., Sequence[Any]]) -> Search:
        """Return the search over a problem; `tell` hears of its events."""


def run_search(config: RunConfig, plan: Searcher, problem: SearchProblem, desk: Desk) -> RunResult:
    """Search until the budget ends; the caller tells `run_finished` when all is done."""
    check_cheap(problem, config.deadline)
    budget = desk.budget
    desk = replace(desk, foresight=Foresight(CostModel(problem.space), budget))
    problem = replace(
        problem,
        deadline=budget.end_of_search(None),
        clock=budget.clock,
        known=desk.past.told_to_search,
    )
    desk.tell("run_started")
    driver, begun = Driver(problem, desk), time.monotonic()
    with desk.ledger.charge(Account.SEARCH):
        stop = driver.run(with_variants(plan.search(problem, desk.tell), problem))
    ended, log = time.monotonic(), driver.log
    made = log.evaluations[len(desk.past.evaluations) :]
    return RunResult(
        best=log.best,
        feasible=log.best is not None and is_feasible(log.best, problem.limits),
        evaluations=tuple(sorted(log.evaluations, key=lambda evaluation: evaluation.number)),
        stop=stop,
        seconds=ended - config.begun,
        limits=problem.limits,
        ledger=desk.ledger.seconds,
        search_seconds=ended - begun,
        work=attribute_work(made, desk.dispatch.workers, ended - begun),
    )


def budget_of(config: RunConfig, reserve: Reserve) -> Budget:
    """Return the budget of a search, with a `reserve` for its aftermath.

    Only a default time limit of one evaluation may be exceeded, never the user's.
    """
    return Budget(
        config.deadline,
        config.max_evaluations,
        config.limit_of_one,
        reserve,
        patience=FIRST_SHARE if config.eval_time_limit is None else 0.0,
    )


def check_cheap(problem: SearchProblem, deadline: float | None) -> None:
    """Raise if a cheap function fails for the space's defaults, or hangs until the deadline.

    After a later failure its value is unknown.
    """
    for name, function in problem.cheap.items():
        try:
            with no_exit():
                in_time(partial(function, default_start(problem.space)), deadline)
        except Exception as error:
            raise ConfigurationError(
                f"the cheap function of the limit on '{name}' failed: {say_error(error)}.",
                hint="It is given what is searched at its defaults.",
            ) from error


def teller(
    config: RunConfig,
    problem: SearchProblem,
    plugins: Plugins,
    past: Past = NO_PAST,
    *,
    limits: tuple[Limit, ...] | None = None,
    score: tuple[str, float | None] = ("loss", None),
    is_open_ended: bool = False,
) -> Callable[..., Sequence[Any]]:
    """Return a function to tell observers of this run about events.

    The `limits` are the user's, if the search aims at others; the `score` is its name and
    its best value. A run that `is_open_ended` has no time budget by default.
    """
    seconds = config.time_budget if is_open_ended else config.seconds
    info = RunInfo(
        title=config.title,
        space=problem.space,
        limits=problem.limits if limits is None else limits,
        seed=problem.seed,
        workers=config.n_jobs,
        budget_seconds=seconds,
        max_evaluations=config.max_evaluations,
        folder=config.place,
        loss_name=score[0],
        best_score=score[1],
        begun=config.begun,
        known=past.evaluations,
        aims=problem.limits,
    )
    deadline = None if seconds is None else config.begun + seconds
    interrupts = config.interrupts
    hurry = Hurry(deadline, lambda: interrupts is not None and interrupts.came)
    requested = build_observers(config, plugins)
    observers = Observers(plugins.manager, config.callbacks, hurry, requested)
    return partial(observers.tell, info=info)
