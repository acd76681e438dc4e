"""The options of every search, of pipelines and of a function: the first part of `OPTIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from automl_admm.core.protocols import Executor, ThetaSolver, ZSolver
from automl_admm.plugins.records import (
    ExecutorPlugin,
    ExecutorSetting,
    Solvers,
    StrategyPlugin,
    ThetaSolverPlugin,
    ZSolverPlugin,
)
from automl_admm.runs.option_record import Kind, option
from automl_admm.search.protocol import Search, SearchProblem

if TYPE_CHECKING:
    import numpy as np

OnInfeasible = Literal["raise", "closest"]
ON_INFEASIBLE: tuple[OnInfeasible, ...] = ("raise", "closest")


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of every search, also of `minimize`."""

    time_budget: float | str | None = option(
        Kind.SECONDS,
        "--budget",
        "Time for everything, such as 30s, 10m or 1h. [default: 60s; none with --max-evaluations]",
        default=None,
        words="the budget",
        resume_help="Time from now on, such as 10m; +10m adds to the time that was left. "
        "[default: the time that was left]",
    )
    max_evaluations: int | None = option(
        Kind.WHOLE,
        "--max-evaluations",
        "Number of evaluations at most (one on a tenth of the rows counts as a tenth, and the "
        "last may go beyond by less than one). Without --budget and with one worker the run is "
        "repeatable.",
        default=None,
        words="the number of evaluations",
        resume_help="Number of evaluations in all; +N adds to the number asked for before, or "
        "made, if that is more.",
    )
    theta_solver: str | ThetaSolverPlugin | ThetaSolver | Callable[[], ThetaSolver] = option(
        Kind.PART, "--theta-solver", "Solver for the parameters.", default="gp"
    )
    z_solver: str | ZSolverPlugin | ZSolver | Callable[[], ZSolver] = option(
        Kind.PART, "--z-solver", "Solver for the structure.", default="bo"
    )
    strategy: str | StrategyPlugin | Callable[[SearchProblem, Solvers], Search] = option(
        Kind.PART, "--strategy", "admm, or joint: one solver for everything.", default="admm"
    )
    executor: str | ExecutorPlugin | Callable[[Any, ExecutorSetting], Executor] = option(
        Kind.PART,
        "--executor",
        "Place where evaluations run.",
        default="local",
        resume_help="Place where evaluations run. [default: as before]",
    )
    n_jobs: int | None = option(
        Kind.WHOLE,
        "--workers",
        "Evaluations at a time. [default: one a core; 1 if only --max-evaluations is given]",
        default=None,
        words="the number of workers",
        resume_help="Evaluations at a time. [default: as before]",
    )
    eval_time_limit: float | str | None = option(
        Kind.SECONDS,
        "--eval-timeout",
        "Time limit of one evaluation. [default: an eighth of the budget]",
        default=None,
        words="the time limit of one evaluation",
    )
    memory_limit: int | str | None = option(
        Kind.BYTES,
        "--memory",
        "Memory that one evaluation may add to what its process begins with, such as 2GB. "
        "[default: its share of the machine's]",
        default=None,
        words="the memory limit",
    )
    min_fidelity: float | None = option(
        Kind.SHARE,
        "--min-fidelity",
        "Least share of the rows that solvers such as halving may train on; 1 also searches large "
        "data on all rows. [default: as many rows as suit the budget]",
        default=None,
        words="the least fidelity",
    )
    on_infeasible: OnInfeasible = option(
        Kind.CHOICE,
        "--on-infeasible",
        "If the limits do not hold or are not proven: raise exits with 5 or 6, closest with 0.",
        default="raise",
        choices=ON_INFEASIBLE,
        resume_help="If the limits do not hold or are not proven: raise exits with 5 or 6, "
        "closest with 0. [default: as before]",
    )
    random_state: int | np.random.RandomState | None = option(
        Kind.WHOLE,
        "--seed",
        "Seed of everything random.",
        default=None,
        words="the seed",
        least=0,
        command_default=0,
    )
    observers: Sequence[str] = option(
        Kind.PARTS,
        "--observer",
        'Observer of the run, such as "jsonl:path=log.jsonl". May be repeated.',
        default=(),
    )
    callbacks: Sequence[object] = option(
        Kind.OBJECTS,
        None,
        "Objects with methods named like the observer hooks.",
        default=(),
        is_saved=False,
    )
