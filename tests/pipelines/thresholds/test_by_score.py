"""A threshold for a metric of decisions: taken where it is better by more than its noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import f1_score, make_scorer

from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.metrics import Metric, resolve_metric
from automl_admm.pipelines.predictions.measured import Seen, Table
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.pipelines.thresholds.by_score import best_at_thresholds, threshold_for_score
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.registry import Registry

LABELS = np.array(["no", "yes"])


class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier with the score of a row in its only column."""

    classes_ = LABELS

    def predict_proba(self, X: Any) -> Any:
        return np.column_stack([1 - X[:, 0], X[:, 0]])

    def predict(self, X: Any) -> Any:
        return LABELS[(X[:, 0] > 0.5).astype(int)]


def metric_of(scoring: Any) -> Metric:
    return resolve_metric(scoring, "classification", 2, Registry("metric"))


def seen_of(scores: Any, y: Any, parts: int, weights: Any = None) -> list[Seen]:
    found = []
    for places in np.array_split(np.arange(len(y)), parts):
        X, known = scores[places, None], np.asarray(y)[places]
        roles = Roles(weights=None if weights is None else weights[places])
        rows, model = Table(X, known, LABELS, roles=roles), Scores()
        part = EvaluatedPipeline(model, X, known, model.predict_proba(X), 0.0, 0.0)
        found.append(Seen(model, Remembered(model), rows, part, 0.0, by_decisions=True))
    return found


def rare(rows: int = 3000, seed: int = 0) -> tuple[Any, Any]:
    """Calibrated scores of rare positives: few of them are above a half."""
    rng = np.random.default_rng(seed)
    chance = rng.beta(0.4, 4.0, rows)
    return chance, (rng.random(rows) < chance).astype(int)


@pytest.mark.parametrize("parts", [1, 4])
def test_an_f1_of_rare_rows_gets_a_lower_threshold_that_is_better(parts: int) -> None:
    scores, y = rare()
    threshold = threshold_for_score(metric_of("f1"), seen_of(scores, y, parts), 0.5)
    assert threshold is not None
    assert threshold < 0.4
    assert f1_score(y, scores >= threshold) > f1_score(y, scores >= 0.5) + 0.05


def test_a_cost_of_ones_own_gets_the_threshold_of_its_costs() -> None:
    def cost(truth: Any, found: Any) -> float:
        missed = np.mean((truth == "yes") & (found == "no"))
        return -float(9 * missed + np.mean((truth == "no") & (found == "yes")))

    scores, y = rare()
    threshold = threshold_for_score(metric_of(make_scorer(cost)), seen_of(scores, y, 4), 0.5)
    # A probability of 1 / (1 + 9) is where both mistakes cost the same.
    assert threshold == pytest.approx(0.1, abs=0.06)


def test_weights_move_it() -> None:
    scores, y = rare()
    weights = np.where(y == 1, 9.0, 1.0)
    seen = seen_of(scores, y, 4, weights)
    threshold = threshold_for_score(metric_of("accuracy"), seen, 0.5)
    assert threshold == pytest.approx(0.1, abs=0.06)


def test_half_stays_the_threshold_for_the_accuracy_of_calibrated_scores() -> None:
    moved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        chance = rng.random(400)
        y = (rng.random(400) < chance).astype(int)
        seen = seen_of(chance, y, 4)
        moved += threshold_for_score(metric_of("accuracy"), seen, 0.5) is not None
    assert moved <= 3


def test_noise_is_no_reason_to_move_it() -> None:
    moved = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        seen = seen_of(rng.random(200), rng.integers(0, 2, 200), 4)
        moved += threshold_for_score(metric_of("balanced_accuracy"), seen, 0.5) is not None
    assert moved <= 6


def test_ties_that_plain_predict_calls_negative_are_worth_a_threshold() -> None:
    """Most positive rows are on the default threshold itself: two neighbours that differ."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.3).astype(int)
    scores = np.where(y == 1, rng.choice([0.5, 1.0], 400, p=[0.8, 0.2]), 0.0)
    seen = seen_of(scores, y, 4)
    threshold = threshold_for_score(metric_of("f1"), seen, 0.5)
    assert threshold is not None
    assert f1_score(y, scores >= threshold) == 1.0
    # With no row below it the default threshold would call all of them positive.
    assert threshold_for_score(metric_of("f1"), seen_of(scores[y == 1], y[y == 1], 4), 0.5) is None


def test_a_race_knows_the_score_of_plain_predict() -> None:
    (seen,) = seen_of(np.full(60, 0.5), np.resize([0, 0, 1], 60), 1)
    assert best_at_thresholds(metric_of("accuracy"), seen, 0.5) == pytest.approx(2 / 3)


@pytest.mark.parametrize("scores", [np.full(100, 0.3), np.full(100, 0.5), np.full(100, 0.7)])
def test_equal_scores_have_no_other_threshold(scores: Any) -> None:
    y = np.resize([0, 0, 1], 100)
    assert threshold_for_score(metric_of("f1"), seen_of(scores, y, 4), 0.5) is None


def test_repeated_rows_are_no_more_evidence() -> None:
    scores, y = rare(160, seed=3)
    parts = seen_of(scores, y, 4)
    for noise in (parts, parts * 6):
        once = threshold_for_score(metric_of("f1"), noise, 0.5, repeats=len(noise) / 4)
        assert (once is None) == (threshold_for_score(metric_of("f1"), parts, 0.5) is None)


def test_a_metric_without_a_value_chooses_nothing() -> None:
    scores, y = rare(200)
    metric = metric_of(make_scorer(lambda truth, found: float("nan")))
    assert threshold_for_score(metric, seen_of(scores, y, 4), 0.5) is None
