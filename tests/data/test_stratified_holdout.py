"""Rows held out: as many as were asked for, each by the same chance, every kind on both sides."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from automl_admm.certify.bounds.rates import upper_rate
from automl_admm.core.errors import DataError
from automl_admm.data.splits import hold_out, make_splits

RNG = np.random.default_rng(0)
ROWS = 900
Y = RNG.integers(0, 2, ROWS)
GROUPINGS = [RNG.choice(list("abcde"), ROWS) for _ in range(9)]


@pytest.mark.parametrize("groupings", [0, 1, 2, 4, 9])
@pytest.mark.parametrize("share", [0.2, 0.45, 0.8])
def test_the_share_is_held_out_whatever_the_groupings(groupings, share):
    for seed in range(5):
        _, test = hold_out(Y, "classification", share, seed, GROUPINGS[:groupings])
        assert len(test) == pytest.approx(share * ROWS, abs=5)
    ((_, valid),) = make_splits(Y, "classification", share, 0, GROUPINGS[:groupings])
    assert len(valid) == pytest.approx(share * ROWS, abs=5)


def test_rows_of_rare_combinations_are_held_out_as_often_as_others():
    """Nobody else is like them: set apart by all groupings, such rows would never be tested."""
    common = np.arange(ROWS) < ROWS // 2
    groupings = [np.where(common, "a", names) for names in GROUPINGS]
    times = np.zeros(ROWS)
    for seed in range(300):
        times[hold_out(Y, "classification", 0.2, seed, groupings)[1]] += 1
    assert times[common].mean() / 300 == pytest.approx(0.2, abs=0.01)
    assert times[~common].mean() / 300 == pytest.approx(0.2, abs=0.01)
    # Five standard errors of a share of 300.
    assert abs(times / 300 - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / 300)


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=4, max_size=60),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
)
def test_whatever_has_a_row_to_expect_is_on_both_sides(rows, share, seed):
    y, *groupings = np.array(rows).T
    y = y % 2  # so that a class has two rows
    search, test = hold_out(y, "classification", share, seed, groupings)
    assert sorted([*search, *test]) == list(range(len(y)))
    assert set(y[search]) == set(y)
    assert set(y[test]) == {one for one in set(y) if (y == one).sum() > 1}


def test_small_groups_of_each_limit_are_on_both_sides():
    few = [np.where(RNG.permutation(ROWS) < 30, "few", names) for names in GROUPINGS[:4]]
    for part in hold_out(Y, "classification", 0.2, 0, few):
        for names in few:
            assert len({*zip(Y[part], names[part], strict=True)}) == 12


def set_aside(y, share, seed=0, groupings=()):
    return hold_out(y, "classification", share, seed, groupings, at_random=True)[1]


@pytest.mark.parametrize("size", [1, 2, 7, 27])
def test_for_a_certificate_rows_of_rare_classes_have_the_same_chance(size):
    """Kept with the search, such rows are never tested, and the model errs on new ones of them."""
    rare = np.arange(ROWS) < 300
    y = np.where(rare, 2 + np.arange(ROWS) // size, Y)
    times = np.zeros(ROWS)
    for seed in range(300):
        times[set_aside(y, 0.26, seed)] += 1
    assert times[rare].mean() / 300 == pytest.approx(0.26, abs=0.01)
    assert times[~rare].mean() / 300 == pytest.approx(0.26, abs=0.01)
    assert abs(times / 300 - 0.26).max() < 5 * np.sqrt(0.26 * 0.74 / 300)


def test_labels_of_one_row_each_do_not_make_an_error_rate_too_good():
    """The best model there is errs on one row in twenty: at most 2.5 % may be told otherwise."""
    false = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        alone = rng.random(3000) < 0.05
        y = np.where(alone, [f"typo {row}" for row in range(3000)], rng.choice(["a", "b"], 3000))
        tested = set_aside(y, 0.26)
        false += upper_rate(int(alone[tested].sum()), len(tested), 0.025) <= 0.03
    assert false <= 5


@given(
    rows=st.lists(st.tuples(*[st.integers(0, 3)] * 2), min_size=2, max_size=60),
    share=st.floats(0.05, 0.95),
    seed=st.integers(0, 9),
)
def test_for_a_certificate_each_stratum_has_its_share_to_a_row(rows, share, seed):
    y, names = np.array(rows).T
    try:
        search, test = hold_out(y, "classification", share, seed, [names], at_random=True)
    except DataError:
        assume(False)  # the search would have one class
    assert sorted([*search, *test]) == list(range(len(y)))
    assert len(set(y[search])) >= min(2, len(set(y)))
    assert len(test) == pytest.approx(share * len(y), abs=1)
    for stratum in set(rows):
        mine = [place for place in test if rows[place] == stratum]
        assert len(mine) == pytest.approx(share * rows.count(stratum), abs=1)


def test_many_rows_of_each_class_are_parted_as_in_earlier_versions():
    y = np.repeat([0, 1], [2100, 900])
    plain = hold_out(y, "classification", 0.26)
    by_chance = hold_out(y, "classification", 0.26, at_random=True)
    assert all(np.array_equal(*pair) for pair in zip(plain, by_chance, strict=True))


def test_a_search_without_a_second_class_is_refused():
    """For some seeds the only row of a class is set aside: no such parts are returned."""
    y, told = np.repeat([0, 1], [3, 1]), set()
    for seed in range(20):
        with suppress(DataError):
            told.add(frozenset(y[hold_out(y, "classification", 0.5, seed, at_random=True)[0]]))
    assert told == {frozenset({0, 1})}
