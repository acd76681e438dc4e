"""Evidence of lots put together: as if all rows had come at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from automl_admm.certify.pooling import pool
from automl_admm.core.evidence import (
    Estimate,
    Evidence,
    Fact,
    Gap,
    Mean,
    Ranking,
    Rate,
    RootMeanSquare,
    Weighted,
)
from automl_admm.core.named_rows import name_rows


def test_groups_are_put_together_by_name_and_a_new_one_is_kept() -> None:
    found = pool(Gap({"f": Rate(1, 4), "m": Rate(2, 4)}), Gap({"m": Rate(1, 4), "x": Rate(0, 2)}))
    assert isinstance(found, Gap)
    assert found.groups == {"f": Rate(1, 4), "m": Rate(3, 8), "x": Rate(0, 2)}


@pytest.mark.parametrize("rename", ["{}", "decided {}"])
@pytest.mark.parametrize("whole", [Rate(1, 9, "negative rows"), Mean(np.ones(9), 0.0, 1.0)])
def test_a_group_without_rows_adds_nothing_whatever_its_rows_are_called(
    rename: str, whole: Evidence
) -> None:
    lots = [
        name_rows(Gap({"f": Rate(3, 10), "m": one}), rename.format) for one in (Rate(0, 0), whole)
    ]
    for first, second in (lots, lots[::-1]):
        found = pool(first, second)
        assert isinstance(found, Gap)
        assert found.groups["f"] == Rate(6, 20, rename.format("rows"))
        assert type(found.groups["m"]) is type(whole)
        assert found.groups["m"].value == whole.value


def test_scores_of_two_lots_give_the_auroc_of_all_rows() -> None:
    rng = np.random.default_rng(0)
    lots = [Ranking(rng.normal(1, 1, 30), rng.normal(0, 1, 20)) for _ in range(2)]
    whole = Ranking(
        np.concatenate([one.positives for one in lots]),
        np.concatenate([one.negatives for one in lots]),
    )
    assert pool(*lots).value == whole.value


def test_counts_add_up_and_ends_of_a_range_do_not_whatever_their_type() -> None:
    twelve: Any = 12.0
    assert pool(Rate(twelve, 200), Rate(twelve, 200)) == Rate(24, 400)
    found = pool(Mean(np.zeros(2), 0, 1), Mean(np.ones(2), 0, 1))
    assert isinstance(found, Mean)
    assert (found.lowest, found.highest, found.value) == (0, 1, 0.5)
    root = pool(RootMeanSquare(np.ones(2), 3), RootMeanSquare(np.ones(2), 3))
    assert isinstance(root, RootMeanSquare)
    assert root.largest == 3


def test_of_two_facts_the_later_one_counts() -> None:
    assert pool(Fact(1.0), Fact(2.0)) == Fact(2.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Estimate(1.0), Estimate(2.0)),
        (Weighted(0.5), Weighted(0.5)),
        (Rate(1, 2), Fact(1.0)),
        (Rate(1, 2, "positive rows"), Rate(1, 2, "negative rows")),
        (Mean(np.zeros(2), 0.0, 1.0), Mean(np.zeros(2), 0.0, 2.0)),
    ],
)
def test_what_does_not_add_up_is_refused(first: Evidence, second: Evidence) -> None:
    with pytest.raises(ValueError, match=r"does not add|and was"):
        pool(first, second)
