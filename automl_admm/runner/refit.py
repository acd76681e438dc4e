"""The final fit: the best pipeline on all rows of the search, in what is left of the budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from automl_admm.builtin.constraints.resources import REPEATS
from automl_admm.errors import NoSuccessError
from automl_admm.evaluation.objective import PipelineWork
from automl_admm.problem import Evaluation, Status
from automl_admm.protocols import Executor, Finished, Task
from automl_admm.ranking import rank
from automl_admm.run_records import RunResult
from automl_admm.runner.config import RunConfig
from automl_admm.runner.search_run import Subject
from automl_admm.search import derive_seed

MARGIN = 1.5
OVERHEAD = 0.8
MOST_SLOWDOWN = 5.0
GRACE = 1.0
# A walk seldom takes more final fits; where it does, it uses what time is left.
FITS_OF_A_WALK = 3.0
SHARE_OF_A_WALK = 0.25
TRIES = 10
FIRST_NUMBER = 1_000_000_000

Expect = Callable[[Evaluation | None], float]


@dataclass(frozen=True)
class Refit:
    """The pipeline that ships: its evaluation in the search, and what the final fit measured."""

    evaluation: Evaluation
    held_out_score: float | None = None
    held_out_constraints: tuple[float, ...] = ()
    held_out_rows: int = 0
    held_out_problem: str = ""


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
    is_timed = any(constraint.kind == "measured" for constraint in work.constraints)
    return Effort(
        rows=len(work.table.y) / max(len(train), 1),
        seen=held_out / max(len(valid), 1),
        calls=max(work.calls / REPEATS, 1.0) if is_timed else 1.0,
    )


def expected_seconds(effort: Effort, evaluation: Evaluation | None) -> float:
    """How long the final fit of an evaluation takes, with a margin; saving it included.

    The fit was timed on the machine as busy as it is; what comes with a fit is as slow as it was.
    """
    if evaluation is None:
        return OVERHEAD
    details = evaluation.details
    fit = float(details.get("fit_seconds", evaluation.seconds))
    predict = float(details.get("predict_seconds", 0.0))
    folds = max(len(details.get("scores", ())), 1)
    measure = max(float(details.get("work_seconds", 0.0)) / folds - fit - predict, 0.0)
    slowdown = min(float(details.get("slowdown", 1.0)), MOST_SLOWDOWN)
    work = effort.rows * fit + effort.seen * predict + max(effort.seen, effort.calls) * measure
    return OVERHEAD * slowdown + MARGIN * work


def reserved_for_walk(expect: Expect, budget: float | None, evaluation: Evaluation | None) -> float:
    """What a search that certifies leaves of its budget: several final fits.

    Where they would take more than a quarter of it, it is one, or that quarter.
    """
    one = expect(evaluation)
    most = math.inf if budget is None else SHARE_OF_A_WALK * budget
    return max(one, min(FITS_OF_A_WALK * one, most))


class Fitter:
    """Final fits one after the other, as long as there is the time for them; the first always."""

    def __init__(self, config: RunConfig, executor: Executor, expect: Expect) -> None:
        self._config = config
        self._executor = executor
        self._expect = expect
        self._number = FIRST_NUMBER + TRIES

    def __call__(self, evaluation: Evaluation) -> Finished:
        """Fit one, or say that it was skipped."""
        self._number += 1
        deadline = self._config.deadline
        left = math.inf if deadline is None else deadline - time.monotonic() + GRACE
        is_first = self._number == FIRST_NUMBER + TRIES + 1
        if not is_first and self._expect(evaluation) > left:
            return Finished(self._number, Status.SKIPPED)
        limit = None if deadline is None else max(left, GRACE)
        return fit_finally(self._config, evaluation, self._executor, self._number, limit)


def refit_best(
    config: RunConfig, subject: Subject, result: RunResult, executor: Executor, expect: Expect
) -> tuple[Refit, Finished]:
    """Fit the best evaluation that can be fitted in the time left; if that fails, the next.

    The last of the time is not spent on a fit that is expected to take longer: a user who has
    waited is given a pipeline if there is one.
    """
    reason = "there was no time left"
    for number, evaluation in enumerate(_in_order(config, subject, result, expect)):
        left = None if config.deadline is None else config.deadline - time.monotonic()
        limit = None if left is None else max(left, 0.0) + GRACE
        finished = fit_finally(config, evaluation, executor, FIRST_NUMBER + number, limit)
        if finished.status is Status.SUCCESS:
            return read_refit(evaluation, finished), finished
        reason = f"{finished.status} {finished.message}".strip()
    raise NoSuccessError(
        f"the best pipeline could not be fitted on all rows: {reason}.",
        hint="Try a longer budget.",
    )


def _in_order(
    config: RunConfig, subject: Subject, result: RunResult, expect: Expect
) -> Iterator[Evaluation]:
    """The best first, without those that the time does not allow; at the least the quickest."""
    ranked = rank(result.evaluations, subject.limits)
    tried = 0
    for evaluation in ranked:
        if config.deadline is not None:
            left = config.deadline - time.monotonic() + GRACE
            if expect(evaluation) > left:
                continue
        tried += 1
        yield evaluation
        if tried == TRIES:
            return
    if not tried and ranked:
        yield min(ranked, key=expect)


def fit_finally(
    config: RunConfig, evaluation: Evaluation, executor: Executor, number: int, limit: float | None
) -> Finished:
    """Fit an evaluation's pipeline on all rows of the search, and measure it on those held out.

    It decides at the threshold that the evaluation found, or those of the groups, if it found any.
    """
    arguments = {
        "candidate": evaluation.candidate,
        "seed": derive_seed(config.seed, evaluation.key),
        "threshold": evaluation.details.get("threshold"),
        "group_thresholds": evaluation.details.get("group_thresholds"),
    }
    executor.submit(Task(number, "refit", arguments, limit, keep=True))
    return _wait_for(executor, number)


def _wait_for(executor: Executor, number: int) -> Finished:
    while True:
        for finished in executor.wait(None):
            if finished.number == number:
                return finished


def read_refit(evaluation: Evaluation, finished: Finished) -> Refit:
    """What a final fit that succeeded measured."""
    found = finished.result
    score = found.get("held_out_score")
    return Refit(
        evaluation=evaluation,
        held_out_score=None if score is None else float(score),
        held_out_constraints=tuple(found.get("held_out_constraints", ())),
        held_out_rows=int(found.get("held_out_rows", 0)),
        held_out_problem=str(found.get("held_out_problem", "")),
    )
