"""Values over folds: groups are averaged before they are compared."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.core.evidence import (
    Estimate,
    Evidence,
    Gap,
    Largest,
    Mean,
    Ranking,
    Rate,
    Ratio,
    Smallest,
)
from automl_admm.core.fold_means import mean_over_folds, means_over_folds, without_rows

SHARES = st.lists(st.tuples(*[st.integers(0, 8)] * 3), min_size=1, max_size=5)


def gap(first: int, second: int, third: int) -> Gap:
    return Gap({"f": Rate(first, 8), "m": Rate(second, 8), "x": Rate(third, 8)})


@given(SHARES)
def test_a_gap_is_that_of_the_groups_means_and_never_above_the_mean_of_gaps(
    found: list[tuple[int, int, int]],
) -> None:
    means = np.mean(found, axis=0) / 8
    value = mean_over_folds([gap(*one) for one in found])
    assert value == pytest.approx(means.max() - means.min())
    assert value <= np.mean([gap(*one).value for one in found]) + 1e-12


def test_other_comparisons_are_alike_and_parts_of_parts_too() -> None:
    low, high = Rate(1, 4), Rate(3, 4)
    pair, turned = {"f": low, "m": high}, {"f": high, "m": low}
    assert mean_over_folds([Ratio(pair), Ratio(turned)]) == 1.0
    assert mean_over_folds([Smallest(pair), Smallest(turned)]) == 0.5
    assert mean_over_folds([Largest({"tpr": Gap(pair)}), Largest({"tpr": Gap(turned)})]) == 0.0
    assert mean_over_folds([low, high]) == 0.5
    assert means_over_folds([[low, Gap(pair)], [high, Gap(turned)]]).tolist() == [0.5, 0.0]


@pytest.mark.parametrize("other", [Estimate(math.nan), Gap({"f": Rate(0, 0), "m": Rate(1, 4)})])
def test_a_fold_without_a_value_leaves_none(other: Evidence) -> None:
    whole = Gap({"f": Rate(1, 4), "m": Rate(3, 4)})
    assert math.isnan(mean_over_folds([whole, other]))
    assert math.isnan(mean_over_folds([other, whole]))


def ranked(seed: int) -> Ranking:
    drawn = np.random.default_rng(seed)
    return Ranking(drawn.random(40) + 0.2, drawn.random(30))


@pytest.mark.parametrize("like", [Gap, Ratio, Largest, Smallest])
def test_evidence_without_its_rows_has_the_same_mean(like: Any) -> None:
    inner = [like({"f": ranked(seed), "m": ranked(seed + 9)}) for seed in range(4)]
    whole = [[Largest({"a": one}), ranked(3), Mean(np.arange(3.0), 0, 2)] for one in inner]
    for folds in (whole, whole[:1], [*whole, [Estimate(0.5), Estimate(math.nan), like({})]]):
        less = [[without_rows(one) for one in fold] for fold in folds]
        np.testing.assert_array_equal(means_over_folds(less), means_over_folds(folds))
