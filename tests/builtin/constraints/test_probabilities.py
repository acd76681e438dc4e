"""The limits on probabilities and on the worst group: values, weights, models without either."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from installed import PLUGINS
from sklearn import metrics
from sklearn.dummy import DummyClassifier

from automl_admm.constraints.group_comparison import Grouped
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evidence import Evidence
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.core.unknown_values import why_unknown
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

RNG = np.random.default_rng(0)
CHANCES = RNG.random(200).round(2)  # with ties
TRUTH = (RNG.random(200) < CHANCES).astype(int)
SEX = np.where(np.arange(200) % 3, "f", "m")
SEEN = EvaluatedPipeline(
    DummyClassifier(),
    np.zeros((200, 1)),
    TRUTH,
    np.column_stack([1 - CHANCES, CHANCES]),
    0.0,
    0.0,
    (CHANCES >= 0.5).astype(int),
    sensitive=pd.DataFrame({"sex": SEX}),
)


def evidence(name: str, rows: EvaluatedPipeline = SEEN) -> Evidence:
    function: Any = constraint_of(read_text(f"{name} <= 0.5"), PLUGINS.constraints).function
    if isinstance(function, Grouped):
        function = replace(function, names=("f", "m"))
    return as_evidence(function(rows))


def best(wanted: Any, held: Any, share: float) -> float:
    pairs = [(wanted(t <= CHANCES), held(t <= CHANCES)) for t in np.unique(CHANCES)]
    return max(first for first, second in pairs if second >= share)


def test_the_values_are_those_by_hand_and_of_scikit_learn() -> None:
    bins = np.searchsorted(np.quantile(CHANCES, np.arange(1, 10) / 10), CHANCES, side="right")
    parts = [np.mean(bins == b) * abs(np.mean((CHANCES - TRUTH)[bins == b])) for b in range(10)]
    assert evidence("calibration_error").value == pytest.approx(sum(parts))
    assert evidence("brier").value == pytest.approx(metrics.brier_score_loss(TRUTH, CHANCES))

    def recall(called: Any) -> float:
        return metrics.recall_score(TRUTH, called)

    def precision(called: Any) -> float:
        return metrics.precision_score(TRUTH, called)

    found = evidence("recall_at_precision_80").value
    assert found == pytest.approx(best(recall, precision, 0.8))
    found = evidence("precision_at_recall_60").value
    assert found == pytest.approx(best(precision, recall, 0.6))


NAMES = ("brier", "calibration_error", "recall_at_precision_80", "precision_at_recall_60")


@pytest.mark.parametrize("name", NAMES)
def test_weights_count_as_repeated_rows(name: str) -> None:
    # Of a calibration error the bins are those of the rows: all weights are alike for it.
    weights = np.full(200, 2.0) if name == "calibration_error" else 1.0 + (np.arange(200) % 2)
    again = SEEN.part(np.repeat(np.arange(200), weights.astype(int)))
    weighted = evidence(name, replace(SEEN, weights=weights)).value
    assert weighted == pytest.approx(evidence(name, again).value)


@pytest.mark.parametrize("name", ["brier", "calibration_error", "max_brier[sex]"])
def test_a_model_without_probabilities_has_no_value_and_says_so(name: str) -> None:
    found = evidence(name, replace(SEEN, predictions=CHANCES))
    assert math.isnan(found.value)
    assert "the model has no probabilities" in why_unknown(found)


def test_rows_without_positives_have_no_recall_at_a_precision() -> None:
    found = evidence("recall_at_precision_80", replace(SEEN, y=np.zeros(200, dtype=int)))
    assert math.isnan(found.value)
    assert why_unknown(found) == "has no positive rows"
    # No threshold is precise enough: nothing is found, and that is known.
    turned = replace(SEEN, predictions=np.column_stack([CHANCES, TRUTH * -1.0]))
    assert evidence("recall_at_precision_99", turned).value == 0.0


def test_the_worst_group_counts() -> None:
    found = {sex: np.mean(SEEN.decisions[(sex == SEX) & (TRUTH == 1)]) for sex in ("f", "m")}
    assert evidence("min_recall[sex]").value == pytest.approx(min(found.values()))
    assert evidence("max_recall[sex]").value == pytest.approx(max(found.values()))
    gap = evidence("equal_opportunity_difference[sex]").value
    assert gap == pytest.approx(abs(found["f"] - found["m"]))
    none = replace(SEEN, y=np.where(SEX == "f", 0, TRUTH))
    assert why_unknown(evidence("min_recall[sex]", none)) == "group 'f' has no positive rows"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("recall_at_precision_0 >= 0.1", "above 0 and up to 100"),
        ("recall_at_precision_101 >= 0.1", "above 0 and up to 100"),
        ("precision_at_recall >= 0.1", "needs a number after its name"),
        ("min_latency_us[sex] <= 3", "not measured on rows"),
        ("min_recall[sex] >= 80", "can never hold"),
        ("min_recall >= 0.8", r"'min_recall\[column\]' for the worst group"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(text: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says):
        constraint_of(read_text(text), PLUGINS.constraints)
