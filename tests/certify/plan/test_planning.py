"""How many rows to set aside, and what is said before the search."""

from __future__ import annotations

import numpy as np
import pytest

from automl_admm.certify.plan.planning import Demand, is_out_of_reach, plan
from automl_admm.certify.walk.verdicts import judge
from automl_admm.core.evidence import (
    Estimate,
    Fact,
    Gap,
    Largest,
    Mean,
    Rate,
    RootMeanSquare,
    Smallest,
    Timing,
)
from automl_admm.core.limits import Limit

FPR = Limit("fpr", 0.05, extreme=0.0)


def test_the_fraction_is_the_smallest_that_certifies_at_half_the_limit() -> None:
    found = plan([Demand(FPR, Rate(50, 1950, "negatives"))], 0.05)
    assert found.fraction == pytest.approx(0.2)
    assert found.shortfalls == ()


def test_the_hardest_limit_decides() -> None:
    demands = [
        Demand(FPR, Rate(50, 3900, "negatives")),
        Demand(Limit("fnr", 0.1, extreme=0.0), Rate(50, 600, "positives")),
    ]
    assert plan(demands, 0.05).fraction == pytest.approx(0.3)


def test_it_is_capped_and_says_what_it_cannot_do() -> None:
    strict = Demand(Limit("fpr", 0.01, extreme=0.0), Rate(3, 300, "negatives"))
    found = plan([strict], 0.05)
    assert found.fraction == 0.4
    assert found.shortfalls == ("your 120 negatives cannot certify fpr <= 0.01 (needs about 300).",)


def test_few_rows_that_could_do_are_told_from_those_that_cannot() -> None:
    found = plan([Demand(FPR, Rate(30, 600, "negatives"))], 0.05)
    assert found.shortfalls == (
        "your 240 negatives are few to certify fpr <= 0.05 (needs about 390).",
    )


def test_a_small_group_is_named() -> None:
    gap = Gap({"A": Rate(200, 4000, "negatives"), "B": Rate(15, 300, "negatives")})
    found = plan([Demand(Limit("fpr_gap[g]", 0.02, extreme=0.0), gap)], 0.05)
    assert found.fraction == 0.4
    (sentence,) = found.shortfalls
    assert sentence.startswith("your 120 negatives in group 'B' cannot certify fpr_gap[g] <= 0.02")


def test_a_limit_that_only_a_model_without_an_error_could_keep_has_its_rows() -> None:
    parts = {"A": Rate(160, 508), "B": Rate(140, 561), "C": Rate(20, 213), "D": Rate(30, 99)}
    limit = Limit("fpr_gap[g]", 0.01, extreme=0.0)
    found = plan([Demand(limit, Gap(parts))], 0.05, least=0.2)
    assert found.fraction == 0.4
    (sentence,) = found.shortfalls
    assert sentence.startswith("your 40 rows in group 'D' cannot certify fpr_gap[g] <= 0.01")


def test_a_limit_that_nothing_keeps_is_told_of_the_rows_that_are_set_aside() -> None:
    found = plan([Demand(Limit("fpr", 0.0, extreme=0.0), Rate(0, 100))], 0.05, least=0.2)
    assert found.fraction == 0.2
    assert found.shortfalls[0].startswith("your 20 rows cannot certify")


def test_a_wish_for_the_fraction_is_kept_and_answered() -> None:
    demand = Demand(FPR, Rate(50, 1950, "negatives"))
    found = plan([demand], 0.05, fraction=0.1)
    assert found.fraction == 0.1
    assert len(found.shortfalls) == 1
    assert plan([demand], 0.05, fraction=0.3).shortfalls == ()


def test_facts_and_calls_take_no_rows_and_what_has_no_test_has_no_say() -> None:
    size = Limit("size_mb", 10, extreme=0.0)
    calls = Timing(np.ones(10), 0.95)
    found = plan([Demand(size, Fact(9)), Demand(size, calls)], 0.05)
    assert (found.fraction, found.shortfalls) == (0.0, ())
    found = plan([Demand(size, Estimate(9)), Demand(FPR, Rate(0, 1950))], 0.05)
    assert found.fraction == pytest.approx(0.2)
    assert found.shortfalls == (
        "nothing can certify size_mb <= 10: no exact test is known for it.",
    )


def test_without_limits_nothing_is_set_aside() -> None:
    assert plan([], 0.05).fraction == 0.0


def test_a_limit_at_its_extreme_is_certified_by_no_number_of_rows() -> None:
    (sentence,) = plan([Demand(Limit("fpr", 0.0, extreme=0.0), Rate(0, 100))], 0.05).shortfalls
    assert "no number of rows would do" in sentence


def test_rows_for_a_limit_on_errors_are_those_of_a_model_without_one() -> None:
    """The verdict on such a model says the same."""
    errors = RootMeanSquare(np.linspace(0.0, 0.5, 240), 1.0)
    limit = Limit("rmse_to_1", 0.01, extreme=0.0)
    (sentence,) = plan([Demand(limit, errors)], 0.1, fraction=0.4).shortfalls
    assert sentence.endswith("cannot certify rmse_to_1 <= 0.01 (no number of rows would do).")
    values, limit = Mean(np.linspace(0.0, 0.5, 240), 0.0, 1.0), Limit("mae_to_1", 0.01, extreme=0.0)
    (sentence,) = plan([Demand(limit, values)], 0.1, fraction=0.4).shortfalls
    needed = judge(Mean(np.zeros(96), 0.0, 1.0), limit, 0.1).rows_needed
    assert sentence.endswith(f"cannot certify mae_to_1 <= 0.01 (needs about {needed}).")


def test_a_limit_on_all_groups_is_out_of_reach_if_one_group_is_too_small() -> None:
    few, many = Rate(5, 5, "positives"), Rate(500, 500, "positives")
    least = Limit("tpr_of_all", 0.8, at_least=True, extreme=1.0)
    assert is_out_of_reach(least, Smallest({"f": few, "m": many}), 0.05)
    assert not is_out_of_reach(least, Smallest({"f": many, "m": many}), 0.05)
    # The largest of them may be that of the many.
    assert not is_out_of_reach(least, Largest({"f": few, "m": many}), 0.05)


def test_rows_are_planned_for_the_smallest_of_several_values() -> None:
    least = Limit("tpr_of_all", 0.8, at_least=True, extreme=1.0)
    groups = {"f": Rate(570, 600, "positives"), "m": Rate(930, 1000, "positives")}
    found = plan([Demand(least, Smallest(groups))], 0.05)
    assert found.shortfalls == ()
    assert 0.05 < found.fraction < 0.4
