"""What the benchmarks call better, and what they do not."""

from __future__ import annotations

from typing import Any

import artificial_report as curves
import limits_report as report
import pytest
from paired import compare


@pytest.mark.parametrize(
    ("ours", "theirs", "text"),
    [
        ([1.0] * 6 + [3.0] * 4, [2.0] * 10, "6/4/0 (p 0.75)"),
        ([1.0] * 10, [2.0] * 10, "10/0/0 (p 0.002)"),
        ([1.0] * 8 + [2.0] * 2, [2.0] * 10, "8/0/2 (p 0.0078)"),
        ([2.0] * 3, [2.0] * 3, "0/0/3 (p 1)"),
    ],
)
def test_the_sign_test_is_exact_and_ties_say_nothing(
    ours: list[float], theirs: list[float], text: str
) -> None:
    assert str(compare(ours, theirs)) == text


def cells(**best: list[float]) -> dict[str, Any]:
    return {name: report.Cell(tuple(row), (0.5,), (1.0,)) for name, row in best.items()}


def test_a_setting_where_a_test_tells_nothing_is_won_by_nobody() -> None:
    setting = report.Setting("gap", 0.02, 1.0, 1.0)
    level = [0.20, 0.22, 0.24, 0.26, 0.28, 0.30, 0.32, 0.34, 0.36, 0.38]
    mixed = [x + (0.011 if place % 2 else -0.010) for place, x in enumerate(level)]
    above = [x + 0.02 + place / 1000 for place, x in enumerate(level)]
    table = {setting: cells(mine=level, mixed=mixed, above=above)}
    assert report.settled(table, "mine", "mixed") == (0, 0)
    assert report.settled(table, "mine", "above") == (1, 0)
    assert report.settled(table, "above", "mine") == (0, 1)
    assert report.settled(table, "mine", "mine") == (0, 0)


def test_runs_that_found_nothing_are_level_with_each_other_and_behind_all_others() -> None:
    nothing, some = [float("inf")] * 8, [0.2 + place / 100 for place in range(8)]
    table = {report.Setting("gap", 0.02, 1.0, 1.0): cells(none=nothing, some=some)}
    assert report.settled(table, "some", "none") == (1, 0)
    assert report.settled(table, "none", "none") == (0, 0)
    (row,) = table.values()
    assert not row["none"].has_best_median(row["none"])


def test_a_curve_is_read_by_time_and_by_evaluations() -> None:
    curve = [(0.1, 1, 3.0), (0.5, 40, 2.0), (4.0, 90, 1.0), (5.0, 120, 1.0)]
    assert [curves.at(curve, moment) for moment in (0.01, 0.4, 0.5, 9.0)] == [3.0, 3.0, 2.0, 1.0]
    assert curves.at(curve, 64, curves.EVALUATIONS) == 2.0
    assert curves.reached([curve], 2.0, axis=curves.EVALUATIONS) == 40
    assert curves.reached([curve], 0.5) == float("inf")
    assert curves.did([curve], 120)
    assert not curves.did([curve], 121)
