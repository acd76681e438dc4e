"""The cost of decisions: its table, and what thresholds of two classes are chosen by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm import AutoMLClassifier, AutoMLRegressor
from automl_admm.core.errors import ConfigurationError
from automl_admm.pipelines.thresholds.cost_text import read_costs
from automl_admm.pipelines.thresholds.said_costs import TwoClassCosts

EVERY_CASE = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])


def table(rows: int = 1500, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=rows), "b": rng.normal(size=rows)})
    return X, np.where(X["a"] + rng.normal(size=rows) > 1.0, "yes", "no")


def test_costs_are_read_and_averaged() -> None:
    assert read_costs("fn=5,fp=1") == TwoClassCosts(fn=5.0, fp=1.0)
    assert read_costs(" FP = 1 , tn=-0.5,fn = 5, tp=2") == TwoClassCosts(5.0, 1.0, 2.0, -0.5)
    cost = read_costs("fn=5,fp=1").of(("no", "yes"))
    assert cost.mean(*EVERY_CASE) == 1.5
    assert cost.mean(*EVERY_CASE, np.array([0.0, 3.0, 1.0, 0.0])) == 2.0


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "no decision is named so"),
        ("fn=5", "lacks fn or fp"),
        ("fn=5,fp", "'' where a finite number is due"),
        ("fn=5,fp=nan", "'nan' where a finite number is due"),
        ("fn=inf,fp=1", "'inf' where a finite number is due"),
        ("fn=5,fp=1,fn=2", "'fn' twice"),
        ("fn=5,fp=1,cost=2", "'cost' and no decision is named so"),
        ("fn=0,fp=1", "no dearer than the right one"),
        ("fn=5,fp=1,tn=1", "no dearer than the right one"),
    ],
)
def test_costs_without_sense_are_one_line(said: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match="cost") as problem:
        AutoMLClassifier(cost=said).fit(*table(60))
    assert why in str(problem.value)


def test_three_classes_have_no_such_cost_and_a_quantity_has_none() -> None:
    X, y = table(90)
    with pytest.raises(ConfigurationError, match="of two classes, and this target has 3") as told:
        AutoMLClassifier(cost="fn=5,fp=1").fit(X, np.where(X["b"] > 1, "maybe", y))
    assert "maybe->yes=5, *->*=1" in str(told.value)
    with pytest.raises(ConfigurationError, match="this one is a quantity"):
        AutoMLRegressor(cost="fn=5,fp=1").fit(X, X["a"])


def test_the_threshold_is_the_cheapest_and_the_metric_ranks() -> None:
    model = AutoMLClassifier(
        cost="fn=9,fp=1",
        grammar="tiny",
        cv=2,
        max_evaluations=1,
        executor="inline",
        random_state=0,
    ).fit(*table())
    X, y = table(20_000, seed=1)
    scores, true = model.predict_proba(X)[:, 1], (y == "yes").astype(int)
    cost = read_costs("fn=9,fp=1").of(("no", "yes"))

    def at(threshold: float) -> float:
        return cost.mean(true, (scores >= threshold).astype(int))

    mine = cost.mean(true, (model.predict(X) == "yes").astype(int))
    assert mine < 0.9 * at(0.5)
    assert mine < 1.05 * min(map(at, np.linspace(0.01, 0.9, 90)))
    assert model.best_score_ > 0.7
