"""One search on a table of measured pipelines: a strategy and its solvers by name, no time spent.

The search is told no horizon, as in a run with a time budget; what it had after 32, 64, … is read
from one run of the longest. Repeats cost nothing, as they cost a run nothing.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from limits_rivals import unguarded
from table_objective import PipelineTable, table_of
from threadpoolctl import threadpool_limits

from automl_admm.core.admm_state import AdmmState
from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.space import Candidate
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import plan_search
from automl_admm.search.protocol import Proposal, SearchProblem
from automl_admm.search.starts import default_start

MOST_ANSWERS = 40  # proposals for each new evaluation, before a run counts as stuck


def unchanged() -> AbstractContextManager[Any]:
    """Change nothing."""
    return nullcontext()


@dataclass(frozen=True)
class Method:
    """A row of a study: a strategy and solvers by name, and perhaps a change of the code."""

    strategy: str = "admm"
    theta_solver: str = "gp"
    z_solver: str = "bo"
    change: Callable[[], AbstractContextManager[Any]] = unchanged


@dataclass(frozen=True)
class Ended:
    """A run: the best loss within the limits and the number within, after each of some counts.

    `seconds` of the processor went into the solvers.
    """

    best: tuple[float, ...]
    within: tuple[int, ...]
    seconds: float


def run(
    method: Method, table: str, limits: Sequence[Limit], seed: int, counts: Sequence[int]
) -> Ended:
    """Search a table by a method; a run without anything within the limits is infinitely bad."""
    with threadpool_limits(1), warnings.catch_warnings(), method.change():
        warnings.simplefilter("ignore")
        begun = time.process_time()
        found = list(evaluations_of(method, table_of(table), limits, seed, counts[-1]))
        seconds = time.process_time() - begun
    kept = [evaluation.ok and is_feasible(evaluation, limits) for evaluation in found]
    losses = [one.loss if inside else math.inf for one, inside in zip(found, kept, strict=True)]
    best = tuple(min(losses[:count], default=math.inf) for count in counts)
    return Ended(best, tuple(sum(kept[:count]) for count in counts), seconds)


@cache
def plugins() -> Plugins:
    """Load the plugins once a process."""
    return load_plugins()


def evaluations_of(
    method: Method, table: PipelineTable, limits: Sequence[Limit], seed: int, most: int
) -> list[Evaluation]:
    """Drive a search until so many pipelines are evaluated, or it ends or is stuck."""
    config = RunConfig(
        strategy=method.strategy,
        theta_solver=method.theta_solver,
        z_solver=method.z_solver,
        random_state=seed,
    )
    space = table.grid.space
    texts: dict[Candidate, str] = {}

    def key(candidate: Candidate) -> str:
        if candidate not in texts:
            texts[candidate] = table.grid.text(candidate)
        return texts[candidate]

    problem = SearchProblem(
        space, key, (default_start(space),), tuple(limits), seed=seed, clock=time.process_time
    )
    search = unguarded(plan_search(config, plugins())).search(problem, None)
    known: dict[str, Evaluation] = {}
    event, answers = next(search), 0
    while len(known) < most and answers < MOST_ANSWERS * most:
        results: list[Evaluation] = []
        if isinstance(event, Proposal):
            answers += 1
            text = key(event.candidate)
            if text not in known:
                known[text] = table.evaluate(len(known) + 1, event.candidate, limits)
            results = [known[text]]
        elif not isinstance(event, AdmmState):
            raise TypeError("nothing runs that could be waited for")
        try:
            event = search.send(results)
        except StopIteration:
            break
    return list(known.values())


def tight_limits(table: PipelineTable, share: float) -> tuple[Limit, ...]:
    """Return two limits that this share of all pipelines is within.

    One is on the latency; the other on the gap between groups, or where there are none on the size.
    Both are the same quantile of their measure, found by halving.
    """
    second = "auc_gap" if np.isfinite(table.columns["auc_gap"]).any() else "size_kb"
    low, high = share, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        limits = tuple(
            Limit(name, float(np.nanquantile(table.columns[name], middle)))
            for name in ("latency_us", second)
        )
        if table.within(limits).mean() < share:
            low = middle
        else:
            high = middle
    return limits
