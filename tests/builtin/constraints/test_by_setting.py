from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from automl_admm.builtin.constraints.by_setting import constraints
from automl_admm.certify.bounds.bounds import exact_bounds
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.resolve import constraint_of
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evidence import Fact, Mean, Weighted
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.registry import Registry

Y = np.array([1, 1, 0, 0, 0])
DECIDED = np.array([0, 1, 1, 0, 0])
MEASURES: Registry[Any] = Registry("constraint")
for record in constraints():
    MEASURES.add(record, "test 1")


def rows(**more: Any) -> EvaluatedPipeline:
    return EvaluatedPipeline(None, np.eye(5), Y, DECIDED, 0.0, 0.0, DECIDED, **more)


def measured(text: str, seen: EvaluatedPipeline, **settings: Any) -> Any:
    return as_evidence(constraint_of(read_text(text), MEASURES, settings=settings).function(seen))


def test_a_mean_cost_has_the_ends_that_its_costs_have() -> None:
    found = measured("cost <= 2", rows(), cost="fn=5,fp=1,tp=-2")
    assert isinstance(found, Mean)
    assert (found.value, found.lowest, found.highest) == ((5 - 2 + 1) / 5, -2.0, 5.0)
    bounds = exact_bounds(found, 0.05)
    assert bounds is not None
    assert -2.0 <= bounds.lower < found.value < bounds.upper <= 5.0


def test_weights_count_as_rows_do() -> None:
    found = measured("cost <= 2", rows(weights=np.array([2.0, 1, 1, 1, 1])), cost="fn=5,fp=1")
    assert found == Weighted(11 / 6)


def test_a_bound_that_no_decisions_reach_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="cost"):
        measured("cost <= -1", rows(), cost="fn=5,fp=1")


@pytest.mark.parametrize("name", ["cost", "cost_gap[sex]", "max_cost[sex]"])
def test_a_bound_above_all_costs_is_not_taken_for_percent(name: str) -> None:
    limit = read_text(f"{name} <= 5")
    with pytest.raises(ConfigurationError, match=r"never above 1\. Write less than 1\.$"):
        constraint_of(limit, MEASURES, settings={"cost": "*->*=1"})


@pytest.mark.parametrize(
    ("text", "option"), [("cost <= 1", "--cost"), ("column_cost <= 1", "--column-cost")]
)
def test_a_limit_without_its_setting_says_what_is_lacking(text: str, option: str) -> None:
    with pytest.raises(ConfigurationError, match=f"lacks what it is measured by.*{option}"):
        measured(text, rows())


def test_only_columns_that_reach_the_model_cost_and_a_date_costs_once() -> None:
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 4)), columns=list("abcd"))
    y = (X["a"] + X["b"] > 0).to_numpy().astype(int)
    model = Pipeline([("s", SelectKBest(k=2)), ("m", LogisticRegression())]).fit(X, y)
    seen = EvaluatedPipeline(model, X, y, y, 0.0, 0.0)
    costs = {"a": 2.0, "b": 3.0, "c": 10.0}
    assert measured("column_cost <= 20", seen, column_cost=costs) == Fact(5.0)
    made = EvaluatedPipeline(model, X, y, y, 0.0, 0.0, origins={"a": "day", "b": "day"})
    assert measured("column_cost <= 20", made, column_cost={"day": 7.0}) == Fact(7.0)
