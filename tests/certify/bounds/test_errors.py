"""Bounds for errors: roots, R², quantiles, and approximate ones for means without known ends."""

from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.certify.bounds.bounds import approximate_bounds, exact_bounds
from automl_admm.certify.bounds.errors import approximate_explained_bounds
from automl_admm.certify.bounds.skewed_means import FEWEST, skewed_bounds
from automl_admm.certify.walk.findings import Verdict
from automl_admm.certify.walk.verdicts import judge
from automl_admm.core.evidence import (
    Estimate,
    Evidence,
    Explained,
    Gap,
    Largest,
    Mean,
    Quantile,
    Ratio,
    RootMeanSquare,
)
from automl_admm.core.limits import Limit

RISK, TIMES = 0.05, 200
MOST_MISSED = RISK * TIMES + 3 * (RISK * TIMES) ** 0.5


def errors(rng: np.random.Generator, rows: int) -> np.ndarray:
    return np.clip(rng.laplace(size=rows), -3, 3)


SQUARED = 2 - 8 * math.exp(-3)  # the mean of min(|e|, 3)² of Laplace's errors: ∫ e² + 9 P(|e| > 3)


@pytest.mark.parametrize("rows", [30, 300])
def test_exact_bounds_of_roots_r2_and_quantiles_miss_as_seldom_as_promised(rows: int) -> None:
    rng, missed = np.random.default_rng(0), dict.fromkeys(("root", "r2", "quantile"), 0)
    r2 = 1 - SQUARED / 4
    for _ in range(TIMES):
        seen, truth = errors(rng, rows), 2 * rng.normal(size=rows)
        root = exact_bounds(RootMeanSquare(seen, 3.0), RISK)
        share = exact_bounds(Explained(seen, truth, 3.0), RISK)
        median = exact_bounds(Quantile(np.abs(seen), 0.5, 0.0), RISK)
        assert root is not None
        assert share is not None
        assert median is not None
        missed["root"] += root.upper < math.sqrt(SQUARED)
        missed["r2"] += share.lower > r2
        missed["quantile"] += median.upper < math.log(2)
    assert all(count <= MOST_MISSED for count in missed.values()), missed


def test_a_bound_without_a_stated_end_is_approximate_and_misses_about_as_promised() -> None:
    rng, missed = np.random.default_rng(0), 0
    for _ in range(TIMES):
        found = Mean(rng.exponential(size=100), 0.0, math.inf)
        assert exact_bounds(found, RISK) is None
        bounds = approximate_bounds(found, RISK)
        assert bounds is not None
        assert bounds.is_approximate
        missed += bounds.upper < 1
    assert missed <= MOST_MISSED


@pytest.mark.parametrize(
    "evidence",
    [
        Mean(np.linspace(0, 1, 50), 0.0, math.inf),
        RootMeanSquare(np.linspace(-1, 2, 50)),
        Explained(np.linspace(-1, 1, 50), np.linspace(0, 9, 50)),
        # The squares of these ends are beyond all numbers.
        RootMeanSquare(np.linspace(-1, 2, 50), largest=1e200),
        RootMeanSquare(np.linspace(-1, 2, 50), largest=np.float64(1.4e154)),
        Explained(np.linspace(-1, 1, 50), np.linspace(0, 9, 50), largest=1.4e154),
    ],
    ids=lambda one: f"{type(one).__name__} to {getattr(one, 'largest', math.inf):g}",
)
def test_what_has_no_end_is_certified_as_approximate_and_never_otherwise(
    evidence: Evidence,
) -> None:
    limit = Limit("r2", 0.5, at_least=True) if isinstance(evidence, Explained) else Limit("mae", 9)
    found = judge(evidence, limit, RISK)
    assert found.verdict is Verdict.CERTIFIED
    assert found.is_approximate
    strict = judge(evidence, limit, RISK, approximate_allowed=False)
    assert strict.verdict is Verdict.NOT_ESTIMABLE
    assert "no largest value is stated" in strict.reason


@pytest.mark.parametrize("values", [np.zeros(100), np.arange(FEWEST - 1.0), np.full(30, 1e300)])
def test_values_that_tell_no_spread_certify_nothing(values: np.ndarray) -> None:
    found = judge(Mean(values, 0.0, math.inf), Limit("mae", 1e308), RISK)
    assert found.verdict is Verdict.NOT_ESTIMABLE


def test_huge_values_do_not_overflow_and_infinite_ones_have_no_bounds() -> None:
    found = skewed_bounds(np.array([1e308, -1e308] * 20), RISK)
    assert found is not None
    assert found[0] < 0 < found[1]
    assert skewed_bounds(np.array([1.0, math.inf] * 20), RISK) is None


def test_skewed_values_have_a_longer_way_up_than_down() -> None:
    values = np.random.default_rng(0).exponential(size=200)
    found = skewed_bounds(values, RISK)
    assert found is not None
    assert found[1] - values.mean() > 1.1 * (values.mean() - found[0])


def test_few_rows_prove_no_quantile_and_the_verdict_says_how_many_would() -> None:
    found = judge(Quantile(np.full(20, 0.1), 0.9, 0.0), Limit("q90", 5.0, extreme=0.0), RISK)
    assert found.verdict is Verdict.NOT_CERTIFIED
    assert found.bound == math.inf
    assert found.rows_needed == 30  # 0.9^29 is the first below 0.05
    assert judge(Quantile(np.full(29, 0.1), 0.9), Limit("q90", 5.0), RISK).is_certified


@pytest.mark.parametrize("compare", [Gap, Ratio, Largest])
def test_a_group_of_one_row_is_no_proof(compare: type) -> None:
    many, one = np.abs(np.random.default_rng(0).normal(size=200)), np.array([0.5])
    for make in (lambda v: Mean(v, 0.0, math.inf), RootMeanSquare, lambda v: Quantile(v, 0.9, 0.0)):
        limit = Limit("x", 0.01, at_least=True) if compare is Ratio else Limit("x", 1e6)
        found = judge(compare({"a": make(many), "b": make(one)}), limit, RISK)
        assert not found.is_certified


def test_a_ratio_of_what_has_no_lowest_value_has_no_bounds() -> None:
    parts = {"a": Quantile(np.arange(5.0), 0.5), "b": Quantile(np.arange(5.0), 0.5)}
    assert exact_bounds(Ratio(parts), 0.001) is None


@pytest.mark.parametrize("largest", [2.0, math.inf], ids=["exact", "approximate"])
@pytest.mark.parametrize("bound", [-0.1, 0.0])
def test_a_negative_ratio_of_r2_is_no_proof(largest: float, bound: float) -> None:
    """The R² of a group is about −0.4, that of the other 0.88."""
    rng = np.random.default_rng(0)
    truths = rng.uniform(-1, 1, (2, 3000))
    parts = {
        name: Explained(rng.normal(0, spread, 3000), truth, largest)
        for name, spread, truth in zip("ab", (0.68, 0.2), truths, strict=True)
    }
    limit = Limit("r2_ratio", bound, at_least=True)
    found = judge(Ratio(parts), limit, RISK)
    assert found.value < -0.4
    assert not found.is_certified
    turned = {name: Explained(parts["a"].errors, parts["a"].truth, largest) for name in "ab"}
    assert "may be negative" in judge(Ratio(turned), limit, RISK).reason


@pytest.mark.parametrize("largest", [3.0, math.inf])
@pytest.mark.parametrize("truth", [0.0, 0.1])
def test_a_constant_truth_has_no_r2(truth: float, largest: float) -> None:
    """The variance of 70 times 0.1 is not 0, as their mean is rounded."""
    seen = Explained(errors(np.random.default_rng(0), 70), np.full(70, truth), largest)
    assert approximate_explained_bounds(seen, RISK) is None
    found = judge(seen, Limit("r2", 0.5, at_least=True), RISK)
    assert found.verdict is Verdict.NOT_ESTIMABLE
    assert "no two different true values" in found.reason


def test_an_estimate_says_why_nothing_is_known_of_it() -> None:
    found = judge(Estimate(1.0, "it is a guess"), Limit("x", 2.0), RISK)
    assert (found.verdict, found.reason) == (Verdict.NOT_ESTIMABLE, "it is a guess")
