"""The built-in rates by the weights of rows: as rates of rows repeated by their weights."""

import math
from dataclasses import replace

import numpy as np
import pytest

from automl_admm.builtin.constraints import decision_rates
from automl_admm.builtin.constraints.fairness import equalized_odds_difference
from automl_admm.constraints.group_comparison import GapOf
from automl_admm.core.unknown_values import explain_unknown
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 80)
SCORES = np.round(RNG.random(80) + 0.4 * Y, 1)  # with ties
TIMES = RNG.integers(1, 5, 80)
SEEN = EvaluatedPipeline(
    None, np.zeros((80, 1)), Y, SCORES, 0.0, 0.0, (SCORES > 0.6).astype(int), weights=TIMES / 2.5
)
REPEATED = replace(SEEN.part(np.repeat(np.arange(80), TIMES)), weights=None)
RATES = ("fpr", "fnr", "recall", "precision", "selection_rate", "error", "accuracy", "auc")


@pytest.mark.parametrize("name", RATES)
def test_a_weight_counts_as_so_many_equal_rows(name):
    rate = getattr(decision_rates, name)
    assert rate(SEEN).value == pytest.approx(rate(REPEATED).value, abs=1e-12)


def test_gaps_between_groups_are_of_weighted_rates():
    places = RNG.integers(0, 2, 80)
    masks = {"a": places == 0, "b": places == 1}
    again = {name: np.repeat(rows, TIMES) for name, rows in masks.items()}
    for compare in (GapOf(decision_rates.fpr), equalized_odds_difference):
        assert compare(SEEN, masks).value == pytest.approx(compare(REPEATED, again).value)


@pytest.mark.parametrize(
    ("name", "label", "said"),
    [("fpr", 1, "negative rows"), ("auc", 1, "negative rows"), ("auc", 0, "positive rows")],
)
def test_a_rate_of_no_rows_has_no_value_and_says_so(name, label, said):
    found = getattr(decision_rates, name)(SEEN.part(label == Y))
    assert math.isnan(found.value)
    assert explain_unknown(found) == f"it has no {said}"
