"""Shifts of columns: told where they are real and large, and not by chance or by a type."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.drift import Summary, alarms, compare, summarize

RNG = np.random.default_rng(0)
AGES = pd.Series(RNG.normal(40, 10, 3000))
TOWNS = pd.Series(RNG.choice(["Rome", "Bonn", "Oslo"], 3000))


@pytest.mark.parametrize("column", [AGES, TOWNS], ids=["numbers", "levels"])
def test_rows_of_the_same_kind_give_no_alarm_but_for_the_risk(column: pd.Series) -> None:
    known, found = summarize(column), 0
    for seed in range(100):
        lot = column.sample(500, replace=True, random_state=seed)
        found += bool(alarms([compare("c", known, lot)], 0.05))
    assert found <= 5


@pytest.mark.parametrize(
    "lot",
    [AGES + 8, AGES * 2, AGES.where(AGES > 45), pd.Series([40.0] * 500), -AGES],
    ids=["moved", "wider", "gaps", "constant", "turned"],
)
def test_numbers_that_shift_give_one(lot: pd.Series) -> None:
    assert alarms([compare("age", summarize(AGES), lot)], 0.01)


def test_a_new_level_gives_one_and_so_does_a_level_that_is_gone() -> None:
    known = summarize(TOWNS)
    assert alarms([compare("town", known, TOWNS.replace("Oslo", "Kyiv"))], 0.01)
    assert alarms([compare("town", known, TOWNS[TOWNS != "Oslo"])], 0.01)


def test_a_small_shift_of_many_rows_is_significant_and_no_alarm() -> None:
    rng = np.random.default_rng(1)
    known, lot = summarize(rng.normal(0, 1, 200_000)), rng.normal(0.05, 1, 200_000)
    found = compare("x", known, pd.Series(lot))
    assert found.p < 1e-6
    assert not alarms([found], 0.05)


def test_a_level_is_the_same_from_another_type() -> None:
    codes = pd.Series(RNG.integers(0, 4, 2000)).astype("category")
    for lot in (codes.astype(str), codes.astype(float).astype("category"), codes.astype(object)):
        assert compare("code", summarize(codes), lot).index < 0.01


def test_missing_values_are_no_level_of_that_name() -> None:
    named = pd.Series(["missing", "others"] * 50)
    assert compare("c", summarize(named), pd.Series([None] * 100, dtype=object)).index > 1
    assert compare("c", summarize(named), named).index == 0


def test_a_summary_comes_back_from_json() -> None:
    for column in (AGES, TOWNS):
        made = summarize(column)
        assert Summary.of_json(json.loads(json.dumps(made.as_json()))) == made


def test_one_shifted_column_of_many_is_named_alone() -> None:
    columns = {f"x{place}": pd.Series(RNG.normal(size=1000)) for place in range(20)}
    known = {name: summarize(column) for name, column in columns.items()}
    columns["x7"] = columns["x7"] + 1
    found = alarms([compare(name, known[name], columns[name]) for name in columns], 0.05)
    assert [one.column for one in found] == ["x7"]
