"""One search from its first evaluation to its last, whatever is being searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.problem import Evaluation, Limit, is_feasible
from automl_admm.core.protocols import Executor, Finished, Store
from automl_admm.core.run import RunInfo, RunResult
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.plugins.loading import Plugins
from automl_admm.plugins.observers import Hurry, Observers
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.budget import FIRST_SHARE, Budget, Ledger, attribute_work
from automl_admm.runs.driving.cost_model import CostModel, Foresight
from automl_admm.runs.driving.driver import Desk, Driver
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.prepare.assembly import SearchPlan
from automl_admm.search.protocol import SearchProblem, default_start


@dataclass(frozen=True)
class Subject:
    """What is searched, how a candidate is named, and what is known of it without evaluation."""

    space: SearchSpace
    key: Callable[[Candidate], str]
    text: Callable[[Candidate], str]
    limits: tuple[Limit, ...]
    loss_name: str
    best_score: float | None = None
    cheap: Mapping[str, Callable[[Candidate], float]] = field(default_factory=dict)
    starts: tuple[Candidate, ...] = ()


@dataclass(frozen=True)
class Past:
    """What an earlier session of a run evaluated.

    A run that `is_repeatable` is made again, with every answer from the log, and so goes on as if
    it had never stopped; any other begins with all that is known.
    """

    evaluations: tuple[Evaluation, ...] = ()
    is_repeatable: bool = False

    def on(self, executor: Executor) -> Past:
        """The same; several workers make no run twice in the same order."""
        return replace(self, is_repeatable=self.is_repeatable and executor.workers == 1)


NO_PAST = Past()


@dataclass(frozen=True)
class Tools:
    """What a search works with."""

    plan: SearchPlan
    tell: Callable[..., Sequence[Any]]
    executor: Executor
    store: Store
    reserve: Callable[[Evaluation | None], float]
    finish: Callable[[Evaluation, Finished], None] | None = None
    past: Past = NO_PAST
    interrupts: Deferral = field(default_factory=lambda: Deferral(enabled=False))
    ledger: Ledger | None = None


def run_search(config: RunConfig, subject: Subject, tools: Tools) -> RunResult:
    """Search until the budget ends; the caller tells `run_finished` when all is done."""
    check_cheap(subject)
    ledger = tools.ledger or Ledger(config.begun)
    problem, desk = _problem(config, subject, tools), _desk(config, subject, tools, ledger)
    tools.tell("run_started")
    driver, begun = Driver(desk), time.monotonic()
    with ledger.charge("search"):
        stopped_by = driver.run(tools.plan.search(problem, tools.tell))
    ended, log = time.monotonic(), driver.log
    made = log.evaluations[len(tools.past.evaluations) :]
    return RunResult(
        best=log.best,
        feasible=log.best is not None and is_feasible(log.best, subject.limits),
        evaluations=tuple(sorted(log.evaluations, key=lambda evaluation: evaluation.number)),
        stopped_by=stopped_by,
        seconds=ended - config.begun,
        limits=subject.limits,
        ledger=ledger.seconds,
        search_seconds=ended - begun,
        work=attribute_work(made, tools.executor.workers, ended - begun),
    )


def _problem(config: RunConfig, subject: Subject, tools: Tools) -> SearchProblem:
    """What the search is told; a run that is made again knows nothing beforehand."""
    return SearchProblem(
        subject.space,
        subject.key,
        starts=subject.starts or (default_start(subject.space),),
        limits=subject.limits,
        cheap=subject.cheap,
        lowest_fidelity=config.min_fidelity,
        seed=config.seed,
        evaluations=config.max_evaluations,
        deadline=None if config.deadline is None else config.deadline - tools.reserve(None),
        clock=time.monotonic,
        known=() if tools.past.is_repeatable else tools.past.evaluations,
    )


def _desk(config: RunConfig, subject: Subject, tools: Tools, ledger: Ledger) -> Desk:
    """What the driver works with."""
    budget = _budget(config, tools)
    return Desk(
        executor=tools.executor,
        store=tools.store,
        budget=budget,
        tell=tools.tell,
        key=subject.key,
        text=subject.text,
        limits=subject.limits,
        seed=config.seed,
        ledger=ledger,
        finish=tools.finish,
        known=tools.past.evaluations,
        foresight=Foresight(CostModel(subject.space), budget),
        interrupts=tools.interrupts,
    )


def _budget(config: RunConfig, tools: Tools) -> Budget:
    """The budget; only a limit of one evaluation that the user did not set may be exceeded."""
    return Budget(
        config.deadline,
        config.max_evaluations,
        config.limit_of_one,
        tools.reserve,
        patience=FIRST_SHARE if config.evaluation_seconds is None else 0.0,
    )


def check_cheap(subject: Subject) -> None:
    """Raise if what is to be known of a candidate without evaluation cannot be had for the first.

    Where it fails later it is taken as unknown.
    """
    for name, function in subject.cheap.items():
        try:
            function(default_start(subject.space))
        except Exception as problem:
            reason = f"{type(problem).__name__}: {problem}"
            raise ConfigurationError(
                f"the cheap function of the limit on '{name}' failed: {reason}.",
                hint="It is given what is searched at its defaults.",
            ) from problem


def teller(
    config: RunConfig, subject: Subject, plugins: Plugins, past: Past = NO_PAST
) -> Callable[..., Sequence[Any]]:
    """A function that tells observers of this run what happens."""
    info = RunInfo(
        title=config.title,
        space=subject.space,
        limits=subject.limits,
        seed=config.seed,
        workers=config.workers,
        budget_seconds=config.seconds,
        max_evaluations=config.max_evaluations,
        folder=config.place,
        loss_name=subject.loss_name,
        best_score=subject.best_score,
        begun=config.begun,
        known=past.evaluations,
    )
    hurry = Hurry(config.deadline, partial(_is_interrupted, config.interrupts))
    return partial(Observers(plugins.manager, config.observers, hurry).tell, info=info)


def _is_interrupted(interrupts: Deferral | None) -> bool:
    return interrupts is not None and interrupts.came
