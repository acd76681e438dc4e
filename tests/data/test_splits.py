"""Splits: every row is where it belongs, whatever the classes look like."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, PredefinedSplit, ShuffleSplit, StratifiedKFold

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.data.given_splits import doubts_of_splits, refuse_row_numbers
from automl_admm.data.split_choice import count_repeats
from automl_admm.data.splits import hold_out, make_splits

LABELS = st.lists(st.integers(0, 3), min_size=2, max_size=60)


def test_few_rows_are_folded_in_four_and_many_are_held_out():
    y = np.arange(3999) % 2
    splits = make_splits(y, "classification")
    assert [len(valid) for _, valid in splits] == [1000, 1000, 1000, 999]
    ((train, valid),) = make_splits(np.arange(4000) % 2, "classification")
    assert (len(train), len(valid)) == (3000, 1000)
    assert len(make_splits(np.arange(4000) % 2, "classification", in_limits=True)) == 4
    assert len(make_splits(np.arange(20_000) % 2, "classification", in_limits=True)) == 1


def test_every_fold_has_its_share_of_every_class():
    y = np.array(["rare"] * 8 + ["common"] * 72)
    for train, valid in make_splits(y, "classification", 4, seed=3):
        assert (y[valid] == "rare").sum() == 2
        assert (y[train] == "rare").sum() == 6


@given(labels=LABELS, folds=st.integers(2, 6), seed=st.integers(0, 9))
def test_folds_part_the_rows_and_every_class_is_trained_on(labels, folds, seed):
    y = np.array(labels)
    alone = [label for label in set(labels) if labels.count(label) == 1]
    shared = len(y) - len(alone)
    if shared < folds:
        with pytest.raises(DataError, match="cannot fill"):
            make_splits(y, "classification", folds, seed)
        return
    splits = make_splits(y, "classification", folds, seed)
    assert len(splits) == folds
    validated = np.concatenate([valid for _, valid in splits])
    assert sorted(validated) == sorted(np.flatnonzero(~np.isin(y, alone)))
    for train, valid in splits:
        assert len(valid) > 0
        assert sorted([*train, *valid]) == list(range(len(y)))
        assert set(y[train]) == set(y)


@given(
    labels=LABELS,
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 9),
)
def test_a_holdout_parts_the_rows_and_leaves_every_class(labels, fraction, seed):
    y = np.array(labels)
    if len(set(labels)) == len(labels):
        with pytest.raises(DataError, match="alone in its class"):
            hold_out(y, "classification", fraction, seed)
        return
    search, test = hold_out(y, "classification", fraction, seed)
    assert sorted([*search, *test]) == list(range(len(y)))
    assert set(y[search]) == set(y)
    several = {label for label in labels if labels.count(label) > 1}
    assert set(y[test]) == several
    for label in several:
        share = labels.count(label) * fraction
        assert abs((y[test] == label).sum() - share) <= 1


@pytest.mark.parametrize("rows", [2, 3, 10, 101])
def test_a_regression_is_split_evenly(rows):
    y = np.linspace(0, 1, rows)
    sizes = [len(valid) for _, valid in make_splits(y, "regression", 2)]
    assert sum(sizes) == rows
    assert max(sizes) - min(sizes) <= 1
    assert len(hold_out(y, "regression", 0.5)[1]) == round(rows / 2)


def deal(splits):
    """Return the number of folds of one deal."""
    return len(splits) / count_repeats(splits)


def test_folds_are_fewer_by_default_if_a_class_is_small():
    assert deal(make_splits(["a"] * 50 + ["b"] * 3, "classification")) == 3
    assert deal(make_splits(["a"] * 50 + ["b"], "classification")) == 4
    assert len(make_splits([1.0, 2.0], "regression")) == 2


def test_the_seed_decides():
    y = np.arange(100) % 3

    def flat(seed):
        return np.concatenate([valid for _, valid in make_splits(y, "classification", 3, seed)])

    assert np.array_equal(flat(1), flat(1))
    assert not np.array_equal(flat(1), flat(2))


def test_rows_in_sorted_order_are_mixed():
    _, test = hold_out(np.arange(1000.0), "regression", 0.2, 0)
    assert 400 < test.mean() < 600


@pytest.mark.parametrize(
    "cv", [KFold(3), StratifiedKFold(3, shuffle=True, random_state=0), ShuffleSplit(2)]
)
def test_a_splitter_is_used_as_it_is(cv):
    y = np.array(["a", "b"] * 30)
    splits = make_splits(y, "classification", cv)
    assert len(splits) == cv.get_n_splits()
    assert all(len(set(train) & set(valid)) == 0 for train, valid in splits)


def test_pairs_of_row_numbers_are_used_as_they_are():
    splits = make_splits([1.5, 2, 3], "regression", [([0, 1], [2]), ([1, 2], [0])])
    assert [train.tolist() for train, _ in splits] == [[0, 1], [1, 2]]


@pytest.mark.parametrize(
    "cv",
    [
        *(0, 1, -3, True, 0.0, 1.0, 1.5, "four", object(), KFold, PredefinedSplit),
        *([], [[0, 1]], [([0.5], [1])], [([], [1])]),
    ],
)
def test_what_makes_no_splits_is_refused(cv):
    with pytest.raises(ConfigurationError):
        make_splits([1.0, 2.0, 3.0], "regression", cv)


def test_too_few_rows_beside_those_held_out_are_told_with_the_cure():
    said = r"^0 rows .* fill 2 folds \(2 more are alone .*\)\. Give more rows\.$"
    with pytest.raises(DataError, match=said) as raised:
        make_splits(["a", "b"], "classification", 2)
    told = raised.value.on_command_line({})
    assert told.endswith("Give more rows: hold out fewer (--test-size).")


def test_data_that_cannot_be_split_are_refused():
    with pytest.raises(DataError, match=r"^1 row .* At least 2 are needed\.$"):
        make_splits([1.0], "regression")
    with pytest.raises(DataError, match=r"^3 rows to .* cannot fill 4 folds\. Ask for fewer"):
        make_splits([1.0, 2.0, 3.0], "regression", 4)
    with pytest.raises(DataError, match="outside 0 to 2"):
        make_splits([1.0, 2.0, 3.0], "regression", [([0, 3], [1])])
    with pytest.raises(DataError, match="does not fit"):
        make_splits([1.0, 2.0, 3.0], "regression", KFold(9))


def test_every_fold_and_the_held_out_rows_have_some_of_every_group() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    groups = np.where(np.arange(400) < 24, "few", rng.choice(["a", "b"], 400))
    for cv in (None, 4, 0.25):
        for train, valid in make_splits(y, "classification", cv, 0, [groups]):
            for part in (train, valid):
                assert len({*zip(y[part], groups[part], strict=True)}) == 6
    for part in hold_out(y, "classification", 0.2, 0, [groups, groups[::-1]]):
        assert len({*zip(y[part], groups[part], strict=True)}) == 6
    splits = make_splits(np.linspace(0, 1, 400), "regression", 5, 0, [groups])
    assert all(len(set(groups[valid])) == 3 for _, valid in splits)


def test_folds_are_fewer_where_a_group_is_small() -> None:
    y = np.arange(100) % 2
    groups = np.where(np.arange(100) < 6, "few", "many")
    assert deal(make_splits(y, "classification")) == 4
    assert deal(make_splits(y, "classification", groups=[groups])) == 3


def test_rows_on_both_sides_of_a_split_are_warned_of():
    rows = np.arange(40)
    y = rows % 2
    for cv, said in (
        ([(rows, rows)], "split 1 of 1 by cv learns from 40 of the 40 rows"),
        ([(rows[:30], rows[30:]), (rows[9:], rows[:10])], "split 2 of 2 .* 1 of the 10 rows"),
        # A row that is drawn several times is one row.
        ([(rows, np.repeat(rows[:5], 3))], "learns from 5 of the 5 rows that it is measured on"),
    ):
        (told,) = doubts_of_splits(make_splits(y, "classification", cv))
        assert re.search(said, told)
        assert len(told) < 300
    for cv in (3, 0.25, KFold(4), [(rows[:30], rows[30:])]):
        assert doubts_of_splits(make_splits(y, "classification", cv)) == []


@pytest.mark.parametrize("cv", [[([0, 1], [2, 3])], PredefinedSplit([0, 1, 0, 1])])
def test_row_numbers_are_refused_where_the_search_has_other_rows(cv):
    refuse_row_numbers(cv, 0, sets_aside=False, is_part=False)
    with pytest.raises(ConfigurationError, match="but 3 rows of weight 0 are left out"):
        refuse_row_numbers(cv, 3, sets_aside=False, is_part=False)
    with pytest.raises(ConfigurationError, match="but rows are set aside for a certificate"):
        refuse_row_numbers(cv, 0, sets_aside=True, is_part=False)
    with pytest.raises(ConfigurationError, match="but only a part of the rows is taken"):
        refuse_row_numbers(cv, 0, sets_aside=False, is_part=True)


@pytest.mark.parametrize("cv", [None, 5, 0.2, "5", KFold(3)])
def test_what_deals_the_rows_it_is_given_may_have_fewer(cv):
    refuse_row_numbers(cv, 3, sets_aside=True, is_part=True)


def test_a_predefined_split_of_other_rows_is_one_line():
    with pytest.raises(DataError, match="does not fit the data: index"):
        make_splits(np.array([0, 1] * 10), "classification", PredefinedSplit([0, 1] * 20))
