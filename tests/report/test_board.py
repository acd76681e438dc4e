"""The leaderboard as columns."""

from __future__ import annotations

import math

import pytest
from report_runs import an_evaluation

from automl_admm.core.errors import UnknownNameError
from automl_admm.core.limits import Limit
from automl_admm.report.board import USUAL, Board, make_board, short_keys
from automl_admm.runs.standings import standings

SIZE = Limit("size_mb", 50.0)
RECALL = Limit("recall", 0.5, at_least=True)


def board(*limits: Limit) -> Board:
    values = {1: (10.0, 0.9), 2: (60.0, 0.4), 3: (20.0, math.nan), 7: ()}
    evaluations = [
        an_evaluation(number, constraints=found[: len(limits)], seconds=10.0 - number)
        for number, found in values.items()
    ]
    return make_board(standings(evaluations, limits), limits, "roc_auc", lambda e: 1.0 - e.loss)


def numbers(found: Board) -> list[int]:
    return [one.evaluation.number for one in found.standings]


def test_a_limit_has_its_value_its_bound_and_its_excess() -> None:
    found = board(SIZE, RECALL).sorted_by("number")
    names = [column.name for column in found.columns]
    assert names[4:10] == [
        *("size_mb", "recall"),
        *("bound of size_mb <= 50", "bound of recall >= 0.5"),
        *("excess of size_mb <= 50", "excess of recall >= 0.5"),
    ]
    assert found.rows[1][4:10] == pytest.approx((60.0, 0.4, 50.0, 0.5, 10.0, 0.1))
    assert found.rows[3][6:8] == (50.0, 0.5)
    assert all(math.isnan(found.rows[3][place]) for place in (4, 5, 8, 9))


@pytest.mark.parametrize(
    ("name", "order"),
    [
        ("number", [1, 2, 3, 7]),
        ("seconds", [7, 3, 2, 1]),
        ("size_mb <= 50", [1, 3, 2, 7]),
        ("size_mb", [1, 3, 2, 7]),
        ("recall >= 0.5", [1, 2, 3, 7]),
        ("excess of recall >= 0.5", [1, 2, 3, 7]),
    ],
)
def test_a_column_sorts_the_best_first_and_the_unknown_last(name: str, order: list[int]) -> None:
    assert numbers(board(SIZE, RECALL).sorted_by(name)) == order


def test_the_score_is_found_by_the_name_of_the_metric_too() -> None:
    found = board(SIZE)
    scores = [row[3] for row in found.sorted_by("roc_auc").rows]
    assert scores[:3] == sorted(scores[:3], reverse=True)
    assert math.isnan(scores[3])
    assert numbers(found.sorted_by("score")) == numbers(found.sorted_by("roc_auc"))


def test_the_columns_that_every_board_has_are_named_first() -> None:
    assert tuple(column.name for column in board().columns) == USUAL
    with pytest.raises(UnknownNameError) as told:
        board(RECALL).sorted_by("size_mb")
    assert f"Known: {', '.join(USUAL)}, recall. A value has a column only if" in str(told.value)
    many = [Limit(f"value{place}", 1.0) for place in range(40)]
    columns = make_board((), many, "roc_auc", lambda e: 1.0 - e.loss)
    with pytest.raises(UnknownNameError, match=r"value0, .*value7, …") as told:
        columns.sorted_by("?")
    assert len(str(told.value)) < 300


def test_a_column_that_is_not_there_is_told_with_near_ones() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'seconds'") as told:
        board(SIZE).sorted_by("secnds")
    assert "\n" not in str(told.value)


def test_limits_of_one_name_and_those_called_as_a_column_stay_apart() -> None:
    found = board(Limit("seconds", 3.0), RECALL)
    assert found.find("seconds").values != found.find("seconds (limit)").values
    twice = board(Limit("fpr", 0.2), Limit("fpr", 0.1, at_least=True)).sorted_by("number")
    assert twice.find("fpr <= 0.2").values[0] == 10.0
    assert twice.find("fpr >= 0.1").values[0] == 0.9


def test_short_keys_tell_all_apart() -> None:
    keys = ["a" * 24, "a" * 10 + "b" * 14, "c" * 24]
    assert [short_keys(keys)[key] for key in keys] == ["a" * 11, "a" * 10 + "b", "c" * 7]
    assert short_keys(["k-1", "k-12"]) == {"k-1": "k-1", "k-12": "k-12"}
    assert short_keys(["c" * 24]) == {"c" * 24: "c" * 7}
    assert short_keys([]) == {}
