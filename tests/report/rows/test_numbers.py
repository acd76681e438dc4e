"""Curves and importances of arrays."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.report.rows.bins import BINS, part_by
from automl_admm.report.rows.curves import MOST_POINTS, calibrate, curves_of
from automl_admm.report.rows.shuffling import MOST_SECONDS, REPEATS, measure_columns
from automl_admm.report.sections import residuals


def test_a_curve_of_many_rows_has_few_points_and_its_ends() -> None:
    rng = np.random.default_rng(0)
    y, scores = rng.random(20_000) < 0.3, rng.random(20_000)
    found = curves_of("x", y, scores, None, are_probabilities=True, are_trials=True)
    assert 20 < len(found.roc) <= MOST_POINTS + 2
    assert (found.roc[0], found.roc[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert all(a <= c and b <= d for (a, b), (c, d) in itertools.pairwise(found.roc))
    area = sum((c - a) * (b + d) / 2 for (a, b), (c, d) in itertools.pairwise(found.roc))
    assert area == pytest.approx(found.area, abs=0.003)


def test_rows_of_one_class_have_no_curve() -> None:
    every, scores = np.ones(9, dtype=bool), np.arange(9) / 9
    found = curves_of("x", every, scores, None, are_probabilities=True, are_trials=True)
    assert (found.area, found.roc, found.precision) == (None, (), ())
    assert found.brier is not None


def test_bins_have_the_mean_and_the_share_of_their_rows() -> None:
    scores = np.repeat([0.1, 0.5, 0.9], 100)
    y = np.concatenate([np.arange(100) < 10, np.arange(100) < 80, np.arange(100) < 90])
    found = calibrate(y, scores, None, are_trials=True)
    assert [(one.rows, one.predicted, one.observed) for one in found] == [
        *((100, 0.1, 0.1), (100, 0.5, 0.8)),
        (100, 0.9, 0.9),
    ]
    assert all(one.lower < one.observed < one.upper for one in found if one.lower and one.upper)
    (one,) = calibrate(y, np.full(300, 0.5), np.linspace(0.1, 1.0, 300), are_trials=False)
    assert (one.rows, one.lower) == (300, None)


def test_columns_made_of_one_are_shuffled_together() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(200), "noise": rng.random(200)})
    frame["twice"] = 2 * frame["x"]

    def score(X: pd.DataFrame) -> float:
        assert (X["twice"] == 2 * X["x"]).all()
        return float(-(X["x"] - frame["x"]).abs().mean())

    columns = {"x": ("x", "twice"), "noise": ("noise",)}
    first, second = measure_columns(frame, columns, score, 0)
    assert (first.name, first.repeats) == ("x", REPEATS)
    assert first.least > 0
    assert (second.mean, second.largest) == (0.0, 0.0)


def test_a_late_end_costs_repeats_and_then_columns() -> None:
    frame = pd.DataFrame({name: np.arange(5.0) for name in "abc"})
    columns = {name: (name,) for name in "abc"}

    def after(looks: int) -> dict[str, int]:
        ticks = itertools.count()

        def clock() -> float:
            return MOST_SECONDS if next(ticks) > looks else 0.0

        found = measure_columns(frame, columns, lambda X: 0.0, 0, clock)
        return {one.name: one.repeats for one in found}

    assert after(5) == {"a": 2, "b": 2, "c": 1}
    assert after(2) == {"a": 1, "b": 1}


@pytest.mark.parametrize("distinct", [1, 3, 14, 200])
def test_bins_keep_equal_values_together_in_any_order(distinct: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(distinct, size=200).astype(float)
    parts = [set(values[inside].tolist()) for inside in part_by(values)]
    assert len(parts) <= BINS
    assert sum(map(len, parts)) == len(np.unique(values))
    assert all(max(first) < min(second) for first, second in itertools.pairwise(parts))
    errors, order = rng.normal(size=200), rng.permutation(200)
    bands = residuals._bands(values, errors, None)
    others = residuals._bands(values[order], errors[order], None)
    assert [one.rows for one in bands] == [one.rows for one in others]
    assert [one.error for one in bands] == pytest.approx([one.error for one in others])


@pytest.mark.parametrize("weights", [None, np.linspace(0.0, 1.0, 70)])
def test_errors_of_a_constant_truth_have_no_r2(weights: np.ndarray | None) -> None:
    errors = np.random.default_rng(0).normal(size=70)
    table = Table(None, np.full(70, 0.1), roles=Roles(weights=weights))
    rows = SimpleNamespace(table=table, classes=None, decisions=0.1 + errors)
    found = residuals.measure(SimpleNamespace(rows=rows, settings={"seed": 0}))
    assert found is not None
    assert found.r2 is None
    assert found.root_mean_square == pytest.approx(np.sqrt(np.average(errors**2, weights=weights)))
