"""scikit-learn's scorers as limits: which of them look at decisions."""

from __future__ import annotations

import pytest

from automl_admm.constraints.sklearn_scorers import score_measure


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "precision", "jaccard"])
def test_these_look_at_decisions(name: str) -> None:
    assert score_measure(name).uses_decisions


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "neg_log_loss"])
def test_these_look_at_scores_alone(name: str) -> None:
    assert not score_measure(name).uses_decisions


@pytest.mark.parametrize("name", ["r2", "f1_samples", "rand_score"])
def test_one_that_is_no_metric_of_two_classes_does_no_harm(name: str) -> None:
    assert score_measure(name).uses_decisions
