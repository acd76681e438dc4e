"""The limits on errors of a regression: values, weights, numbers in names, hostile rows."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace
from functools import cache
from unittest import SkipTest

import numpy as np
import pandas as pd
import pytest
from installed import PLUGINS
from sklearn import metrics
from sklearn.dummy import DummyRegressor

from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of
from automl_admm.core.errors import ConfigurationError, UnknownNameError
from automl_admm.core.evidence import Evidence
from automl_admm.core.limits import Limit
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.unknown_values import why_unknown
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint, ConstraintPlugin
from automl_admm.testing.check import promises_of
from automl_admm.testing.contracts import ConstraintContract

RNG = np.random.default_rng(0)
TRUTH = RNG.normal(size=60)
FOUND = TRUTH + 0.4 * RNG.laplace(size=60)
GROUPS = pd.DataFrame({"sex": np.where(np.arange(60) % 2, "f", "m")})
SEEN = EvaluatedPipeline(
    DummyRegressor(), np.zeros((60, 1)), TRUTH, FOUND, 0.0, 0.0, FOUND, sensitive=GROUPS
)
NAMES = (
    *("mae", "rmse", "r2", "bias", "max_error", "mae_to_0.5", "rmse_to_0.5", "r2_to_0.5"),
    *("bias_to_0.5", "abs_error_quantile_90", "interval_width_80", "errors_above_0.5"),
    "errors_within_0.5",
)


def constraint(text: str) -> Constraint:
    return constraint_of(read_text(text), PLUGINS.constraints)


def evidence(name: str, rows: EvaluatedPipeline = SEEN) -> Evidence:
    return as_evidence(constraint(f"{name} <= 0.5").function(rows))


@cache  # a contract asks for it a hundred times
def record(name: str) -> ConstraintPlugin:
    base, _, number = name.rpartition("_")
    known = PLUGINS.constraints
    numbered = known.get(base).numbered if base in known else None
    return known.get(name) if numbered is None else numbered(float(number))


class Shipped(ConstraintContract):
    name = ""

    def make(self) -> ConstraintPlugin:
        return record(self.name)

    def rows(self) -> EvaluatedPipeline:
        return SEEN


@pytest.mark.parametrize("name", NAMES)
def test_every_limit_on_errors_keeps_the_promises_of_limits(name: str) -> None:
    contract = Shipped()
    contract.name = name
    kept = 0
    for promise in promises_of(Shipped):
        with suppress(SkipTest):
            getattr(contract, promise)()
            kept += 1
    assert kept > 6


def test_the_values_are_those_of_scikit_learn() -> None:
    sizes = np.abs(FOUND - TRUTH)
    clipped = np.minimum(sizes, 0.5)
    known = {
        "mae": metrics.mean_absolute_error(TRUTH, FOUND),
        "rmse": metrics.root_mean_squared_error(TRUTH, FOUND),
        "r2": metrics.r2_score(TRUTH, FOUND),
        "bias": np.mean(FOUND - TRUTH),
        "max_error": metrics.max_error(TRUTH, FOUND),
        "mae_to_0.5": clipped.mean(),
        "rmse_to_0.5": math.sqrt(np.mean(clipped**2)),
        "abs_error_quantile_90": np.sort(sizes)[53],
        "interval_width_80": 2 * np.sort(sizes)[47],
        "errors_above_0.5": np.mean(sizes > 0.5),
        "errors_within_0.5": np.mean(sizes <= 0.5),
    }
    found = {name: evidence(name).value for name in known}
    assert found == pytest.approx(known)


@pytest.mark.parametrize("name", ["mae", "rmse", "r2", "max_error"])
def test_a_limit_of_a_former_scorer_takes_the_same_weights(name: str) -> None:
    weights = RNG.integers(0, 3, 60) / 1.0
    seen = replace(SEEN, weights=weights)
    score = {"mae": "mean_absolute_error", "rmse": "root_mean_squared_error", "r2": "r2_score"}
    if name in score:
        known = getattr(metrics, score[name])(TRUTH, FOUND, sample_weight=weights)
        assert evidence(name, seen).value == pytest.approx(known)
    else:
        assert evidence(name, seen).value == pytest.approx(np.abs(FOUND - TRUTH)[weights > 0].max())


def test_gaps_and_ratios_between_groups_come_with_each() -> None:
    limit = constraint("mae_to_0.5_gap[sex] <= 0.1")
    groups = limit.groups
    assert groups is not None
    with_names = replace(limit.function, names=("f", "m"))  # type: ignore[type-var]
    sizes = np.minimum(np.abs(FOUND - TRUTH), 0.5)
    gap = abs(sizes[::2].mean() - sizes[1::2].mean())
    assert as_evidence(with_names(SEEN)).value == pytest.approx(gap)  # type: ignore[operator]
    assert constraint("errors_above_2.5_ratio[sex] >= 0.8").limit.extreme == 1.0


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("errors_above_2.5 <= 5 %", Limit("errors_above_2.5", 0.05, extreme=0.0)),
        ("errors_above_2.5e-9 <= 5 %", Limit("errors_above_2.5e-9", 0.05, extreme=0.0)),
        ("r2_to_10 >= 0.5", Limit("r2_to_10", 0.5, at_least=True, extreme=1.0)),
        ("bias_to_2 >= -0.5", Limit("bias_to_2", -0.5, at_least=True, extreme=2.0)),
        ("bias <= 0.5", Limit("bias", 0.5)),
    ],
)
def test_a_number_in_a_name_is_read(text: str, limit: Limit) -> None:
    assert constraint(text).limit == limit


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("errors_above <= 0.1", "'errors_above' needs a number after its name"),
        ("errors_above_gap[sex] <= 0.1", "'errors_above' needs a number after its name"),
        ("abs_error_quantile_100 <= 1", "a percentage between 0 and 100"),
        ("abs_error_quantile_0 <= 1", "a percentage between 0 and 100"),
        ("mae_to_0 <= 1", "is above 0"),
        ("mae_to_10 <= 11", "always holds"),
        ("bias_ratio[sex] <= 1", "may be negative"),
        ("mae_to_5[sex] <= 1", r"Did you mean 'mae_to_5_gap\[sex\]'"),
    ],
)
def test_a_number_that_says_nothing_is_refused(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        constraint(text)


def test_a_name_with_a_number_that_nothing_takes_is_unknown() -> None:
    with pytest.raises(UnknownNameError):
        constraint("accuracy_90 >= 0.5")


def test_huge_values_give_no_number_instead_of_a_wrong_one() -> None:
    far = replace(SEEN, y=np.full(60, -1.7e308), decisions=np.full(60, 1.7e308))
    for name in ("mae", "rmse", "max_error", "abs_error_quantile_90"):
        assert evidence(name, far).value == math.inf
    assert evidence("errors_above_0.5", far).value == 1.0
    assert evidence("mae_to_0.5", far).value == 0.5
    spread = replace(SEEN, y=np.where(np.arange(60) < 9, -1.7e308, 1.7e308))
    assert math.isnan(evidence("r2", spread).value)


@pytest.mark.parametrize("name", ["r2", "r2_to_0.5"])
@pytest.mark.parametrize("weights", [None, np.arange(60) % 3 / 3])
def test_a_constant_truth_has_no_r2_whatever_its_mean_is_rounded_to(
    name: str, weights: np.ndarray | None
) -> None:
    truth = np.full(60, 0.1)
    if weights is not None:
        truth[weights == 0] = 5.0  # rows that do not count
    found = evidence(name, replace(SEEN, y=truth, weights=weights))
    assert math.isnan(found.value)
    assert "different true values" in why_unknown(found)


def test_infinite_errors_do_not_pass_for_small_ones() -> None:
    rows = replace(SEEN, decisions=np.where(np.arange(60) < 30, np.nan, FOUND))
    for name in NAMES:
        value = evidence(name, rows).value
        assert math.isnan(value) or value >= 0.5 or name == "errors_within_0.5"
