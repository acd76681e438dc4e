"""Rows that belong together, with limits on several groupings: fair shares, whatever is rare."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.data.row_roles import Roles
from automl_admm.data.splits import hold_out, make_splits

RNG = np.random.default_rng(0)
ROWS, VISITS = 900, 3
Y = RNG.integers(0, 2, ROWS)
GROUPINGS = [RNG.choice(list("abcd"), ROWS, p=[0.7, 0.15, 0.1, 0.05]) for _ in range(9)]
MANY = [RNG.choice(300, ROWS, p=(1 / np.arange(1, 301)) / (1 / np.arange(1, 301)).sum())]
ROLES = Roles(
    clusters=np.repeat(np.arange(ROWS // VISITS), VISITS), hashes=np.zeros(ROWS, dtype=np.uint64)
)


def rare_rows(groupings):
    """Mark the rows of which a grouping has few."""
    if groupings is MANY:
        return np.bincount(MANY[0])[MANY[0]] < 6
    return np.sum([names != "a" for names in groupings], axis=0) > len(groupings) * 0.4


@pytest.mark.parametrize(
    "groupings", [GROUPINGS[:1], GROUPINGS[:4], GROUPINGS, MANY], ids=["1", "4", "9", "many groups"]
)
def test_groups_are_held_out_by_their_share_and_those_of_rare_rows_like_others(groupings):
    seeds, held = 60, np.zeros(ROWS)
    for seed in range(seeds):
        _, test = hold_out(Y, "classification", 0.2, seed, groupings, ROLES)
        assert len(test) == pytest.approx(0.2 * ROWS, abs=15)
        held[test] += 1
    rare = rare_rows(groupings)
    assert held[rare].mean() / seeds == pytest.approx(0.2, rel=0.1)
    assert held[~rare].mean() / seeds == pytest.approx(0.2, rel=0.1)


@pytest.mark.parametrize("groupings", [GROUPINGS, MANY], ids=["9", "many groups"])
def test_folds_of_groups_are_of_one_size_whatever_the_groupings(groupings):
    splits = make_splits(Y, "classification", 4, 0, groupings, ROLES)
    for _, valid in splits:
        assert len(valid) == pytest.approx(ROWS / 4, abs=15)
        assert np.mean(Y[valid]) == pytest.approx(np.mean(Y), abs=0.03)


@pytest.mark.parametrize("groupings", [GROUPINGS, MANY], ids=["9", "many groups"])
def test_a_group_with_a_row_for_each_part_is_measured_in_each(groupings):
    for seed in range(5):
        for part in hold_out(Y, "classification", 0.2, seed, groupings, ROLES):
            for names in groupings:
                values, counts = np.unique(names, return_counts=True)
                # Within each class: so twice as many, and what whole groups take from the rest.
                expected = set(values[counts * 0.2 > 3])
                assert expected <= set(names[part])


@pytest.mark.parametrize("share", [0.3, 0.4])
def test_a_large_group_takes_the_place_of_no_other_value(share: float) -> None:
    """Its part is full of its own rows, and has to have those of other regions all the same."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        sites = np.where(rng.random(1000) < share, 0, rng.integers(0, 100, 1000))
        sites = np.unique(sites, return_inverse=True)[1]
        region = rng.choice(list("nswe"), 100)[sites]
        groupings = [region, rng.choice(list("fm"), 1000), rng.choice(list("ymo"), 1000)]
        y = rng.integers(0, 2, 1000)
        roles = Roles(clusters=sites, hashes=np.zeros(1000, dtype=np.uint64))
        for _, valid in make_splits(y, "classification", 4, seed, groupings, roles):
            for names in groupings:
                kinds = set(zip(names, y, strict=True))
                assert set(zip(names[valid], y[valid], strict=True)) == kinds
