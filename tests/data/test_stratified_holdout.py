"""Rows held out: as many as were asked for, each by the same chance, every kind on both sides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
