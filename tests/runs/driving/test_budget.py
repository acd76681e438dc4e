from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.run import Account
from automl_admm.core.space import Candidate, Selection
from automl_admm.runs.driving.budget import Budget, Ledger, attribute_work


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_every_second_belongs_to_one_account() -> None:
    clock = Clock()
    ledger = Ledger(begun=98.0, clock=clock)
    clock.now += 1.0
    with ledger.charge(Account.SEARCH):
        clock.now += 2.0
        with ledger.charge(Account.SOLVER):
            clock.now += 4.0
            with ledger.charge(Account.STORE):
                clock.now += 8.0
        with ledger.charge(Account.SOLVER):
            clock.now += 16.0
    clock.now += 32.0
    assert ledger.seconds == {"start": 35.0, "search": 2.0, "solver": 20.0, "store": 8.0}
    assert sum(ledger.seconds.values()) == clock.now - 98.0


def test_an_account_that_is_open_counts_up_to_now() -> None:
    clock = Clock()
    ledger = Ledger(clock=clock)
    with ledger.charge(Account.SEARCH):
        clock.now += 3.0
        assert ledger.seconds["search"] == 3.0
        clock.now += 1.0
    assert ledger.seconds == {"start": 0.0, "search": 4.0}


def test_what_was_read_does_not_change_any_more() -> None:
    clock = Clock()
    ledger = Ledger(clock=clock)
    before = ledger.seconds
    clock.now += 1.0
    assert before == {"start": 0.0}


def test_a_block_that_raises_is_charged_and_left() -> None:
    clock = Clock()
    ledger = Ledger(clock=clock)

    def fail() -> None:
        with ledger.charge(Account.SEARCH), ledger.charge(Account.SOLVER):
            clock.now += 1.0
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    clock.now += 2.0
    assert ledger.seconds == {"start": 2.0, "search": 0.0, "solver": 1.0}


def test_a_function_is_charged_each_time_it_is_called() -> None:
    clock = Clock()
    ledger = Ledger(clock=clock)

    @ledger.charge("final fit")
    def work() -> None:
        clock.now += 5.0

    work()
    clock.now += 1.0
    work()
    assert ledger.seconds == {"start": 1.0, "final fit": 10.0}


def evaluated(seconds: float, status: Status = Status.SUCCESS, **details: Any) -> Evaluation:
    found = Candidate(Selection(()), ())
    return Evaluation(1, "k", found, status, 0.5, seconds=seconds, details=details)


PIPELINE = evaluated(
    10.0, scores=[0.5, 0.6], fit_seconds=3.0, predict_seconds=0.5, work_seconds=9.0
)


def test_worker_seconds_are_attributed_and_add_up() -> None:
    timed_out = evaluated(4.0, Status.TIMEOUT)
    killed = evaluated(3.0, Status.CANCELLED)
    found = attribute_work([PIPELINE, PIPELINE, timed_out, killed], workers=2, seconds=20.0)
    assert found == {
        "fit": 12.0,
        "predict": 2.0,
        "measure": 4.0,
        "start": 2.0,
        "failed": 4.0,
        "cancelled": 3.0,
        "idle": 13.0,
    }
    assert sum(found.values()) == 2 * 20.0


def test_of_a_black_box_only_the_whole_is_known() -> None:
    assert attribute_work([evaluated(3.0)], 1, 4.0) == {"evaluate": 3.0, "idle": 1.0}


def test_workers_are_never_idle_for_less_than_nothing() -> None:
    assert attribute_work([evaluated(3.0)], 1, 2.9)["idle"] == 0.0


BEST = evaluated(1.0)
LIMITED = Budget(deadline=200.0, evaluation_seconds=5.0, clock=Clock(), patience=0.4)
NEARLY_OVER = Budget(deadline=103.5, evaluation_seconds=1.0, clock=Clock(), patience=0.4)


def test_with_nothing_to_show_for_an_evaluation_may_take_longer() -> None:
    assert LIMITED.limit_of_next(None) == (40.0, False)
    assert LIMITED.limit_of_next(BEST) == (5.0, False)


def test_it_is_never_longer_than_what_is_left_nor_shorter_than_its_limit() -> None:
    nearly_over = replace(LIMITED, deadline=108.0)
    assert nearly_over.limit_of_next(None) == (5.0, False)
    assert replace(LIMITED, deadline=104.0).limit_of_next(None) == (4.0, True)
    assert replace(LIMITED, deadline=104.0).limit_of_next(BEST) == (4.0, True)


def test_the_last_seconds_are_not_divided_as_long_as_nothing_has_succeeded() -> None:
    assert NEARLY_OVER.limit_of_next(None) == (3.5, True)
    assert replace(NEARLY_OVER, deadline=105.0).limit_of_next(None) == (4.0, False)
    assert NEARLY_OVER.limit_of_next(BEST) == (1.0, False)
    assert replace(NEARLY_OVER, patience=0.0).limit_of_next(None) == (1.0, False)


def test_without_patience_or_deadline_the_limit_is_the_limit() -> None:
    assert replace(LIMITED, patience=0.0).limit_of_next(None) == (5.0, False)
    assert replace(LIMITED, deadline=None).limit_of_next(None) == (5.0, False)
    assert replace(LIMITED, evaluation_seconds=None).limit_of_next(None) == (100.0, True)
