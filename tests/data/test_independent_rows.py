"""Rows drawn so that exact bounds hold for them: independent, and each counting alike."""

import numpy as np
import pytest
from scipy import stats

from automl_admm.certify.bounds.rates import upper_rate
from automl_admm.data.independent_rows import independent_rows, largest_total
from automl_admm.data.row_roles import NO_ROLES, columns_given


def roles_of(weights=None, groups=None):
    rows = len(weights if weights is not None else groups)
    return columns_given(np.zeros(rows), weights, groups, None).read()


def test_rows_without_weights_and_groups_all_count():
    assert independent_rows(NO_ROLES, 0.0, seed=0) is None
    assert independent_rows(roles_of(weights=[3, 3, 3]), 3.0, seed=0) is None


def test_rows_of_one_weight_are_drawn_if_others_weigh_more():
    """A lot may lack the heavy rows by chance: its rows count as little as they do beside them."""
    light = roles_of(weights=[3.0] * 4000)
    assert largest_total(light) == 3.0
    assert len(independent_rows(light, 12.0, seed=0)) == pytest.approx(1000, abs=100)
    assert len(independent_rows(light.part(np.arange(8)), 3e6, seed=0)) == 0


def test_no_group_gives_two_rows():
    groups = np.repeat(np.arange(50), np.arange(50) % 7 + 1)
    roles = roles_of(groups=groups)
    assert largest_total(roles) == 7
    for seed in range(20):
        drawn = groups[independent_rows(roles, 7.0, seed)]
        assert len(set(drawn)) == len(drawn)


def test_the_heaviest_is_always_drawn_and_the_others_by_their_share():
    weights = np.r_[8.0, np.full(4000, 2.0)]
    roles = roles_of(weights=weights)
    drawn = independent_rows(roles, largest_total(roles), seed=1)
    assert 0 in drawn
    assert len(drawn) == pytest.approx(1000, abs=100)


def test_the_unit_of_weights_and_the_part_of_the_rows_make_no_difference():
    weights = np.random.default_rng(0).random(300) + 0.1
    whole = roles_of(weights=weights)
    part = whole.part(np.arange(100))
    assert largest_total(whole) == pytest.approx(weights.max())
    again = roles_of(weights=weights[:100])
    # A part has another mean weight, yet the same weights as they were given.
    assert list(independent_rows(part, 2.0, 3)) == list(independent_rows(again, 2.0, 3))


def draw(rng, groups):
    """Groups of 1 to 30 rows; larger ones err more, and rows of a group err together."""
    sizes = rng.integers(1, 31, groups)
    bad = rng.random(groups) < sizes / 60
    numbers = np.repeat(np.arange(groups), sizes)
    weights = np.where(bad[numbers], 3.0, 1.0)
    return numbers, weights, bad[numbers]


def test_the_drawn_rows_have_the_weighted_rate_of_the_population():
    rng = np.random.default_rng(0)
    numbers, weights, errs = draw(rng, 40_000)
    true = np.average(errs, weights=weights)
    roles = roles_of(weights=weights, groups=numbers)
    drawn = independent_rows(roles, largest_total(roles), seed=5)
    assert abs(errs[drawn].mean() - true) < 4 * np.sqrt(true * (1 - true) / len(drawn))
    assert abs(errs.mean() - true) > 0.1


def test_an_exact_bound_misses_the_weighted_rate_as_seldom_as_it_says():
    rng, risk, missed, naive = np.random.default_rng(1), 0.1, 0, 0
    numbers, weights, errs = draw(rng, 200_000)
    true = np.average(errs, weights=weights)
    for trial in range(400):
        numbers, weights, errs = draw(rng, 150)
        roles = roles_of(weights=weights, groups=numbers)
        drawn = independent_rows(roles, 90.0, seed=trial)
        missed += upper_rate(errs[drawn].sum(), len(drawn), risk) < true
        # Counting all rows as if they were independent is false far too often.
        naive += upper_rate(errs.sum(), len(errs), risk) < true
    assert stats.binomtest(missed, 400, risk, alternative="greater").pvalue > 0.001
    assert naive > 200
