"""The study of Hyperband: what counts after so much of a budget, its ranks and its pairs."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hyperband import BASE, METHODS, Course, outcomes, pairs, rank_means


def records(tests: dict[str, list[float]]) -> list[dict[str, Any]]:
    """One record a method and seed; the validated loss is the half of the test loss."""
    numbers = {"made": 4, "rough": 2, "spent": 3.0, "seconds": 1.0}
    return [
        {"data": "a", "seed": seed, "method": name, "test": test, "best": [math.inf, 1.0, test / 2]}
        | numbers
        for name in METHODS
        for seed, test in enumerate(tests.get(name, [0.5] * 6))
    ]


def test_a_loss_counts_from_the_mark_by_which_it_was_paid_for() -> None:
    course = Course(budget=3)
    for fidelity, loss in ((1 / 3, 0.1), (1.0, 0.5), (1 / 3, 0.0), (1.0, 0.3), (1.0, 0.2)):
        course.add(fidelity, loss)
    # Rough losses never count, and the last one was paid for after the budget.
    assert course.best == [math.inf, 0.5, 0.3]
    assert (course.made, course.rough) == (5, 2)
    assert course.spent == pytest.approx(3 + 2 / 3)


def test_a_failure_is_paid_for_and_is_no_loss() -> None:
    course = Course(budget=3)
    course.add(1.0, math.nan)
    course.add(1.0, 0.4)
    assert course.best == [math.inf, 0.4, 0.4]


def test_ranks_share_ties() -> None:
    ranks = rank_means(records({BASE: [0.1] * 6, "joint tpe": [0.9] * 6}))
    assert ranks[BASE] == 1.0
    assert ranks["joint tpe"] == len(METHODS)
    assert ranks["joint random"] == pytest.approx((len(METHODS) + 1) / 2)


def test_pairs_are_corrected_over_all_cells() -> None:
    rows = {row[0]: row[1:] for row in pairs(records({BASE: [0.1] * 6}))}
    assert set(rows) == set(METHODS) - {BASE}
    # 0.031 for 6 of 6, and twelve cells.
    assert rows["joint tpe"] == ["6/0/0 (p 0.38)", "6/0/0 (p 0.38)"]


def test_a_method_without_a_whole_evaluation_by_a_mark_has_no_loss_there() -> None:
    (row, *_) = outcomes(records({}))
    assert row[:5] == [BASE, "-", "1.0000", "0.2500", "0.5000"]
