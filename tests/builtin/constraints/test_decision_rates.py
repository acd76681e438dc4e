"""Built-in rates and comparisons agree with scikit-learn and with fairlearn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fairlearn.metrics as fair
import numpy as np
import pandas as pd
import pytest
from installed import PLUGINS
from sklearn import metrics
from sklearn.dummy import DummyClassifier

from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of, with_groups
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

ROWS = 400


@pytest.fixture(scope="module")
def evaluated() -> EvaluatedPipeline:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, ROWS)
    scores = np.clip(0.5 * y + rng.random(ROWS) * 0.7, 0, 1).round(2)
    sensitive = pd.DataFrame(
        {"sex": rng.choice(["f", "m"], ROWS), "age": rng.integers(18, 70, ROWS)}
    )
    model = DummyClassifier().fit(np.zeros((2, 1)), [0, 1])
    predictions = np.column_stack([1 - scores, scores])
    X = np.zeros((ROWS, 1))
    return EvaluatedPipeline(
        model, X, y, predictions, 0.1, 0.1, (scores > 0.6).astype(int), sensitive
    )


def measure(text: str, evaluated: EvaluatedPipeline, limit: str = "<= 1") -> float:
    constraint = constraint_of(read_text(f"{text} {limit}"), PLUGINS.constraints)
    if constraint.groups is not None:
        names = tuple(sorted(set(constraint.groups(evaluated.sensitive))))
        constraint = with_groups(constraint, names)
    return as_evidence(constraint.function(evaluated)).value


@pytest.mark.parametrize(
    ("name", "oracle"),
    [
        ("fpr", fair.false_positive_rate),
        ("fnr", fair.false_negative_rate),
        ("recall", metrics.recall_score),
        ("precision", metrics.precision_score),
        ("selection_rate", fair.selection_rate),
        ("accuracy", metrics.accuracy_score),
        ("error", metrics.zero_one_loss),
        ("balanced_accuracy", metrics.balanced_accuracy_score),
        ("f1", metrics.f1_score),
    ],
)
def test_rates_and_their_gaps_over_groups(
    name: str, oracle: Callable[..., float], evaluated: EvaluatedPipeline
) -> None:
    y, decisions = evaluated.y, evaluated.decisions
    assert measure(name, evaluated) == pytest.approx(oracle(y, decisions))
    for groups in (["sex"], ["sex", "age"]):
        frame = evaluated.sensitive[groups].copy()
        if "age" in groups:
            frame["age"] = pd.cut(frame["age"], [0, 30, 50, 99], right=False).astype(str)
        known = fair.MetricFrame(
            metrics=oracle, y_true=y, y_pred=decisions, sensitive_features=frame
        )
        columns = ",".join("age:30,50" if column == "age" else column for column in groups)
        gap = measure(f"{name}_gap[{columns}]", evaluated)
        assert gap == pytest.approx(known.difference())
        if name not in {"balanced_accuracy", "f1"}:
            ratio = measure(f"{name}_ratio[{columns}]", evaluated)
            assert ratio == pytest.approx(known.ratio())


@pytest.mark.parametrize("name", ["auc", "roc_auc"])
def test_the_auroc_and_its_gap(name: str, evaluated: EvaluatedPipeline) -> None:
    scores = evaluated.predictions[:, 1]
    assert measure(name, evaluated) == pytest.approx(metrics.roc_auc_score(evaluated.y, scores))
    known = fair.MetricFrame(
        metrics=metrics.roc_auc_score,
        y_true=evaluated.y,
        y_pred=scores,
        sensitive_features=evaluated.sensitive["sex"],
    )
    assert measure(f"{name}_gap[sex]", evaluated) == pytest.approx(known.difference())


@pytest.mark.parametrize(
    "name",
    ["demographic_parity_difference", "demographic_parity_ratio", "equalized_odds_difference"],
)
def test_comparisons_with_names_of_their_own(name: str, evaluated: EvaluatedPipeline) -> None:
    known = getattr(fair, name)(
        evaluated.y, evaluated.decisions, sensitive_features=evaluated.sensitive["sex"]
    )
    assert measure(f"{name}[sex]", evaluated) == pytest.approx(known)


def test_a_scorer_keeps_the_sign_of_scikit_learn(evaluated: EvaluatedPipeline) -> None:
    known = metrics.brier_score_loss(evaluated.y, evaluated.predictions[:, 1])
    assert measure("neg_brier_score", evaluated, ">= -0.3") == pytest.approx(-known)


def test_nothing_is_predicted_for_a_part(evaluated: EvaluatedPipeline) -> None:
    class Silent:
        classes_ = np.arange(2)

        def predict(self, X: object) -> None:
            pytest.fail("it was asked again")

        def predict_proba(self, X: object) -> None:
            pytest.fail("it was asked again")

        def __sklearn_tags__(self) -> Any:
            return DummyClassifier().__sklearn_tags__()

    silent = EvaluatedPipeline(
        Silent(),
        evaluated.X,
        evaluated.y,
        evaluated.predictions,
        0.0,
        0.0,
        evaluated.decisions,
        evaluated.sensitive,
    )
    part = silent.part(evaluated.sensitive["sex"].to_numpy() == "f")
    assert set(part.sensitive["sex"]) == {"f"}
    assert len(part.X) == len(part.y) == len(part.scores) == len(part.decisions) < ROWS
    for name in ("fpr_gap[sex]", "balanced_accuracy", "roc_auc_gap[sex]"):
        assert measure(name, silent) == measure(name, evaluated)
