"""Splits of rows with groups, and in the order of time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupKFold, KFold, LeaveOneGroupOut, TimeSeriesSplit

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.data.row_roles import Roles
from automl_admm.data.splits import hold_out, make_splits

RNG = np.random.default_rng(0)
ROWS = 400
GROUPS = RNG.integers(0, 25, ROWS)
LABELS = RNG.random(ROWS) < 0.2
TIMES = RNG.permutation(ROWS)


def grouped(clusters):
    return Roles(clusters=np.asarray(clusters), hashes=np.zeros(len(clusters), dtype=np.uint64))


def timed(times):
    return Roles(times=np.asarray(times), hashes=np.zeros(len(times), dtype=np.uint64))


@pytest.mark.parametrize("cv", [None, 2, 5, 0.25, GroupKFold(3), LeaveOneGroupOut()])
def test_no_group_is_on_both_sides(cv):
    splits = make_splits(LABELS, "classification", cv, roles=grouped(GROUPS))
    for train, valid in splits:
        assert not set(GROUPS[train]) & set(GROUPS[valid])
        assert len(train) + len(valid) == ROWS


def test_folds_of_groups_hold_all_rows_once_and_their_share_of_a_class():
    splits = make_splits(LABELS, "classification", 4, roles=grouped(GROUPS))
    assert sorted(np.concatenate([valid for _, valid in splits])) == list(range(ROWS))
    for _, valid in splits:
        assert len(valid) == pytest.approx(ROWS / 4, rel=0.15)
        assert np.mean(LABELS[valid]) == pytest.approx(np.mean(LABELS), abs=0.05)


def test_many_small_groups_beside_a_giant_are_dealt_evenly():
    clusters = np.concatenate([np.zeros(500, int), 1 + np.arange(3000)])
    labels = np.resize([0, 1], len(clusters))
    splits = make_splits(labels, "classification", 4, roles=grouped(clusters))
    sizes = [len(valid) for _, valid in splits]
    assert max(sizes) - min(sizes) < 60


@given(st.lists(st.integers(0, 5), min_size=12, max_size=40), st.integers(0, 3))
def test_every_class_of_two_groups_is_learned_from(clusters, seed):
    numbers = np.unique(clusters, return_inverse=True)[1]
    labels = np.resize([0, 1, 2], len(numbers))
    try:
        splits = make_splits(labels, "classification", 2, seed, roles=grouped(numbers))
    except DataError:
        return
    for train, valid in splits:
        assert len(valid)
        assert not set(numbers[train]) & set(numbers[valid])


def test_a_class_of_one_group_is_always_learned_from():
    labels = np.resize([0, 1], ROWS)
    labels[GROUPS == 3] = 2
    for train, valid in make_splits(labels, "classification", 4, roles=grouped(GROUPS)):
        assert 3 in GROUPS[train]
        assert 3 not in GROUPS[valid]
    searched, aside = hold_out(labels, "classification", 0.3, roles=grouped(GROUPS))
    assert 3 in GROUPS[searched]
    assert len(aside) == pytest.approx(0.3 * ROWS, rel=0.2)


@pytest.mark.parametrize(
    ("clusters", "cv", "said"),
    [
        (np.zeros(ROWS, int), None, "all rows are in one group"),
        (np.resize([0, 1], ROWS), 3, "2 groups to search on cannot fill 3 folds. Ask for fewer"),
        (
            (np.arange(ROWS) > 0).astype(int),
            2,
            r"1 group .* 2 folds \(1 more holds .* learned from always\)\. Leave out groups\.$",
        ),
        (np.full(ROWS, 5), 2, "all rows are in one group"),
        (np.resize([3, 5], ROWS), 3, "2 groups to search on cannot fill 3 folds"),
        (GROUPS, KFold(3), "groups on both sides"),
        (GROUPS, [([0, 1], [2, 3]), (np.arange(1, ROWS), [0])], "split 2 of 2"),
    ],
)
def test_groups_that_cannot_be_kept_together_are_told(clusters, cv, said):
    with pytest.raises((DataError, ConfigurationError), match=said):
        make_splits(LABELS, "classification", cv, roles=grouped(clusters))


def test_a_splitter_of_groups_without_groups_is_told_in_a_line():
    with pytest.raises(ConfigurationError, match="needs the group of every row"):
        make_splits(LABELS, "classification", GroupKFold(3))


@pytest.mark.parametrize("cv", [None, 3, 0.25, TimeSeriesSplit(4)])
def test_what_is_learned_from_is_earlier(cv):
    splits = make_splits(LABELS, "classification", cv, roles=timed(TIMES))
    for train, valid in splits:
        assert TIMES[train].max() < TIMES[valid].min()


def test_the_latest_rows_are_held_out():
    searched, aside = hold_out(LABELS, "classification", 0.2, roles=timed(TIMES))
    assert len(aside) == 80
    assert TIMES[searched].max() < TIMES[aside].min()


@given(st.lists(st.integers(0, 9), min_size=8, max_size=60), st.integers(2, 4))
def test_rows_of_one_moment_are_on_one_side(moments, folds):
    times = np.unique(moments, return_inverse=True)[1]
    y = np.arange(len(times), dtype=float)
    try:
        splits = make_splits(y, "regression", folds, roles=timed(times))
    except DataError:
        return
    assert len(splits) == folds
    for train, valid in splits:
        assert times[train].max() < times[valid].min()


@pytest.mark.parametrize(
    ("times", "cv", "said"),
    [
        (np.zeros(ROWS, int), None, "rows of 1 moment do not fill"),
        (np.zeros(ROWS, int), 0.25, "an earlier and a later part"),
        (np.resize([0, 1, 2], ROWS), 5, "rows of 3 moments do not fill 5 folds"),
        (TIMES, KFold(3), "learns from rows that are later"),
        (np.arange(ROWS) + ROWS * ~LABELS, 5, "are of one class"),
    ],
)
def test_an_order_of_time_that_cannot_be_kept_is_told(times, cv, said):
    numbers = np.unique(times, return_inverse=True)[1]
    with pytest.raises((DataError, ConfigurationError), match=said):
        make_splits(LABELS, "classification", cv, roles=timed(numbers))
