"""Rows of a table are known among new ones, and values that became frequent are no such rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.equal_by_chance import are_by_chance
from automl_admm.runs.saved.learned_rows import LearnedRows

MANY = 10**12
BLANK = 7


def hashes(values: object) -> RowHashes:
    found = np.asarray(values).astype(np.uint64)
    return RowHashes(found, found, found, found)


def measured(seed: int, rows: int, blank: float = 0.0, distinct: int = MANY) -> RowHashes:
    """Make rows that hardly ever are equal, but for a share of blank ones."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, distinct, rows) + BLANK + 1
    return hashes(np.where(rng.random(rows) < blank, BLANK, values))


@pytest.mark.parametrize("before", [0.0, 0.0005, 0.002, 0.05])
@pytest.mark.parametrize("now", [0.0, 0.015, 0.3, 1.0])
def test_an_outage_is_a_shift_and_no_row_of_the_table(before: float, now: float) -> None:
    table = measured(0, 3000, before)
    assert are_by_chance(measured(1, 800, now), table)


@pytest.mark.parametrize("share", [0.0, 0.3])
@pytest.mark.parametrize(("old", "new"), [(20, 0), (40, 440), (60, 440), (300, 200), (2250, 0)])
def test_rows_of_the_table_are_known_also_in_an_outage(old: int, new: int, share: float) -> None:
    table = measured(0, 2250, 0.002)
    own = table.part(np.random.default_rng(2).permutation(2250)[:old])
    assert not are_by_chance(RowHashes.together([own, measured(1, new, share)]), table)


def test_objects_of_many_files_are_told_by_the_pairs_of_the_table() -> None:
    """Of every object a file has a row or none, which a run with groups never sets aside alone."""

    def week(seed: int) -> list[int]:
        rng = np.random.default_rng(seed)
        return [int(one) for one in np.flatnonzero(rng.random(600) < 0.4)]

    for weeks in (2, 3, 8, 30):
        table = hashes([one for seed in range(weeks) for one in week(seed)])
        assert all(are_by_chance(hashes(week(100 + seed)), table) for seed in range(20))


def test_each_learned_row_counts_for_one_row() -> None:
    learned = LearnedRows.of(hashes([BLANK, BLANK, 1, 2]), [3])
    assert learned.count(hashes([BLANK] * 9 + [1, 2, 3])) == 3


def fit_with_doubles(times: int, doubled: int) -> tuple[RowHashes, LearnedRows]:
    """Return 1200 rows, and a fit of them that has some several times, without a reason."""
    rows = measured(0, 1200)
    all_ = RowHashes.together([rows, *[rows.part(slice(doubled))] * (times - 1)])
    places = np.random.default_rng(1).permutation(len(all_))
    return rows, LearnedRows.of(all_.part(places), range(len(all_) // 4))


@pytest.mark.parametrize(
    ("times", "doubled", "own"),
    [
        *[(1, 0, 40), (2, 60, 100), (2, 120, 160), (2, 600, 50), (3, 600, 50), (2, 1200, 50)],
        *[
            (5, 600, 50),
            (5, 1200, 50),
            (9, 600, 100),
            (9, 1200, 50),
            (20, 1200, 50),
            (20, 1200, 500),
        ],
    ],
)
def test_rows_of_a_fit_that_has_some_twice_are_not_fresh(
    times: int, doubled: int, own: int
) -> None:
    rows, learned = fit_with_doubles(times, doubled)
    some = rows.part(np.random.default_rng(2).permutation(1200)[:own])
    assert not learned.explain_of_all(RowHashes.together([some, measured(3, 500 - own)]))
    assert learned.explain_of_all(measured(3, 500))


@pytest.mark.parametrize("times", [2, 3, 4])
def test_rows_that_a_fit_has_once_more_than_others_are_not_fresh(times: int) -> None:
    rows = measured(0, 1200)
    all_ = RowHashes.together([*[rows] * (times - 1), rows.part(slice(600))])
    places = np.random.default_rng(1).permutation(len(all_))
    learned = LearnedRows.of(all_.part(places), range(len(all_) // 4))
    assert not learned.explain_of_all(RowHashes.together([rows.part(slice(100)), measured(3, 400)]))
    assert learned.explain_of_all(measured(3, 500))


@pytest.mark.parametrize("weeks", [8, 9, 20, 52])
@pytest.mark.parametrize("share", [0.7, 0.95])
def test_the_next_file_of_objects_that_come_again_is_fresh(weeks: int, share: float) -> None:
    """They stand about as often as each other, and hardly any still more often."""

    def week(seed: int) -> RowHashes:
        return hashes(np.flatnonzero(np.random.default_rng(seed).random(500) < share))

    table = RowHashes.together([week(seed) for seed in range(weeks)])
    places = np.random.default_rng(1).permutation(len(table))[: len(table) // 5]
    for are_drawn in (True, False):
        learned = LearnedRows.of(table, [int(one) for one in places], are_drawn=are_drawn)
        assert learned.explain_of_all(week(100))


def test_the_rows_aside_tell_the_rows_learned_from_where_they_are_drawn() -> None:
    rows, learned = fit_with_doubles(2, 150)
    some = rows.part(np.random.default_rng(2).permutation(1200)[:250])
    new = RowHashes.together([some, measured(3, 250)])
    assert not learned.explain(new)
    assert replace(learned, are_drawn=False).explain(new)


@pytest.mark.parametrize("size", [300, 1200, 20_000, 300_000])
def test_two_known_rows_are_refused_only_in_a_file_far_smaller_than_the_fit(size: int) -> None:
    learned = LearnedRows.of(measured(0, size), range(size // 5))
    known = learned.hashes.part(slice(2))
    new = RowHashes.together([known, measured(1, size // 100 - 2)])
    assert learned.explain(new)
    assert learned.explain_of_all(new)
    if size >= 20_000:
        assert not learned.explain(known)
        assert not learned.explain_of_all(known)


@pytest.mark.parametrize("distinct", [2, 30, 1000, 20_000, MANY])
@pytest.mark.parametrize("rows", [3, 60, 500, 4000])
def test_drawn_rows_are_fresh_however_few_values_they_have(distinct: int, rows: int) -> None:
    learned = LearnedRows.of(measured(0, 1200, 0.02, distinct), range(300))
    for seed in range(1, 6):
        new = measured(seed, rows, 0.1, distinct)
        assert learned.explain(new)
        assert learned.explain_of_all(new)


def test_hashes_of_looks_are_each_in_their_own_order() -> None:
    rng = np.random.default_rng(0)
    table = RowHashes(*rng.integers(1, MANY, (4, 1000)).astype(np.uint64))
    some = table.part(slice(100))
    look = RowHashes(*map(np.sort, some.every))
    assert (look.count_singles_of(table), table.count_singles_of(look)) == (100, 100)
    nothing = RowHashes.together([])
    assert nothing.count_singles_of(table) == 0
    assert are_by_chance(nothing, table)
    assert are_by_chance(some, nothing)
