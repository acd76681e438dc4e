"""A target that is not what it seems is refused, or told in a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import DataError
from automl_admm.data.ingest.answers import (
    decide_answers,
    read_answer,
    read_target,
    tell_answers,
)
from automl_admm.data.ingest.doubts import doubts_of_header, find_doubts, task_of

ROWS = 400
RNG = np.random.default_rng(3)
AMOUNTS = RNG.normal(5000, 2000, ROWS).round(-1)


def target(cells: Any) -> pd.Series:
    return pd.Series(list(cells), name="y")


@pytest.mark.parametrize("written", ["{:,.0f}", "${:,.0f}"])
@pytest.mark.parametrize("dtype", ["object", "category", "string"])
def test_numbers_in_text_of_two_readings_are_refused_as_a_target(written: str, dtype: str) -> None:
    cells = target(written.format(one) for one in RNG.uniform(1001, 9000, ROWS)).astype(dtype)
    with pytest.raises(DataError, match="target 'y' holds numbers in text, such as ") as refused:
        task_of(cells)
    assert refused.value.exit_code == 3
    assert decide_answers(cells, None, None).readings == ()
    assert decide_answers(cells, None, "regression").readings == ()
    assert len(decide_answers(cells, None, None, ".").readings) == 1
    assert decide_answers(cells, None, "classification", ".").readings == ()


@pytest.mark.parametrize("written", ["${:,.2f}", "{:,.2f}", "{:.1f}%", "{:.0f} kg", "€ {:.0f}"])
@pytest.mark.parametrize("dtype", ["object", "category", "string"])
def test_numbers_in_text_are_read_as_a_quantity(written: str, dtype: str) -> None:
    cells = target(written.format(one) for one in AMOUNTS).astype(dtype)
    answers = decide_answers(cells, None, None)
    found = read_target(cells, answers)
    assert found.tolist() == AMOUNTS.tolist()
    assert task_of(found) == "regression"
    (line,) = tell_answers(answers, "y")
    assert "predictions are such plain numbers" in line


def test_weights_are_read_whichever_sign_their_comma_is() -> None:
    weight = pd.Series(["1,000", "2,500", "3,000"], name="w")
    answers = decide_answers(target([1.5, 2.5, 3.5]), weight, None)
    assert read_answer(weight, answers).tolist() == [1000, 2500, 3000]
    words = pd.Series(["1,000.5", "much", "2,000.5"] * 9, name="w")
    assert decide_answers(target([1.5] * 27), words, None).readings == ()


def test_a_word_for_a_missing_target_is_told_with_its_place() -> None:
    cells = target([*(f"${one:,.2f}" for one in AMOUNTS[:30]), "n.d."])
    with pytest.raises(DataError, match="missing in 1 of 31 rows, first in row 30"):
        read_target(cells, decide_answers(cells, None, None))


@pytest.mark.parametrize(
    "cells",
    [
        RNG.choice(["5%", "10%", "20%"], ROWS),
        RNG.choice(["$5", "$10"], 8),
        RNG.choice(["good", "bad"], ROWS),
        [f"u{number}" for number in range(ROWS)],
        [f"{number:05d}" for number in RNG.integers(0, 99, ROWS)],
        [True, False] * 9,
    ],
)
def test_few_amounts_and_other_texts_are_classes(cells: Any) -> None:
    assert task_of(target(cells)) == "classification"


def test_numbers_are_no_text() -> None:
    assert task_of(target(AMOUNTS)) == "regression"


def test_a_target_of_very_many_classes_is_told() -> None:
    days = target(f"2021-01-{1 + number % 30:02d}" for number in range(100))
    (line,) = find_doubts(days, "classification")
    assert line.startswith("the target 'y' has 30 classes in 100 rows, such as '2021-01-01'")
    assert find_doubts(target([*days] * 2), "classification") == ()
    assert find_doubts(target(AMOUNTS), "regression") == ()


def test_classes_that_differ_only_in_case_or_blanks_are_named() -> None:
    (line,) = find_doubts(target(["Yes", "yes", "No", "no ", "maybe"] * 4), "classification")
    assert "differ only in case or blanks: 'Yes' and 'yes', 'No' and 'no ';" in line
    assert find_doubts(target(["yes", "no", "maybe"] * 4), "classification") == ()
    assert find_doubts(target([True, False] * 4), "classification") == ()


def test_of_many_such_classes_the_first_are_named() -> None:
    labels = [f"{case}{n}" for n in range(9) for case in "aA"]
    (line,) = find_doubts(target(labels * 5), "classification")
    assert "'a4' and 'A4' and 4 more;" in line
    assert "'a5'" not in line


@pytest.mark.parametrize(
    ("names", "target"),
    [
        (["5.1", "3.5", "1.4"], "0"),
        (["5.1", "3.5", "2"], None),
        (["2", "1", "0"], "3"),
        (["1", "7", "-3e5", "8", "9", "12"], "4"),
    ],
)
def test_a_header_of_numbers_alone_is_told(names: list[str], target: str | None) -> None:
    (line,) = doubts_of_header(names, target)
    assert f"are numbers alone ({names[0]}, {names[1]}, {names[2]}" in line
    assert "is the first row data?" in line


@pytest.mark.parametrize(
    ("names", "target"),
    [
        (["0", "1", "2"], "3"),
        (["1", "3", "4"], "2"),
        (["2001", "2002"], "2003"),
        (["400.5", "401.5"], "y"),
        (["400.5", "x"], "3"),
        (["1_000", "nan"], "inf"),
        ([7, 3], 5),
        ([], None),
    ],
)
def test_other_headers_are_taken_as_they_are(names: list[Any], target: Any) -> None:
    assert doubts_of_header(names, target) == ()


def test_fit_warns_of_many_classes_in_python() -> None:
    labels = [f"c{number % 30}" for number in range(90)]
    search = AutoMLClassifier(grammar="tiny", cv=2, max_evaluations=1, executor="inline")
    with pytest.warns(UserWarning, match="has 30 classes in 90 rows"):
        search.fit(pd.DataFrame({"x": RNG.normal(size=90)}), labels)
