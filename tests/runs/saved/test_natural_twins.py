"""Rows that repeat each other by nature are told from rows that are given again."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.saved.learned_rows import LearnedRows
from automl_admm.runs.saved.natural_twins import NaturalTwins, count_copies, count_unexplained

MANY = 10**12
SIZES = [(200, 20), (200, 200), (20, 60), (500, 1), (40, 1000)]


def drawn(seed: int, rows: int, distinct: int) -> RowHashes:
    """Draw rows of which some are more frequent than others."""
    rng = np.random.default_rng(seed)
    hashes = (rng.random(rows) ** 2 * distinct).astype(np.uint64)
    return RowHashes(hashes, hashes, hashes, hashes)


def fit(distinct: int) -> LearnedRows:
    return LearnedRows.of(drawn(99, 600, distinct), range(200))


def joined(*parts: RowHashes) -> RowHashes:
    return RowHashes.together(parts)


KNOWN = pytest.mark.parametrize("is_known", [True, False], ids=["rows of the fit", "looks alone"])


@KNOWN
@pytest.mark.parametrize("distinct", [1, 2, 8, 30, 1000, 100_000, MANY])
@pytest.mark.parametrize(("before", "now"), SIZES)
def test_new_rows_are_explained(distinct: int, before: int, now: int, *, is_known: bool) -> None:
    learned = fit(distinct) if is_known else None
    for seed in range(6):
        looks = [drawn(100 * seed + one, before, distinct) for one in range(6)]
        rows = drawn(100 * seed + 50, now, distinct)
        assert count_unexplained(rows, looks, learned) == 0
        assert count_copies(rows, learned) == 0


@KNOWN
@pytest.mark.parametrize("distinct", [20_000, MANY])
def test_rows_of_several_looks_are_known(distinct: int, *, is_known: bool) -> None:
    learned = fit(distinct) if is_known else None
    looks = [drawn(seed, 300, distinct) for seed in range(4)]
    first, second, *_ = looks
    over_both = joined(first.part(slice(150, 300)), second.part(slice(150)))
    but_one = joined(first.part(slice(1, 300)), drawn(7, 10, distinct))
    of_each = joined(*(look.part(slice(75)) for look in looks))
    for rows, known in ((over_both, looks[:2]), (but_one, looks[:1]), (of_each, looks)):
        found = count_unexplained(rows, known, learned)
        assert len(rows) - 30 <= found <= len(rows)


@KNOWN
@pytest.mark.parametrize("doubled", [20, 100, 200, 300])
def test_rows_are_known_of_a_look_that_has_some_twice(doubled: int, *, is_known: bool) -> None:
    learned = fit(MANY) if is_known else None
    all_ = drawn(0, 300, MANY)
    look = joined(all_, all_.part(slice(doubled)))
    again = joined(all_.part(slice(1, 300)), drawn(1, 200, MANY))
    assert count_unexplained(again, [look], learned) == 299
    assert count_unexplained(drawn(1, 500, MANY), [look], learned) == 0


@KNOWN
@pytest.mark.parametrize("times", [2, 8, 9, 20])
def test_rows_are_known_of_a_look_that_has_each_several_times(
    times: int, *, is_known: bool
) -> None:
    learned = fit(MANY) if is_known else None
    rows = drawn(0, 300, MANY)
    look = joined(*[rows] * times)
    assert count_unexplained(joined(rows, drawn(1, 200, MANY)), [look], learned) == 300
    assert count_unexplained(drawn(1, 200, MANY), [look], learned) == 0


def test_singles_are_known_beside_rows_that_a_look_has_twice() -> None:
    all_ = drawn(0, 300, MANY)
    look = joined(all_, all_.part(slice(200)))
    again = joined(all_.part(slice(200, 300)), drawn(1, 400, MANY))
    assert count_unexplained(again, [look], None) == 100


@pytest.mark.parametrize("distinct", [8, 30, 1000, 20_000, MANY])
def test_numbers_noted_of_the_fit_tell_its_twins(distinct: int) -> None:
    of_fit = NaturalTwins.within(fit(distinct).all)
    look = drawn(0, 500, distinct)
    for seed in range(1, 7):
        assert count_unexplained(drawn(seed, 500, distinct), [look], None, of_fit) == 0
    if distinct == MANY:
        again = joined(look.part(slice(30)), drawn(1, 470, MANY))
        assert count_unexplained(again, [look], None, NaturalTwins.noted([], 1500)) == 30


@KNOWN
def test_looks_that_hold_rows_twice_do_not_count_against_new_rows(*, is_known: bool) -> None:
    learned = fit(MANY) if is_known else None
    look = drawn(0, 300, MANY)
    older = [look, joined(look.part(slice(1, 300)), drawn(1, 10, MANY))]
    assert count_unexplained(drawn(2, 300, MANY), older, learned) == 0
    assert count_unexplained(look.part(slice(200)), older, learned) == 200


@KNOWN
@pytest.mark.parametrize("times", [2, 3, 10])
def test_a_table_given_several_times_is_told(times: int, *, is_known: bool) -> None:
    learned = fit(MANY) if is_known else None
    rows = joined(*[drawn(0, 300, MANY)] * times)
    assert count_copies(rows, learned) == 300 * (times - 1)
    part = joined(drawn(0, 300, MANY), drawn(0, 100, MANY))
    assert count_copies(part, learned) == (100 if is_known else 0)
    assert count_copies(part, learned, NaturalTwins.noted([], 600)) == 100


@pytest.mark.parametrize("distinct", [8, 30, 1000])
def test_twins_of_the_fit_explain_those_of_new_rows(distinct: int) -> None:
    of_fit = NaturalTwins.within(fit(distinct).all)
    for seed in range(6):
        assert count_copies(drawn(seed, 300, distinct), None, of_fit) == 0


def blanked(seed: int, share: float = 0.1, rows: int = 800) -> RowHashes:
    """Rows of an outage: a share of them are all the same."""
    is_blank = np.random.default_rng(seed).random(rows) < share
    hashes = np.where(is_blank, np.uint64(MANY + 1), drawn(seed + 1, rows, MANY).exact)
    return RowHashes(hashes, hashes, hashes, hashes)


@KNOWN
def test_a_lasting_outage_is_no_row_given_again(*, is_known: bool) -> None:
    learned = fit(MANY) if is_known else None
    look = blanked(0)
    assert count_unexplained(blanked(10), [look], learned) == 0
    assert count_copies(blanked(10), learned) == 0
    again = joined(look.part(slice(100)), blanked(20, rows=400))
    assert count_unexplained(again, [look], learned) >= 100


@pytest.mark.parametrize("share", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("is_noted", [True, False], ids=["noted", "rows of the fit"])
def test_an_outage_in_the_fit_hides_no_rows_given_again(share: float, *, is_noted: bool) -> None:
    rows = blanked(50, share, 1500)
    learned = LearnedRows.of(rows, range(400))
    known = (None, NaturalTwins.within(learned.all)) if is_noted else (learned,)
    look, new = drawn(0, 500, MANY), drawn(1, 475, MANY)
    assert count_unexplained(joined(look.part(slice(25)), new), [look], *known) == 25
    assert count_copies(joined(new, new.part(slice(20))), *known) == 20
    assert count_unexplained(blanked(10, share), [blanked(0, share)], *known) == 0
    assert count_copies(blanked(10, share), *known) == 0


@pytest.mark.parametrize("before", [20, 200, 4000])
@pytest.mark.parametrize("now", [20, 200, 4000])
def test_frequent_values_are_in_files_of_any_size(before: int, now: int) -> None:
    """Of 50 values half of all rows have one."""
    for seed in range(3):
        learned = LearnedRows.of(half_frequent(seed, 5000), range(1000))
        look, rows = half_frequent(seed + 10, before), half_frequent(seed + 20, now)
        for known in ((None, NaturalTwins.within(learned.all)), (learned,)):
            assert count_unexplained(rows, [look], *known) == 0


def half_frequent(seed: int, rows: int, few: int = 50) -> RowHashes:
    """Draw rows of which half have one of few values, and the others hardly ever one twice."""
    rng = np.random.default_rng(seed)
    often, rare = rng.integers(0, few, rows), rng.integers(few, MANY, rows)
    hashes = np.where(rng.random(rows) < 0.5, often, rare).astype(np.uint64)
    return RowHashes(hashes, hashes, hashes, hashes)


@pytest.mark.parametrize("is_noted", [True, False], ids=["noted", "rows of the fit"])
def test_frequent_values_hide_no_rows_given_again(*, is_noted: bool) -> None:
    """Each value counts once, in a look as in the fit."""
    for seed in range(3):
        learned = LearnedRows.of(half_frequent(seed, 1000, 100), range(200))
        known = (None, NaturalTwins.within(learned.all)) if is_noted else (learned,)
        look = half_frequent(seed + 10, 500, 100)
        again = joined(look.part(slice(250)), half_frequent(seed + 20, 250, 100))
        assert count_unexplained(again, [look], *known) >= 250


def week(seed: int, objects: int = 500) -> RowHashes:
    """Return most of the same objects, each once."""
    is_there = np.random.default_rng(seed).random(objects) < 0.8
    found = np.flatnonzero(is_there).astype(np.uint64)
    return RowHashes(found, found, found, found)


@pytest.mark.parametrize("weeks", [2, 10, 52])
@pytest.mark.parametrize("objects", [500, 600, 1000], ids=["as many", "some more", "twice"])
@pytest.mark.parametrize("is_noted", [True, False], ids=["noted", "rows of the fit"])
def test_a_fit_of_several_weeks_tells_that_objects_come_again(
    weeks: int, objects: int, *, is_noted: bool
) -> None:
    """There may be more objects by now."""
    learned = LearnedRows.of(joined(*map(week, range(weeks))), range(100))
    known = (None, NaturalTwins.within(learned.all)) if is_noted else (learned,)
    for looks in (1, 5):
        tables = [week(100 + one, objects) for one in range(looks)]
        assert count_unexplained(week(99, objects), tables, *known) == 0


@KNOWN
def test_rows_rounded_since_the_fit_repeat_by_nature(*, is_known: bool) -> None:
    learned = fit(MANY) if is_known else None
    assert count_unexplained(drawn(2, 400, 2000), [drawn(1, 400, 2000)], learned) == 0


@KNOWN
@pytest.mark.parametrize("times", [1, 2, 3])
def test_new_rows_given_twice_do_not_hide_those_of_a_look(times: int, *, is_known: bool) -> None:
    learned = fit(MANY) if is_known else None
    look = drawn(0, 500, MANY)
    mixed = joined(look.part(slice(150)), drawn(1, 350, MANY))
    assert count_unexplained(joined(*[mixed] * times), [look], learned) == 150


def test_rows_of_one_moment_are_held_to_those_of_their_look() -> None:
    """The moments of the fit had few rows each, of which few were equal."""
    morning, evening = drawn(1, 300, 1000), drawn(2, 300, 1000)
    learned = fit(20_000)
    assert count_unexplained(evening, [morning], learned, is_timed=True) == 0
    rare = drawn(1, 300, MANY)
    given = joined(rare.part(slice(100)), drawn(2, 100, MANY))
    assert count_unexplained(given, [rare], learned, is_timed=True) == 100


def test_no_rows_are_explained() -> None:
    nothing = RowHashes.together([])
    for learned in (fit(MANY), None):
        assert count_unexplained(nothing, [drawn(0, 5, 8)], learned) == 0
        assert count_unexplained(drawn(0, 5, 8), [nothing], learned) == 0
        assert count_copies(nothing, learned) == 0
