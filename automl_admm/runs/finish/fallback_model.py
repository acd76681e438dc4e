"""Models that are ready before the search begins: one ships where nothing better comes in time.

They are no evaluations: no solver is told of them, they are not in the log, and count for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from automl_admm.core.problem import Evaluation, Status
from automl_admm.core.protocols import Executor, Finished, Task
from automl_admm.core.run import CONSTANT, FEW_ROWS
from automl_admm.core.space import Candidate, Selection
from automl_admm.runs.driving.driver import SLICE
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.finish.final_fit import FIRST_NUMBER, Refit, read_refit
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.search_run import Subject
from automl_admm.search.protocol import default_start, derive_seed

CONSTANT_NUMBER, FEW_ROWS_NUMBER = FIRST_NUMBER - 2, FIRST_NUMBER - 1
# With more cells to learn from for each second left, the first evaluation may take all of them.
CELLS_A_SECOND = 10_000
SHARE_OF_TIME = 0.5
LEAST_SECONDS = 2.0
# What a constant model takes in this process, where the executor is not ready by then. A budget
# that is shorter than importing takes is waited for like the shortest sensible one.
LAST_RESORT = 1.0
SHORTEST_BUDGET = 5.0


@dataclass(frozen=True)
class Fallback:
    """One model that is fitted: what it is, and where it lies until the run has ended."""

    kind: str
    refit: Refit
    finished: Finished


def fall_back(
    prepared: Preparation, subject: Subject, executor: Executor, interrupts: Deferral
) -> tuple[Fallback, ...]:
    """Fit the models that may have to do, best first; a run without a deadline needs none."""
    deadline = prepared.config.deadline
    if deadline is None:
        return ()
    candidates: dict[int, Candidate | None] = {CONSTANT_NUMBER: None}
    if _is_short(prepared, deadline - time.monotonic()):
        candidates[FEW_ROWS_NUMBER] = (*subject.starts, default_start(subject.space))[0]
    found = []
    for batch in _batches(list(candidates), executor.workers):
        tasks = [_task(prepared, subject, number, candidates[number]) for number in batch]
        until = max(deadline, prepared.config.begun + SHORTEST_BUDGET) - LAST_RESORT
        found += _done(tasks, executor, until, interrupts)
    ready = [one for one in found if one.status is Status.SUCCESS and one.folder is not None]
    ready.sort(key=lambda finished: -finished.number)
    return tuple(_fallback(prepared, subject, one, candidates[one.number]) for one in ready)


def last_resort(prepared: Preparation, subject: Subject, scratch: Path) -> Fallback:
    """Fit the constant model in this very process: the executor hangs, or the machine is too busy.

    Limits are the only code of others in it, and were tried on these data in this process before.
    """
    folder = scratch / "fallback"
    folder.mkdir(exist_ok=True)
    found = prepared.work.fall_back(None, prepared.config.seed, folder)
    done = Finished(CONSTANT_NUMBER, Status.SUCCESS, found, folder=folder)
    return _fallback(prepared, subject, done, None)


def _is_short(prepared: Preparation, left: float) -> bool:
    """Whether the first evaluation of all rows may well take whatever time there is."""
    work = prepared.work
    cells = sum(len(train) for train, _ in work.splits) * work.table.X.shape[1]
    return bool(cells > CELLS_A_SECOND * left)


def _batches(numbers: list[int], workers: int) -> Iterator[list[int]]:
    size = max(workers, 1)
    yield from (numbers[i : i + size] for i in range(0, len(numbers), size))


def _task(
    prepared: Preparation, subject: Subject, number: int, candidate: Candidate | None
) -> Task:
    config = prepared.config
    key = "" if candidate is None else subject.key(candidate)
    arguments = {"candidate": candidate, "seed": derive_seed(config.seed, key)}
    left = (config.deadline or 0.0) - time.monotonic()
    seconds = max(SHARE_OF_TIME * left, LEAST_SECONDS)
    if config.evaluation_seconds is not None and candidate is not None:
        seconds = min(seconds, config.evaluation_seconds)
    return Task(number, "fall_back", arguments, seconds, keep=True)


def _done(
    tasks: Sequence[Task], executor: Executor, until: float, interrupts: Deferral
) -> list[Finished]:
    """Run tasks until all have ended, or nobody waits for them any longer."""
    for task in tasks:
        executor.submit(task)
    waiting, found = {task.number for task in tasks}, []
    while waiting and not interrupts.came:  # asked once at least: `inline` works when it is asked
        ended = [one for one in executor.wait(SLICE) if one.number in waiting]
        waiting -= {one.number for one in ended}
        found += ended
        if time.monotonic() > until:
            break
    for number in waiting:
        executor.kill(number)
    return found


def _fallback(
    prepared: Preparation, subject: Subject, finished: Finished, candidate: Candidate | None
) -> Fallback:
    result = finished.result
    kind = CONSTANT if candidate is None else FEW_ROWS
    evaluation = Evaluation(
        number=0,
        key="" if candidate is None else subject.key(candidate),
        candidate=candidate or Candidate(Selection(()), ()),
        status=Status.SUCCESS,
        loss=float(result["loss"]),
        constraints=tuple(map(float, result["constraints"])),
        seconds=finished.seconds,
        text=name_constant(prepared) if candidate is None else subject.text(candidate),
        details=dict(result["details"]),
    )
    refit = read_refit(evaluation, result["refit"], rows=int(result["rows"]))
    return Fallback(kind, refit, replace(finished, result=result["refit"]))


def name_constant(prepared: Preparation) -> str:
    """What a constant model predicts; it is no pipeline of a grammar."""
    is_class = prepared.task == "classification"
    return "constant: the class frequencies" if is_class else "constant: the mean of the target"
