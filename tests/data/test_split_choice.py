"""The default split by the number of rows, and splits in words."""

import numpy as np
import pytest

from automl_admm.data.row_roles import NO_ROLES, Roles
from automl_admm.data.split_choice import REPEATS, count_repeats, repeats_for, say_splits
from automl_admm.data.splits import make_splits


@pytest.mark.parametrize("rows", [40, *(below for below, _ in REPEATS)])
def test_few_rows_are_dealt_several_times_and_differently(rows):
    y = np.resize([0, 1], rows)
    splits = make_splits(y, "classification")
    times = repeats_for(rows)
    assert len(splits) == 4 * times
    assert count_repeats(splits) == times
    assert len({valid.tobytes() for _, valid in splits}) == len(splits)
    for first in range(0, len(splits), 4):
        valid = np.concatenate([part for _, part in splits[first : first + 4]])
        assert sorted(valid) == list(range(rows))


def test_a_number_of_folds_that_was_asked_for_is_dealt_once():
    assert len(make_splits(np.resize([0, 1], 40), "classification", 4)) == 4


def test_an_order_of_time_goes_forward_once():
    roles = Roles(times=np.arange(40), hashes=np.zeros(40, dtype=np.uint64))
    assert len(make_splits(np.resize([0, 1], 40), "classification", roles=roles)) == 4


@pytest.mark.parametrize(
    ("rows", "cv", "said"),
    [
        (100, None, "4 folds, 2 times: of 100 rows one deal into folds ranks pipelines by chance"),
        (2000, None, "4 folds"),
        (4000, None, "1000 of 4000 rows held out"),
        (100, 3, "3 folds"),
        (100, 0.2, "20 of 100 rows held out"),
        (100, [([0, 1], [2]), ([2, 3], [0])], "2 splits of your own"),
    ],
)
def test_every_way_has_its_words(rows, cv, said):
    splits = make_splits(np.resize([0, 1], rows), "classification", cv)
    assert say_splits(splits, cv, NO_ROLES, rows) == said


def test_roles_are_said():
    clusters = Roles(clusters=np.arange(50) // 5, hashes=np.zeros(50, dtype=np.uint64))
    splits = make_splits(np.resize([0, 1], 50), "classification", 2, roles=clusters)
    assert say_splits(splits, 2, clusters, 50) == "2 folds; no group is on both sides"
