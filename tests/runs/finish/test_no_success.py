from __future__ import annotations

import math
from dataclasses import replace

import pytest
from sklearn.linear_model import LogisticRegression

from automl_admm.core.errors import DiskFullError, NoSuccessError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.run import RunResult, Stop, StopReason
from automl_admm.core.space import Candidate, Selection
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.no_success import LONGER, best_or_raise, cure_fit, no_fit

CONFIG = RunConfig()
CANDIDATE = Candidate(Selection(()), ())


def ended(reason: StopReason, *statuses: Status, why: str = "why") -> RunResult:
    evaluations = tuple(
        Evaluation(number, str(number), CANDIDATE, status, message=why)
        for number, status in enumerate(statuses)
    )
    return RunResult(None, feasible=False, evaluations=evaluations, stop=Stop(reason), seconds=1)


def said(result: RunResult, config: RunConfig = CONFIG) -> str:
    with pytest.raises(NoSuccessError) as raised:
        best_or_raise(result, config)
    return str(raised.value)


@pytest.mark.parametrize("statuses", [(), (Status.CANCELLED,)])
def test_a_budget_too_short_for_one_is_to_be_longer(statuses: tuple[Status, ...]) -> None:
    assert said(ended(StopReason.BUDGET, *statuses)) == (
        "the budget ended before a single evaluation did. Give a longer time_budget."
    )


def test_what_failed_is_to_be_looked_at_and_more_time_would_not_help() -> None:
    for reason in (StopReason.EVALUATIONS, StopReason.BUDGET):
        assert said(ended(reason, Status.ERROR, Status.ERROR, Status.CRASHED)) == (
            "none of 3 evaluations succeeded (2 × error: why; 1 × crashed: why). "
            "Look at one with executor='inline'."
        )


@pytest.mark.parametrize("status", [Status.TIMEOUT, Status.CANCELLED])
def test_more_time_helps_what_was_cut_short(status: Status) -> None:
    assert "Give a longer time_budget or eval_time_limit, or look at one" in said(
        ended(StopReason.BUDGET, Status.ERROR, status)
    )


@pytest.mark.parametrize("reason", [StopReason.CANCEL, StopReason.PLUGIN])
def test_more_time_is_no_cure_for_a_run_that_was_cancelled(reason: StopReason) -> None:
    message = said(ended(reason, Status.ERROR, Status.CANCELLED))
    assert message.endswith(" Look at one with executor='inline'.")
    assert "longer" not in message


def test_a_lost_file_is_told_in_one_sentence_and_is_no_matter_of_pickling() -> None:
    reason = "error '/gone/model.pickle' of the final fit cannot be read: No such file."
    message = str(no_fit(reason, needs_time=False))
    assert message.endswith("No such file. Correct what is named here; more time would not help.")


def test_a_final_fit_is_given_more_time_only_where_that_helps() -> None:
    assert cure_fit("timeout killed after 1 s", needs_time=True) == LONGER
    locked = cure_fit("error TypeError: cannot pickle '_thread.lock' object", needs_time=False)
    assert "picklable" in str(locked)
    assert "more time would not help" in str(cure_fit("error ValueError: no", needs_time=False))


def test_who_ended_it_before_anything_is_named() -> None:
    assert said(ended(StopReason.PLUGIN)) == (
        "the search (a plugin) ended before a single evaluation did."
    )


@pytest.mark.parametrize("reason", [StopReason.EVALUATIONS, StopReason.BUDGET])
def test_more_time_is_no_cure_for_invalid_values(reason: StopReason) -> None:
    message = said(ended(reason, Status.INVALID, Status.INVALID))
    assert message.endswith("Correct what is named here; more time would not help.")


def test_inline_is_not_advised_where_it_is_used() -> None:
    inline = RunConfig(executor="inline")
    failed = said(ended(StopReason.EVALUATIONS, Status.ERROR, Status.INVALID), inline)
    assert failed.endswith("Correct what is named here; more time would not help.")
    late = said(ended(StopReason.BUDGET, Status.ERROR, Status.TIMEOUT), inline)
    assert late.endswith("Give a longer time_budget or eval_time_limit.")


def test_a_strategy_that_ends_at_once_is_named() -> None:
    message = said(ended(StopReason.EXHAUSTED), RunConfig(strategy="s-end"))
    assert message == (
        "the strategy 's-end' ended at once: nothing was evaluated. "
        "Choose another strategy, or correct this one."
    )


@pytest.mark.parametrize("reason", [StopReason.INTERRUPT, StopReason.TERMINATION])
def test_an_interrupt_is_an_interrupt(reason: StopReason) -> None:
    with pytest.raises(KeyboardInterrupt):
        best_or_raise(ended(reason), CONFIG)


def test_pipelines_that_take_no_gaps_are_to_begin_with_a_step_that_fills_them() -> None:
    """The message is scikit-learn's own."""
    with pytest.raises(ValueError, match="NaN") as refused:
        LogisticRegression().fit([[math.nan], [1.0]], [0, 1])
    why = f"ValueError: {refused.value}"
    message = said(ended(StopReason.EVALUATIONS, Status.ERROR, Status.ERROR, why=why))
    assert message.endswith(
        "Begin the pipelines of the grammar with impute, which fills missing values."
    )


FULL = "OSError: [Errno 28] No space left on device"


def test_a_full_disk_is_told_as_one() -> None:
    error = no_fit(f"error {FULL}", needs_time=False)
    assert isinstance(error, DiskFullError)
    assert str(error).endswith("and go on: what is written is kept.")
    assert isinstance(no_fit("error ValueError: no", needs_time=False), NoSuccessError)
    with pytest.raises(DiskFullError, match="none of 1 evaluation succeeded"):
        best_or_raise(ended(StopReason.EVALUATIONS, Status.ERROR, why=FULL), CONFIG)


def test_one_failure_for_want_of_room_among_others_is_no_full_disk() -> None:
    result = ended(StopReason.EVALUATIONS, *[Status.ERROR] * 3, why="ValueError: y has NaN")
    full = replace(result.evaluations[0], message="OSError: [Errno 27] File too large")
    told = said(replace(result, evaluations=(full, *result.evaluations[1:])))
    assert "2 × error: ValueError: y has NaN" in told
