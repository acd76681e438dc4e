"""Models ready before they are needed: one ships if nothing better comes in time.

Where time is short they come before the search, else as soon as the first success is late: a run
whose first pipeline succeeds does not pay for them.

They are no evaluations: no solver is told of them, they are not in the log, and count for nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from automl_admm.core.errors import AutomlAdmmError, NoSuccessError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.messages import say_error
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.run import FallbackKind
from automl_admm.core.space import Candidate, Selection
from automl_admm.pipelines.fit_results import FallbackResult
from automl_admm.runs.driving.desk import Desk, NoStandby
from automl_admm.runs.driving.dispatch import SLICE, Dispatcher, TaskKind
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.finish.final_fit import Refit
from automl_admm.runs.finish.ways import with_costs
from automl_admm.runs.prepare.preparation import Preparation

# With more cells to learn from for each second left, the first evaluation may take all of them. A
# quick first pipeline is ready sooner than a makeshift one is saved.
CELLS_A_SECOND, QUICK_CELLS_A_SECOND = 10_000, 100_000
SHARE_OF_TIME = 0.5
LEAST_SECONDS = 2.0
# What a constant model takes in this process, where the executor is not ready by then. A budget
# that is shorter than importing takes is waited for like the shortest sensible one.
LAST_RESORT = 1.0
SHORTEST_BUDGET = 5.0
# The search may take this share of the time left, and so many seconds, for its first success.
GRACE, MOST_GRACE = 0.1, 10.0
BEST_FIRST = (FallbackKind.FEW_ROWS, FallbackKind.CONSTANT)


@dataclass(frozen=True)
class Fallback:
    """A fitted model: its kind, and its files until the end of the run."""

    kind: FallbackKind
    refit: Refit
    finished: Finished


class LateFallback:
    """Starts a constant model as soon as the first success of a search is late."""

    def __init__(self, prepared: Preparation, dispatch: Dispatcher, seconds_left: float) -> None:
        self._prepared = prepared
        self._dispatch = dispatch
        self._due = time.monotonic() + min(GRACE * seconds_left, MOST_GRACE)
        self._task: Task | None = None
        self.ready: tuple[Fallback, ...] = ()

    def look(self, best: Evaluation | None) -> None:
        """Start it if it is due, once; it runs beside the evaluations."""
        if best is None and self._task is None and time.monotonic() > self._due:
            self._task = _task(self._prepared, None, self._dispatch)
            self._dispatch.submit(self._task)

    def take(self, finished: Finished) -> None:
        """Keep the model if this is its end."""
        is_its = self._task is not None and finished.number == self._task.number
        if is_its and finished.status is Status.SUCCESS and finished.folder:
            self.ready = (_fallback(self._prepared, finished, None),)


@dataclass(frozen=True)
class EarlyFallbacks(NoStandby):
    """Models that were fitted before the search; maybe none."""

    ready: tuple[Fallback, ...] = ()


def fall_back(prepared: Preparation, desk: Desk) -> LateFallback | EarlyFallbacks:
    """Fit makeshift models now, where time is short, or later; without a deadline none is needed.

    An executor that works in this process cannot do two things at once: there it is now.
    """
    deadline = prepared.config.deadline
    if deadline is None:
        return EarlyFallbacks()
    left = deadline - time.monotonic()
    is_short = _is_short(prepared, left)
    if not is_short and not desk.dispatch.runs_here:
        return LateFallback(prepared, desk.dispatch, left)
    first = (*prepared.problem.quick, *prepared.problem.starts)[0]
    candidates = (None, first) if is_short else (None,)
    return EarlyFallbacks(_fit_now(prepared, desk, candidates, deadline))


def _fit_now(
    prepared: Preparation, desk: Desk, candidates: Sequence[Candidate | None], deadline: float
) -> tuple[Fallback, ...]:
    """Fit the models of some candidates, best first."""
    dispatch, ready = desk.dispatch, list[Fallback]()
    size = max(dispatch.workers, 1)
    for batch in (candidates[i : i + size] for i in range(0, len(candidates), size)):
        tasks = [_task(prepared, candidate, dispatch) for candidate in batch]
        until = max(deadline, prepared.config.begun + SHORTEST_BUDGET) - LAST_RESORT
        ended = _done(tasks, dispatch, until, desk.interrupts)
        for task, candidate in zip(tasks, batch, strict=True):
            finished = ended.get(task.number)
            if finished is not None and finished.status is Status.SUCCESS and finished.folder:
                ready.append(_fallback(prepared, finished, candidate))
    return tuple(sorted(ready, key=lambda fallback: BEST_FIRST.index(fallback.kind)))


def last_resort(prepared: Preparation, scratch: Path) -> Fallback:
    """Fit the constant model in this very process: the executor hangs, or the machine is too busy.

    Limits and the metric were tried on these data in this process before, and may fail now.
    """
    folder = scratch / "fallback"
    folder.mkdir(exist_ok=True)
    try:
        found = prepared.work.fall_back(None, prepared.config.random_state, folder).as_json()
    except AutomlAdmmError:
        raise
    except Exception as problem:
        raise NoSuccessError(
            "no pipeline succeeded, and not even a constant model could be measured: "
            f"{say_error(problem)}.",
            hint="Is it the metric or a limit of your own? The log of the run has all reasons.",
        ) from problem
    # No executor gave it a number, and nobody waits for it.
    done = Finished(0, Status.SUCCESS, found, folder=folder)
    return _fallback(prepared, done, None)


def _is_short(prepared: Preparation, left: float) -> bool:
    """Return True if the first evaluation of all rows may well take all the time left."""
    work = prepared.work
    cells = sum(len(train) for train, _ in work.splits) * work.table.shape[1]
    pace = QUICK_CELLS_A_SECOND if prepared.problem.quick else CELLS_A_SECOND
    return bool(cells > pace * left)


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


def _fallback(prepared: Preparation, finished: Finished, candidate: Candidate | None) -> Fallback:
    found, problem = FallbackResult.from_json(finished.result), prepared.problem
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
    refit = Refit(with_costs(evaluation, found.fit), found.fit, found.rows)
    return Fallback(kind, refit, replace(finished, result=found.fit.as_json()))


def name_constant(prepared: Preparation) -> str:
    """Describe the predictions of a constant model; it is no pipeline of a grammar."""
    is_class = prepared.task == "classification"
    return "constant: the class frequencies" if is_class else "constant: the mean of the target"
