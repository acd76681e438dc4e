"""The interval of a held-out score: its width, its rows, and the scores that have none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer

from automl_admm.data.row_roles import Roles
from automl_admm.pipelines import score_interval as subject
from automl_admm.pipelines.fit_results import FinalFitResult, say_interval
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.pipelines.score_interval import MOST_DRAWN, score_interval

CLASSES = np.array(["no", "yes"])
ACCURACY = Metric("accuracy", get_scorer("accuracy"))


class Counting(DummyClassifier):
    """Answer by the only column, and count the calls."""

    calls = 0

    def predict(self, X: Any) -> Any:
        self.calls += 1
        return CLASSES[np.asarray(X)[:, 0].astype(int)]

    def predict_proba(self, X: Any) -> Any:
        first = np.asarray(X)[:, 0] * 0.8 + 0.1
        return np.column_stack([1 - first, first])


def rows_with(right: float, rows: int, clusters: Any = None) -> tuple[Counting, Table]:
    """Return a pipeline that is right on such a share of the rows, and the rows."""
    y = np.arange(rows) % 2
    X = np.where(np.random.default_rng(1).random(rows) < right, y, 1 - y)[:, None]
    hashes = None if clusters is None else np.arange(rows, dtype=np.uint64)
    roles = Roles(clusters=clusters, hashes=hashes)
    pipeline = Counting().fit(X, CLASSES[y])
    return pipeline, Table(X, y, CLASSES, roles=roles)


def interval(pipeline: Any, rows: Table, metric: Metric = ACCURACY) -> tuple[float, float] | None:
    answers = Remembered(pipeline)
    return score_interval(metric, answers, rows, score_of(metric, answers, rows))


@pytest.mark.parametrize("rows", [400, 16 * MOST_DRAWN])
def test_the_width_is_that_of_the_binomial(rows: int) -> None:
    pipeline, table = rows_with(0.8, rows)
    found = interval(pipeline, table)
    assert found is not None
    expected = 2 * 1.96 * np.sqrt(0.8 * 0.2 / rows)
    assert found[0] < 0.8 < found[1]
    assert 0.8 * expected < found[1] - found[0] < 1.2 * expected
    assert pipeline.calls == 1, "the rows are predicted once"


def test_rows_alone_are_drawn_as_groups_of_one_row_are() -> None:
    assert interval(*rows_with(0.8, 400)) == interval(*rows_with(0.8, 400, np.arange(400)))


def test_rows_of_one_group_are_drawn_together() -> None:
    alike = np.repeat(np.arange(40), 10)
    single, grouped = (rows_with(0.5, 400, clusters) for clusters in (np.arange(400), alike))
    # Within a group all answers are right, or all are wrong.
    pipeline, table = grouped
    table.X[:, 0] = np.where(alike % 2 == 0, table.y, 1 - table.y)
    one, many = interval(*single), interval(pipeline, table)
    assert one is not None
    assert many is not None
    assert many[1] - many[0] > 2 * (one[1] - one[0])


def test_a_score_of_ranks_has_an_interval_too() -> None:
    found = interval(*rows_with(0.9, 200), Metric("roc_auc", get_scorer("roc_auc")))
    assert found is not None
    assert 0.8 < found[0] < found[1] <= 1.0


def test_few_rows_own_scorers_and_one_class_have_none() -> None:
    assert interval(*rows_with(0.8, 19)) is None
    own = Metric("own", lambda pipeline, X, y: float(X[0, 0]), sees_labels=True)
    assert interval(*rows_with(0.8, 100), own) is None
    pipeline, table = rows_with(0.8, 100)
    table.y[:-1] = 0
    assert interval(pipeline, table, Metric("roc_auc", get_scorer("roc_auc"))) is None


def test_a_perfect_score_has_none() -> None:
    assert interval(*rows_with(1.0, 100)) is None


def test_no_interval_goes_beyond_the_best_score() -> None:
    found = interval(*rows_with(0.98, 100))
    assert found is not None
    assert found[1] == 1.0


def test_a_slow_metric_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "PATIENCE", -1.0)
    assert interval(*rows_with(0.8, 100)) is None


def test_it_comes_back_from_the_child_and_reads_well() -> None:
    kept = FinalFitResult.from_json(FinalFitResult(held_out_interval=(0.7, 0.8)).as_json())
    assert kept.held_out_interval == (0.7, 0.8)
    assert FinalFitResult.from_json({}).held_out_interval is None
    assert say_interval((-2e6, -1e6)) == "95 % interval -2e+06 to -1e+06"
