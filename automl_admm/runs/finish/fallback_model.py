"""Models ready before the search begins: one ships if nothing better comes in time.

They are no evaluations: no solver is told of them, they are not in the log, and count for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.run import FallbackKind
from automl_admm.core.space import Candidate, Selection
from automl_admm.pipelines.fit_results import FallbackResult
from automl_admm.runs.driving.dispatch import SLICE, Dispatcher, TaskKind
from automl_admm.runs.driving.driver import Desk
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.search.protocol import SearchProblem

# With more cells to learn from for each second left, the first evaluation may take all of them.
CELLS_A_SECOND = 10_000
SHARE_OF_TIME = 0.5
LEAST_SECONDS = 2.0
# What a constant model takes in this process, where the executor is not ready by then. A budget
# that is shorter than importing takes is waited for like the shortest sensible one.
LAST_RESORT = 1.0
SHORTEST_BUDGET = 5.0
BEST_FIRST = (FallbackKind.FEW_ROWS, FallbackKind.CONSTANT)


@dataclass(frozen=True)
class Fallback:
    """A fitted model: its kind, and its files until the end of the run."""

    kind: FallbackKind
    refit: Refit
    finished: Finished


def fall_back(prepared: Preparation, desk: Desk) -> tuple[Fallback, ...]:
    """Fit makeshift models, best first; a run without a deadline needs none."""
    deadline = prepared.config.deadline
    if deadline is None:
        return ()
    problem, dispatch = prepared.problem, desk.dispatch
    candidates: list[Candidate | None] = [None]
    if _is_short(prepared, deadline - time.monotonic()):
        candidates.append(problem.starts[0])
    ready: list[Fallback] = []
    for batch in _batches(candidates, dispatch.workers):
        tasks = [_task(prepared, candidate, dispatch) for candidate in batch]
        until = max(deadline, prepared.config.begun + SHORTEST_BUDGET) - LAST_RESORT
        ended = _done(tasks, dispatch, until, desk.interrupts)
        for task, candidate in zip(tasks, batch, strict=True):
            finished = ended.get(task.number)
            if finished is not None and finished.status is Status.SUCCESS and finished.folder:
                ready.append(_fallback(prepared, problem, finished, candidate))
    return tuple(sorted(ready, key=lambda fallback: BEST_FIRST.index(fallback.kind)))


def last_resort(prepared: Preparation, scratch: Path) -> Fallback:
    """Fit the constant model in this very process: the executor hangs, or the machine is too busy.

    Limits are the only code of others in it, and were tried on these data in this process before.
    """
    folder = scratch / "fallback"
    folder.mkdir(exist_ok=True)
    found = prepared.work.fall_back(None, prepared.config.random_state, folder).as_json()
    # No executor gave it a number, and nobody waits for it.
    done = Finished(0, Status.SUCCESS, found, folder=folder)
    return _fallback(prepared, prepared.problem, done, None)


def _is_short(prepared: Preparation, left: float) -> bool:
    """Return True if the first evaluation of all rows may well take all the time left."""
    work = prepared.work
    cells = sum(len(train) for train, _ in work.splits) * work.table.X.shape[1]
    return bool(cells > CELLS_A_SECOND * left)


def _batches(candidates: list[Candidate | None], workers: int) -> Iterator[list[Candidate | None]]:
    size = max(workers, 1)
    yield from (candidates[i : i + size] for i in range(0, len(candidates), size))


def _task(prepared: Preparation, candidate: Candidate | None, dispatch: Dispatcher) -> Task:
    config, problem = prepared.config, prepared.problem
    key = "" if candidate is None else problem.key(candidate)
    arguments = {"candidate": candidate, "seed": problem.seed_of(key)}
    left = (config.deadline or 0.0) - time.monotonic()
    seconds = max(SHARE_OF_TIME * left, LEAST_SECONDS)
    if config.eval_time_limit is not None and candidate is not None:
        seconds = min(seconds, config.eval_time_limit)
    return dispatch.make(TaskKind.FALL_BACK, arguments, seconds, keep=True)


def _done(
    tasks: Sequence[Task], dispatch: Dispatcher, until: float, interrupts: Deferral
) -> dict[int, Finished]:
    """Run tasks until all have ended, or nobody waits for them any longer."""
    for task in tasks:
        dispatch.submit(task)
    waiting, found = {task.number: task for task in tasks}, dict[int, Finished]()
    while waiting and not interrupts.came:  # asked once at least: `inline` works when it is asked
        for one in dispatch.wait(SLICE):
            if waiting.pop(one.number, None) is not None:
                found[one.number] = one
        if time.monotonic() > until:
            break
    for task in waiting.values():
        dispatch.kill(task)
    return found


def _fallback(
    prepared: Preparation, problem: SearchProblem, finished: Finished, candidate: Candidate | None
) -> Fallback:
    found = FallbackResult.from_json(finished.result)
    kind = FallbackKind.CONSTANT if candidate is None else FallbackKind.FEW_ROWS
    evaluation = Evaluation(
        number=0,
        key="" if candidate is None else problem.key(candidate),
        candidate=candidate or Candidate(Selection(()), ()),
        status=Status.SUCCESS,
        loss=found.evaluation.loss,
        constraints=found.evaluation.constraints,
        seconds=finished.seconds,
        text=name_constant(prepared) if candidate is None else problem.text(candidate),
        details=dict(found.evaluation.details),
    )
    refit = Refit(evaluation, found.fit, found.rows)
    return Fallback(kind, refit, replace(finished, result=found.fit.as_json()))


def name_constant(prepared: Preparation) -> str:
    """Describe the predictions of a constant model; it is no pipeline of a grammar."""
    is_class = prepared.task == "classification"
    return "constant: the class frequencies" if is_class else "constant: the mean of the target"
