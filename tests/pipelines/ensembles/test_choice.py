"""The choice between an ensemble and a single pipeline, on rows that had no say in it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer

from automl_admm.core.space import Array
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.ensembles.choice import Choice, choose
from automl_admm.pipelines.ensembles.greedy import Purse
from automl_admm.pipelines.ensembles.quick_scores import BY_NAME
from automl_admm.pipelines.ensembles.rated import MOST_ROWS, PARTS, Rated
from automl_admm.pipelines.ensembles.replayed import replay
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.measured import Table, score_of

R2 = Metric("r2", get_scorer("r2"))


def table(rows: int, classes: Any = None) -> Table:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": np.arange(rows)})
    y = rng.normal(size=rows) if classes is None else np.arange(rows) % len(classes)
    return Table(X, y, classes)


def folds(rows: int, count: int, seed: int = 0) -> list[tuple[Any, Any]]:
    dealt = np.random.default_rng(seed).permutation(rows) % count
    return [(np.flatnonzero(dealt != k), np.flatnonzero(dealt == k)) for k in range(count)]


def guesses(rows: Table, splits: Any, noise: float, count: int) -> Array:
    """Predictions of the validated rows, each with noise of its own."""
    numbers = np.concatenate([valid for _, valid in splits])
    rng = np.random.default_rng(2)
    return np.asarray(rows.y[numbers] + noise * rng.normal(size=(count, len(numbers))))


def chosen(predictions: Array, rows: Table, splits: Any, metric: Metric = R2) -> Choice:
    rated = Rated.of(metric, rows, splits)
    return choose(predictions, rated, Purse.unlimited(len(predictions)))


@pytest.mark.parametrize("count", [1, 4])
def test_independent_errors_are_better_averaged(count: int) -> None:
    rows = table(400)
    splits = folds(400, count) if count > 1 else [(np.arange(100), np.arange(100, 400))]
    found = chosen(guesses(rows, splits, 1.0, 8), rows, splits)
    assert found.is_better
    assert found.gain > 4 * found.error > 0


def test_what_only_looks_better_on_its_own_rows_is_none() -> None:
    """Members that guess at random: of 20 a mean fits these rows a little, and no others."""
    better = 0
    for seed in range(10):
        rows, splits = table(60), folds(60, 4, seed)
        rng = np.random.default_rng(seed)
        single = rows.y[np.concatenate([valid for _, valid in splits])] * 0.9
        worse = rng.normal(size=(19, 60)) * 0.3 + single
        found = chosen(np.stack([single, *worse]), rows, splits)
        better += found.is_better
    assert better <= 3


def test_one_pipeline_is_no_ensemble() -> None:
    rows, splits = table(100), folds(100, 4)
    right = guesses(rows, splits, 0.0, 1)
    found = chosen(np.concatenate([right, right + 1.0]), rows, splits)
    assert not found.is_better
    assert found.counts.tolist() == [1, 0]


def test_without_a_part_that_had_no_say_there_is_no_ensemble() -> None:
    """Splits of the user's own that share rows: nothing could be measured honestly."""
    rows = table(100)
    splits = [(np.arange(20), np.arange(20 + k, 100)) for k in range(3)]
    found = chosen(guesses(rows, splits, 1.0, 8), rows, splits)
    assert not found.is_better
    assert math.isnan(found.gain)


def test_rows_dealt_twice_are_apart_from_themselves() -> None:
    rows = table(80)
    splits = [*folds(80, 4), *folds(80, 4, seed=1)]
    rated = Rated.of(R2, rows, splits)
    assert rated.independent == 4
    for part in rated.parts:
        others = rated.others(part)
        assert len(others) == 3
        assert not any(set(part.numbers) & set(other.numbers) for other in others)


def test_a_holdout_is_cut_into_parts_with_all_classes_and_few_rows() -> None:
    rows = table(40_000, np.array(["a", "b", "c"]))
    rated = Rated.of(Metric("accuracy", get_scorer("accuracy")), rows, [(0, np.arange(40_000))])
    assert len(rated.parts) == PARTS
    assert sum(len(part.places) for part in rated.parts) <= MOST_ROWS + PARTS
    assert all(set(part.rows.y) == {0, 1, 2} for part in rated.parts)


@pytest.mark.parametrize("name", list(BY_NAME))
def test_quick_scores_are_those_of_scikit_learn(name: str) -> None:
    rng, metric = np.random.default_rng(0), Metric(name, get_scorer(name))
    if name in ("roc_auc", "neg_log_loss"):
        rows = table(60, np.array(["b", "a"]))  # the positive one is not the last of the sorted
        # Rounded, so that some are equal, and some are 0 and 1.
        sure = rng.uniform(-0.1, 1.1, size=(5, 60)).clip(0, 1).round(1)
        given = np.stack([1 - sure, sure], axis=2)
    else:
        rows, given = table(60), rng.normal(size=(5, 60))
    expected = [score_of(metric, replay(rows, one), rows) for one in given]
    assert BY_NAME[name](rows.y, given) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", list(BY_NAME))
@pytest.mark.parametrize("rows", [70, 2, 1])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_quick_scores_of_a_constant_target_are_those_of_a_run(name: str, rows: int) -> None:
    """R² was none, so that no ensemble was ever chosen where one fold has a constant target."""
    rng, X = np.random.default_rng(0), pd.DataFrame({"a": np.arange(rows)})
    if name in ("roc_auc", "neg_log_loss"):
        classes, sure = np.array(["b", "a"]), rng.uniform(size=(3, rows))
        metric = Metric(name, get_scorer(name)).knowing(classes)
        constant, given = (
            Table(X, np.zeros(rows, dtype=int), classes),
            np.stack([1 - sure, sure], 2),
        )
    else:
        metric, constant = Metric(name, get_scorer(name)), Table(X, np.full(rows, 0.1))
        given = np.stack([np.full(rows, 0.1), np.zeros(rows), rng.normal(size=rows)])
    expected = [score_of(metric, replay(constant, one), constant) for one in given]
    assert BY_NAME[name](constant.y, given) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("given", [[1e-200, 2e-200], [0.0, 0.0], [1.0, 2.0]], ids=str)
def test_the_quick_r2_of_squares_that_underflow_is_that_of_a_run(given: list[float]) -> None:
    rows = Table(pd.DataFrame({"a": [0, 1]}), np.array([1e-200, 2e-200]))
    expected = score_of(R2, replay(rows, np.array(given)), rows)
    assert BY_NAME["r2"](rows.y, np.array([given])) == [expected]


def test_weights_of_rows_count_in_the_choice() -> None:
    """The last rows count for nothing: by them alone the second one would be taken."""
    rows, splits = table(200), [(np.arange(20), np.arange(200))]
    weights = np.where(np.arange(200) < 100, 2.0, 1e-12)
    heavy = Table(rows.X, rows.y, roles=Roles(weights=weights))
    right = np.where(weights > 1, heavy.y, heavy.y + 5.0)
    left = np.where(weights > 1, heavy.y + 1.0, heavy.y)
    assert chosen(np.stack([right, left]), heavy, splits).counts.tolist() == [1, 0]
    assert chosen(np.stack([right, left]), rows, splits).counts[1] > 0


def test_a_metric_that_fails_chooses_nothing() -> None:
    def fails(estimator: Any, X: Any, y: Any) -> float:
        raise ValueError("it looks for something that a mean has not")

    rows, splits = table(100), folds(100, 4)
    found = chosen(guesses(rows, splits, 1.0, 8), rows, splits, Metric("own", fails))
    assert not found.counts.any()
    assert not found.is_better
