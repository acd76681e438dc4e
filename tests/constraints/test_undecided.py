"""Limits beside rows that are left undecided: of the decided rows, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from automl_admm.constraints.dry_run import TrialRows, meet_data
from automl_admm.constraints.expected_evidence import imagine
from automl_admm.constraints.undecided import OfDecided
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evidence import Evidence, Rate, Weighted
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.assembly import resolve_constraints
from automl_admm.runs.prepare.set_aside import plan_aside

Y = np.array([0, 0, 0, 1, 1, 1, 1, 0])
TOLD = np.array([0, 1, -1, 1, -1, 0, 1, -1])
SEX = pd.DataFrame({"sex": list("ffmmffmm")})


def measured(*limits: str, y: Any = Y, told: Any = TOLD, weights: Any = None) -> list[Evidence]:
    """Measure limits on rows decided so; the first one allows that some are not."""
    config = RunConfig(constraints=("abstain <= 50 %", *limits))
    classes = len(np.unique(y))
    rows = TrialRows(None, y, SEX, classes, weights, tuple("abc"[:classes]))
    found = meet_data(resolve_constraints(config, load_plugins(quietly=True)), rows)
    scores = np.eye(classes)[np.maximum(told, 0)]
    model = DummyClassifier().fit(np.zeros((classes, 1)), np.arange(classes))
    seen = EvaluatedPipeline(model, None, y, scores, 0.0, 0.0, told, sensitive=SEX, weights=weights)
    return [as_evidence(one.function(seen)) for one in found]


def test_rates_are_of_the_decided_rows_and_say_so() -> None:
    undecided, wrong, fpr, recall, precision = measured(
        "error <= 0.5", "fpr <= 0.5", "recall >= 0.5", "precision >= 0.5"
    )
    assert undecided == Rate(3, 8)
    assert wrong == Rate(2, 5, "decided rows")
    assert fpr == Rate(1, 2, "decided negative rows")
    assert recall == Rate(2, 3, "decided positive rows")
    assert precision == Rate(2, 3, "decided rows called positive")


def test_no_more_rows_count_than_are_decided() -> None:
    seen = EvaluatedPipeline(None, None, Y, Y, 0.0, 0.0, TOLD)
    with pytest.raises(ValueError, match="it counts 8 rows where it was given 5"):
        OfDecided(lambda _: Rate(0, 8))(seen)


def test_groups_classes_scorers_and_weights_count_the_decided_rows_too() -> None:
    gap, worst, left, scorer = measured(
        "error_gap[sex] <= 0.9",
        "min_recall[sex] >= 0.1",
        "abstain_gap[sex] <= 0.9",
        "balanced_accuracy >= 0.1",
    )[1:]
    # Of f rows 0, 1, 4 and 5: 4 is undecided, 1 and 5 are wrong; of m rows 3 and 6 are right.
    assert gap.value == pytest.approx(2 / 3)
    assert worst.value == 0.0
    assert left.value == pytest.approx(2 / 4 - 1 / 4)  # rows 2 and 7 of m, row 4 of f
    assert scorer.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    heavy = np.array([1.0, 1.0, 5.0, 1.0, 5.0, 1.0, 1.0, 5.0])
    undecided, wrong = measured("error <= 0.5", weights=heavy)
    assert undecided.value == pytest.approx(15 / 20)
    assert wrong == Weighted(2 / 5, "decided rows")


def test_one_class_of_several_does_not_take_undecided_rows_for_another_class() -> None:
    y = np.array([0, 1, 2, 2, 0, 1, 2, 0])
    told = np.array([0, 1, 2, -1, -1, 0, -1, -1])
    recall, worst = measured(
        'recall{class="c"} >= 0.1', "min_recall{class} >= 0.1", y=y, told=told
    )[1:]
    assert recall == Rate(1, 1, "decided rows of class 'c'")
    assert worst.value == 0.5


@pytest.mark.parametrize(
    ("limits", "says"),
    [
        (("abstain >= 5 %",), "asks for rows that are left undecided"),
        (("abstain <= 2 * baseline",), "decides every row"),
        (("abstain_gap[sex] <= 5 %",), "Add 'abstain <= 5 %'"),
        (("max_abstain[sex] <= 5 %", "error <= 1 %"), "Add 'abstain <= 5 %'"),
    ],
)
def test_limits_that_make_no_sense_are_refused_in_a_line(limits: Any, says: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        resolve_constraints(RunConfig(constraints=limits), load_plugins(quietly=True))
    assert says in str(refused.value)


@pytest.mark.parametrize(("classes", "least"), [(2, 0.5), (3, 0.75)])
def test_a_plan_leaves_as_many_rows_undecided_as_a_limit_allows(classes: int, least: float) -> None:
    y = np.repeat(np.arange(classes), [1600, 400, 400][:classes])
    rows = TrialRows(None, y, None, classes, None, tuple("abc"[:classes]))
    name = "recall" if classes == 2 else 'recall{class="b"}'
    plugins = load_plugins(quietly=True)

    def rows_for(*limits: str) -> tuple[Any, float]:
        config = RunConfig(constraints=limits)
        found = meet_data(resolve_constraints(config, plugins), rows)
        examples = imagine(found, rows)
        plan = plan_aside(found, examples, 0.95, has_thresholds=classes == 2)
        return examples, plan.fraction

    (whole,), fraction = rows_for(f"{name} >= {least}")
    (decided, undecided), more = rows_for(f"{name} >= {least}", "abstain <= 20 %")
    assert whole.trials == 400
    assert (undecided.events, undecided.trials) == (0.2 * len(y), len(y))
    # Of the rare positive rows more are near the threshold than of all rows.
    assert decided.trials <= 330
    assert more > 1.15 * fraction
