from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.pipelines.row_share import FEWEST, share_of_rows


@given(st.integers(2, 300), st.floats(0.01, 1.0), st.floats(0.01, 1.0), st.integers(0, 5))
def test_a_smaller_share_is_a_part_of_a_larger_one(
    count: int, one: float, other: float, seed: int
) -> None:
    rows = np.arange(count) + 7
    classes = np.random.default_rng(seed).integers(0, 3, count + 7)
    small, large = (share_of_rows(rows, classes, s, 0) for s in sorted((one, other)))
    assert set(small) <= set(large) <= set(rows)
    assert len(set(small)) == len(small)


def test_classes_keep_their_shares_and_none_is_missing() -> None:
    classes = np.repeat([0, 1, 2], [900, 98, 2])
    part = classes[share_of_rows(np.arange(1000), classes, 0.1, 0)]
    counts = np.bincount(part)
    assert len(part) == 100
    assert counts[2] == 1
    assert 8 <= counts[1] <= 12


def test_a_whole_share_is_the_rows_as_they_are() -> None:
    rows = np.array([5, 3, 9])
    assert share_of_rows(rows, None, 1.0, 0) is rows


def test_a_tiny_share_still_holds_enough_to_learn_from() -> None:
    assert len(share_of_rows(np.arange(1000), None, 1e-6, 0)) == FEWEST


@given(st.integers(11, 300), st.floats(0.01, 0.99), st.integers(0, 5))
def test_a_share_is_the_beginning_of_the_order_of_all_turns(
    count: int, share: float, seed: int
) -> None:
    classes = np.random.default_rng(seed).integers(0, 4, count)
    shuffled = np.random.default_rng(0).permutation(np.arange(count))
    turns = np.empty(count)
    for kind in np.unique(classes):
        members = np.flatnonzero(classes[shuffled] == kind)
        turns[members] = np.arange(len(members)) / len(members)
    found = share_of_rows(np.arange(count), classes, share, 0)
    assert list(found) == list(shuffled[np.argsort(turns, kind="stable")][: len(found)])
