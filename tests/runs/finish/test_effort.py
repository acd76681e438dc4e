"""A final fit is expected to take as long as its rows, its calls and the machine say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from automl_admm.pipelines.predictions.measured import Table
from automl_admm.runs.finish.effort import Effort, effort_of, expected_seconds
from tests.runs.finish.test_final_fit import evaluation

TIMED = evaluation(1, 0.1, 1.0)
TIMED = replace(
    TIMED,
    details={
        "scores": [0.5] * 4,
        "fit_seconds": 2.0,
        "predict_seconds": 0.25,
        "work_seconds": 4 * (2.0 + 0.25 + 0.5),
    },
)
NOTHING = expected_seconds(Effort(), None)


def longer(effort: Effort) -> float:
    return expected_seconds(effort, TIMED) - expected_seconds(Effort(), TIMED)


def test_a_final_fit_is_expected_to_take_longer_on_more_rows() -> None:
    assert expected_seconds(Effort(), TIMED) >= NOTHING + 2.0 + 0.25 + 0.5
    assert longer(Effort(rows=2.0)) >= 2.0
    assert longer(Effort(seen=3.0)) >= 2 * 0.25 + 2 * 0.5


def test_limits_that_are_timed_more_often_are_reserved_for() -> None:
    assert longer(Effort(calls=8.0)) >= 7 * 0.5


def test_what_comes_with_a_fit_is_as_slow_as_the_machine() -> None:
    slow = replace(TIMED, details={**TIMED.details, "slowdown": 3.0})
    assert expected_seconds(Effort(), slow) == expected_seconds(Effort(), TIMED) + 2.0 * NOTHING


@dataclass(frozen=True)
class Limiting:
    timed_calls: int = 0


@dataclass(frozen=True)
class Work:
    table: Table
    held_out: Table | None
    splits: tuple[tuple[range, range], ...]
    calls: int = 0
    constraints: tuple[Limiting, ...] = ()


ROWS = Table(None, np.zeros(400))
SPLITS = ((range(300), range(300, 400)),)


def test_the_effort_follows_from_the_rows() -> None:
    assert effort_of(Work(ROWS, None, SPLITS)) == Effort(rows=4 / 3, seen=0.0)
    work = Work(ROWS, Table(None, np.zeros(250)), SPLITS, calls=90)
    assert effort_of(work) == Effort(rows=4 / 3, seen=2.5)


def test_calls_count_where_limits_are_measured_by_calls() -> None:
    work = Work(ROWS, ROWS, SPLITS, calls=90, constraints=(Limiting(), Limiting(timed_calls=9)))
    assert effort_of(work).calls == 10.0
    most = replace(work, constraints=(Limiting(timed_calls=9), Limiting(timed_calls=3)))
    assert effort_of(most).calls == 30.0
    assert effort_of(replace(work, constraints=(Limiting(),))).calls == 1.0
    assert effort_of(replace(work, calls=0)).calls == 1.0
