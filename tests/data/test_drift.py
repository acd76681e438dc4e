"""Shifts of columns: told where they are real and large, and not by chance or by a type."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.drift import Shift, alarms, compare, read_summary, summarize

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


def test_a_number_that_is_mostly_one_value_shifts_if_it_is_that_no_more() -> None:
    gain = pd.Series(np.where(RNG.random(3000) < 0.92, 0.0, RNG.exponential(900.0, 3000)))
    known = summarize(gain)
    assert alarms([compare("gain", known, gain[gain > 0])], 0.01)
    assert not alarms([compare("gain", known, gain.sample(600, random_state=0))], 0.01)


def test_a_number_that_is_mostly_the_largest_one_has_edges_that_json_can_write() -> None:
    ages = np.random.default_rng(5).random(900)
    filled = pd.Series(np.where(ages < 0.5, np.finfo(float).max, ages))
    known = summarize(filled)
    assert read_summary(json.loads(json.dumps(known.as_json(), allow_nan=False))) == known
    assert alarms([compare("x", known, filled[filled < 1])], 0.01)


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


@pytest.mark.parametrize("kinds", [5, 20, 200], ids="{} values".format)
@pytest.mark.parametrize("is_wide", [True, False], ids=["widened", "narrow"])
def test_tenths_are_the_same_numbers_in_floats_of_four_bytes(kinds: int, *, is_wide: bool) -> None:
    before, now = (pd.Series(RNG.integers(0, kinds, rows) / 10) for rows in (2000, 1000))
    narrow = [one.astype("float32") for one in (before, now)]
    old, new = (one.astype(float) if is_wide else one for one in narrow)
    found = compare("x", summarize(before), now)
    assert compare("x", summarize(old), now) == found
    assert compare("x", summarize(before), new) == found


def test_tenths_are_the_same_numbers_in_floats_of_two_bytes() -> None:
    before, now = (pd.Series(RNG.integers(0, 20, rows) / 10) for rows in (2000, 1000))
    found = compare("x", summarize(before), now)
    assert compare("x", summarize(before), now.astype("float16")) == found
    assert compare("x", summarize(before.astype("float16")), now) == found


def test_large_numbers_of_a_narrow_range_shift_as_others_do() -> None:
    codes = pd.Series(1_000_000_000 + RNG.integers(0, 500, 2000))
    known = summarize(codes)
    assert alarms([compare("code", known, codes[codes >= codes.median()])], 0.05)
    assert not alarms([compare("code", known, codes.sample(frac=0.5, random_state=0))], 0.05)


def test_missing_values_are_no_level_of_that_name() -> None:
    named = pd.Series(["missing", "others"] * 50)
    assert compare("c", summarize(named), pd.Series([None] * 100, dtype=object)).index > 1
    assert compare("c", summarize(named), named).index == 0


def test_a_summary_comes_back_from_json() -> None:
    for column in (AGES, TOWNS):
        made = summarize(column)
        assert read_summary(json.loads(json.dumps(made.as_json()))) == made


def test_one_shifted_column_of_many_is_named_alone() -> None:
    columns = {f"x{place}": pd.Series(RNG.normal(size=1000)) for place in range(20)}
    known = {name: summarize(column) for name, column in columns.items()}
    columns["x7"] = columns["x7"] + 1
    found = alarms([compare(name, known[name], columns[name]) for name in columns], 0.05)
    assert [one.column for one in found] == ["x7"]


def branches(rows: int, seed: int, kinds: int = 400, power: float = 0.0) -> pd.Series:
    shares = 1.0 / np.arange(1, kinds + 1) ** power
    drawn = np.random.default_rng(seed).choice(kinds, rows, p=shares / shares.sum())
    return pd.Series(drawn).map("branch {}".format)


@pytest.mark.parametrize("power", [0.0, 1.0], ids=["as frequent", "Zipf"])
@pytest.mark.parametrize("kinds", [40, 400, 2000])
def test_many_levels_of_the_same_kind_give_no_alarm(kinds: int, power: float) -> None:
    found = 0
    for seed in range(20):
        known = summarize(branches(800, seed, kinds, power))
        for more in range(3):
            lot = branches(600, 100 + 3 * seed + more, kinds, power)
            found += bool(alarms([compare("branch", known, lot)], 0.05))
    assert found <= 4


@pytest.mark.parametrize(
    "turned",
    [
        lambda lot: lot.where(lot.index >= 120, "branch 7"),
        lambda lot: "new " + lot,
        lambda lot: lot.where(lot.index >= 200, None),
        lambda lot: lot.map(lambda name: name[:-1]),
    ],
    ids=["one grows", "all new", "missing", "fewer"],
)
def test_many_levels_that_shift_give_one(turned: Any) -> None:
    known, lot = summarize(branches(800, 0)), turned(branches(600, 1))
    assert alarms([compare("branch", known, lot)], 0.001)


@pytest.mark.parametrize(("kinds", "power"), [(400, 1.5), (10, 0.0)], ids=["one", "one of ten"])
def test_a_frequent_level_that_is_lost_gives_one(kinds: int, power: float) -> None:
    known, lot = summarize(branches(800, 0, kinds, power)), branches(600, 1, kinds, power)
    assert alarms([compare("branch", known, lot[lot != "branch 0"])], 0.001)


def test_a_small_shift_of_frequent_levels_hides_no_large_one_of_rare_ones() -> None:
    """Of many rows each is sure: both have a p of 0."""
    rng, rows = np.random.default_rng(3), 200_000
    rare, more = rng.integers(3, 500, rows), rng.integers(3, 1000, rows)
    before = rng.choice(4, rows, p=[0.4, 0.2, 0.2, 0.2])
    now = rng.choice(4, rows, p=[0.44, 0.2, 0.16, 0.2])
    known = summarize(pd.Series(np.where(before < 3, before, rare)).map(str))
    assert alarms([compare("x", known, pd.Series(np.where(now < 3, now, more)).map(str))], 0.01)
    same_rare = pd.Series(np.where(now < 3, now, rare)).map(str)
    assert not alarms([compare("x", known, same_rare)], 0.01)


def test_one_row_of_a_new_level_or_without_a_value_gives_none() -> None:
    towns = pd.concat([TOWNS[:49], pd.Series(["Kyiv"])])
    assert not alarms([compare("town", summarize(TOWNS), towns)], 0.05)
    ages = pd.concat([AGES[:49], pd.Series([np.nan])])
    assert not alarms([compare("age", summarize(AGES), ages)], 0.05)


def test_a_flag_that_is_a_number_shifts_as_a_level_does() -> None:
    flags = pd.Series(np.arange(1000) < 30).astype(int)
    known = summarize(flags)
    assert alarms([compare("flag", known, pd.Series(np.arange(500) < 150).astype(float))], 0.001)
    assert not alarms([compare("flag", known, flags.astype(float))], 0.05)


def test_the_index_of_few_rows_is_compared_with_that_of_chance() -> None:
    rng = np.random.default_rng(2)
    known = summarize(rng.normal(size=200))
    found = [compare("x", known, pd.Series(rng.normal(size=60))) for _ in range(200)]
    assert np.mean([one.index for one in found]) == pytest.approx(found[0].by_chance, rel=0.3)


def test_only_what_the_index_has_beyond_chance_counts() -> None:
    assert not alarms([Shift("x", 0.0, 0.14, by_chance=0.05)], 0.05)
    assert alarms([Shift("x", 0.0, 0.16, by_chance=0.05)], 0.05)


def test_several_tests_of_a_column_find_no_more_by_chance_than_one() -> None:
    found = []
    for seed in range(20):
        known = summarize(branches(800, seed, 60, power=1.0))
        lots = (branches(200, 100 + 10 * seed + more, 60, power=1.0) for more in range(10))
        found += [compare("branch", known, lot).p for lot in lots]
    assert np.mean(np.array(found) <= 0.1) <= 0.1


RARE = pd.Series(np.where(np.random.default_rng(2).random(50_000) < 0.05, "no", "yes"))
EVEN = branches(1500, 3, kinds=8)


@pytest.mark.parametrize(
    ("known", "lot"),
    [
        (RARE, pd.Series(["no"] * 30)),
        (RARE, pd.Series(["new"] * 90)),
        (RARE, pd.Series([None] * 60, dtype=object)),
        (EVEN, pd.Series([EVEN[0]] * 20)),
        (EVEN, pd.Series([None] * 20, dtype=object)),
    ],
    ids=["rare", "new", "missing", "one level", "no level"],
)
def test_a_look_of_few_rows_that_are_all_otherwise_gives_one(
    known: pd.Series, lot: pd.Series
) -> None:
    shift = compare("x", summarize(known), lot)
    assert alarms([shift], 0.001) == [shift]


def test_one_new_row_of_few_beside_a_large_reference_is_no_shift() -> None:
    lot = pd.Series(["yes"] * 29 + ["new"])
    assert not alarms([compare("x", summarize(RARE), lot)], 0.05)


@pytest.mark.parametrize(
    ("edges", "bins"),
    [([2.0, 1.0], 3), ([1.0, 1.0], 3), ([np.nan], 2), ([1.0], 3), ([1.0, 2.0], 2)],
)
def test_a_summary_with_senseless_numbers_is_refused(edges: list[float], bins: int) -> None:
    counts = {f"bin {place}": 4 for place in range(bins)} | {"missing": 0}
    with pytest.raises(ValueError, match=r"its (edges|counts) are not"):
        read_summary({"counts": counts, "edges": edges})
