"""The final fit: the best pipeline on all rows of the search, in what is left of the budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from automl_admm.core.errors import AutomlAdmmError, NoSuccessError, Remedy
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.ranking import rank
from automl_admm.execution.evidence_files import FILES, read_told
from automl_admm.pipelines.results import FinalFitResult, FoldTimes
from automl_admm.pipelines.work import PICKLE, SHIPPED, PipelineWork
from automl_admm.runs.driving.dispatch import Dispatcher, TaskKind
from automl_admm.runs.finish.closing import Closing
from automl_admm.search.protocol import SearchProblem

MARGIN = 1.5
OVERHEAD = 0.8
MOST_SLOWDOWN = 5.0
GRACE = 1.0
# A walk seldom takes more final fits; where it does, it uses what time is left.
FITS_OF_A_WALK = 3.0
SHARE_OF_A_WALK = 0.25
TRIES = 10
# A pipeline takes less to load than to fit; on a busy machine the least may be long.
LEAST_RELOADING = 3.0

Expect = Callable[[Evaluation | None], float]


@dataclass(frozen=True)
class Refit:
    """The pipeline that ships: its evaluation in the search, and what the final fit `measured`.

    It was fitted on so many `rows`; None are all rows of the search.
    """

    evaluation: Evaluation
    measured: FinalFitResult = field(default_factory=FinalFitResult)
    rows: int | None = None

    @property
    def one_class(self) -> str | None:
        """The label that all rows are called, by the final fit or in the search, if it is one."""
        found = self.measured.one_class
        return self.evaluation.one_class if found is None else found


@dataclass(frozen=True)
class Effort:
    """How many times more a final fit has to do than an evaluation did on one of its splits.

    It is fitted on `rows` times as many, predicts `seen` times as many, which were held out, and
    its limits are measured by `calls` times as many calls.
    """

    rows: float = 1.0
    seen: float = 1.0
    calls: float = 1.0


def effort_of(work: PipelineWork) -> Effort:
    """What the final fits of a run take; calls count only where a limit is measured by them."""
    train, valid = work.splits[0]
    held_out = 0 if work.held_out is None else len(work.held_out.y)
    timed = [one.timed_calls for one in work.constraints if one.timed_calls]
    return Effort(
        rows=len(work.table.y) / max(len(train), 1),
        seen=held_out / max(len(valid), 1),
        calls=max(1.0, *(work.calls / calls for calls in timed)) if timed else 1.0,
    )


def expected_seconds(effort: Effort, evaluation: Evaluation | None) -> float:
    """How long the final fit of an evaluation takes, with a margin; saving it included.

    The fit was timed on the machine as busy as it is; what comes with a fit is as slow as it was.
    """
    if evaluation is None:
        return OVERHEAD
    times = FoldTimes.of(evaluation) or FoldTimes(evaluation.seconds, 0.0, 0.0)
    work = effort.rows * times.fit_seconds + effort.seen * times.predict_seconds
    work += max(effort.seen, effort.calls) * times.measure_seconds
    return OVERHEAD * min(times.slowdown, MOST_SLOWDOWN) + MARGIN * work


def reserved_for_walk(expect: Expect, budget: float | None, evaluation: Evaluation | None) -> float:
    """What a search that certifies leaves of its budget: several final fits.

    Where they would take more than a quarter of it, it is one, or that quarter.
    """
    one = expect(evaluation)
    most = math.inf if budget is None else SHARE_OF_A_WALK * budget
    return max(one, min(FITS_OF_A_WALK * one, most))


class Fitter:
    """Final fits one after the other, as long as there is the time for them; the first always."""

    def __init__(
        self, problem: SearchProblem, dispatch: Dispatcher, expect: Expect, closing: Closing
    ) -> None:
        self._closing = closing
        self._press = Press(problem, dispatch, closing)
        self._expect = expect
        self._has_begun = False

    def __call__(self, evaluation: Evaluation) -> Finished | None:
        """Fit one; None if there is no time for it."""
        if self._has_begun and self._expect(evaluation) > self._closing.left + GRACE:
            return None
        self._has_begun = True
        return self._press.fit(evaluation)


def refit_best(
    problem: SearchProblem,
    evaluations: Sequence[Evaluation],
    dispatch: Dispatcher,
    expect: Expect,
    closing: Closing,
) -> tuple[Refit, Finished]:
    """Fit the best evaluation that can be fitted in the time left; if that fails, the next.

    The last of the time is not spent on a fit that is expected to take longer: a user who has
    waited is given a pipeline if there is one. Whoever has interrupted it and gets none is told of
    the interrupt and of nothing else.
    """
    press = Press(problem, dispatch, closing)
    reason = "there was no time left"
    ranked = rank(evaluations, problem.limits)
    for evaluation in _in_order(ranked, closing, expect):
        finished = press.fit(evaluation)
        if finished.status is Status.SUCCESS:
            return Refit(evaluation, FinalFitResult.from_json(finished.result)), finished
        reason = f"{finished.status} {finished.message}".strip()
    if closing.is_cut_short:
        raise KeyboardInterrupt
    raise NoSuccessError(
        f"the best pipeline could not be fitted on all rows: {reason}.",
        hint=Remedy("Give a longer {time_budget}."),
    )


def _in_order(
    ranked: Sequence[Evaluation], closing: Closing, expect: Expect
) -> Iterator[Evaluation]:
    """The best first, without those that the time does not allow; at the least the quickest.

    Where an interrupt has ended a fit, the quickest is what there may still be the time for.
    """
    tried: list[Evaluation] = []
    for evaluation in ranked:
        if expect(evaluation) > closing.left + GRACE:
            continue
        tried.append(evaluation)
        yield evaluation
        if len(tried) == TRIES:
            return
    if ranked and (not tried or closing.is_cut_short):
        quickest = min(ranked, key=expect)
        if quickest not in tried:
            yield quickest


@dataclass(frozen=True)
class Press:
    """Makes the model of an evaluation in a child, and sees to it that it can be loaded."""

    problem: SearchProblem
    dispatch: Dispatcher
    closing: Closing

    def fit(self, evaluation: Evaluation) -> Finished:
        """Fit an evaluation's pipeline on all rows of the search, and measure it on those held out.

        It decides at the threshold that the evaluation found, or those of the groups, if it found
        any. A fit whose process is lost by no fault of its own is tried once more.
        """
        arguments = {
            "candidate": evaluation.candidate,
            "seed": self.problem.seed_of(evaluation.key),
            "threshold": evaluation.details.get("threshold"),
            "group_thresholds": evaluation.details.get("group_thresholds"),
        }
        for _ in range(2):
            limit = None if self.closing.deadline is None else self.closing.left + GRACE
            finished = self._do(self.dispatch.make(TaskKind.REFIT, arguments, limit, keep=True))
            if finished.status is not Status.LOST:
                break
        return self._loadable(finished) if finished.status is Status.SUCCESS else finished

    def _loadable(self, finished: Finished) -> Finished:
        """The same, or how it ended to load the file that ships in a child of its own."""
        if finished.folder is None or self.dispatch.runs_here:
            return finished
        try:
            contents = {name: read_told(finished, name) for name in finished.result.get(FILES, {})}
        except AutomlAdmmError as problem:
            return replace(finished, status=Status.ERROR, message=problem.message)
        content = contents.get(SHIPPED, contents.get(PICKLE))
        seconds = max(finished.seconds, LEAST_RELOADING)
        if self.closing.is_cut_short:
            seconds = self.closing.left + GRACE
        loaded = self._do(self.dispatch.make(TaskKind.RELOAD, {"content": content}, seconds))
        if loaded.status in (Status.SUCCESS, Status.LOST):
            return finished
        message = f"the fitted pipeline cannot be loaded: {loaded.message}"
        return replace(finished, status=loaded.status, message=message)

    def _do(self, task: Task) -> Finished:
        """Hand a task out and wait for its end; an interrupt does not leave it all of its time."""
        begun = time.monotonic()
        self.dispatch.submit(task)
        is_killed = False
        while True:
            finished = self.dispatch.wait_for(task)
            if finished is not None:
                return finished
            if self.closing.overdue(begun) and not is_killed:
                self.dispatch.kill(task)
                is_killed = True
