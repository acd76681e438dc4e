from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier

from automl_admm.builtin.constraints.model_size import constraints
from automl_admm.core.errors import InvalidOutcome
from automl_admm.core.evidence import Fact
from automl_admm.core.limits import Limit
from automl_admm.pipelines.limit_values import evidence_of, value_of
from automl_admm.pipelines.predictions.wrappers import Numbered
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint

PLUGINS = {record.name: record for record in constraints()}
X = np.random.default_rng(0).normal(size=(60, 3))
LABELS = np.array(["no", "yes"])
Y = (X[:, 0] > 0).astype(int)


def seen(model: Any) -> EvaluatedPipeline:
    fitted = Pipeline([("m", model)]).fit(X, LABELS[Y])
    return EvaluatedPipeline(Numbered(fitted, LABELS), X, Y, Y, 0.0, 0.0)


def constraint(name: str) -> Constraint:
    function = PLUGINS[name].function
    assert function is not None
    return Constraint(Limit(name, 1.0), function, kind=PLUGINS[name].kind)


@pytest.mark.parametrize(("name", "value"), [("trees", 1), ("leaves", 2), ("tree_depth", 1)])
def test_a_tree_is_counted_as_a_fact(name: str, value: int) -> None:
    function = PLUGINS[name].function
    assert function is not None
    assert function(seen(DecisionTreeClassifier(max_depth=1))) == Fact(value)


def test_what_a_model_is_not_made_of_has_no_value_and_a_reason() -> None:
    linear = seen(LogisticRegression())
    for name in ("trees", "leaves", "tree_depth"):
        one = constraint(name)
        with pytest.raises(InvalidOutcome, match="LogisticRegression is not made of trees alone"):
            value_of(one, evidence_of(one, linear, ""), "")
    one = constraint("coefficients")
    assert value_of(one, evidence_of(one, linear, ""), "") == 3
    with pytest.raises(InvalidOutcome, match="DecisionTreeClassifier is not made of weighted sums"):
        value_of(one, evidence_of(one, seen(DecisionTreeClassifier()), ""), "")


def test_counts_add_up_over_an_ensemble_and_the_depth_does_not() -> None:
    assert {name for name, record in PLUGINS.items() if not record.adds_up} == {"tree_depth"}
    assert all(record.kind == "checked" for record in PLUGINS.values())
