"""By which groups thresholds may be: those that are known of every row to be predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from automl_admm.constraints.feature_groups import FeatureGroups
from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.records import LearningTask
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import Preparation, prepare

ROWS = 200
RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RNG.normal(size=ROWS), "sex": np.resize(["f", "m"], ROWS), "age": np.arange(ROWS) % 50}
)
Y = np.resize(["no", "no", "yes"], ROWS)


def prepared(
    *limits: str, y: Any = Y, apart: Any = None, task: LearningTask | None = None
) -> Preparation:
    config = RunConfig(
        grammar="tiny",
        task=task,
        constraints=limits,
        group_thresholds=True,
        cv=2,
        max_evaluations=1,
    )
    return prepare(config, X, y, apart)


@pytest.mark.parametrize(
    ("limits", "columns"),
    [
        (("fpr_gap[sex] <= 0.1",), {"sex": ()}),
        (("auc_gap[sex] <= 0.5", "fpr <= 0.1", "fnr_ratio[age:20,40] >= 0.5"), {"age": (20, 40)}),
        (("error_gap[age:20,sex] <= 0.1", "fpr_gap[sex] <= 0.1"), {"age": (20,), "sex": ()}),
        (("fpr_gap[sex] <= 1 * baseline", "fnr_gap[age:20] <= 0.1"), {"age": (20,)}),
    ],
)
def test_they_are_of_the_first_limit_that_compares_decisions(
    limits: tuple[str, ...], columns: dict[str, Any]
) -> None:
    assert prepared(*limits).work.rule == FeatureGroups(columns)


@pytest.mark.parametrize("limit", ["fpr <= 0.1", "auc_gap[sex] <= 0.5", "size_mb <= 9"])
def test_without_such_a_limit_they_are_refused(limit: str) -> None:
    with pytest.raises(ConfigurationError, match=r"need a limit that compares .* Give one, such"):
        prepared(limit)


def test_a_column_that_no_pipeline_is_given_is_refused() -> None:
    apart = pd.DataFrame({"race": np.resize(["x", "y", "y"], ROWS)})
    with pytest.raises(ConfigurationError) as refused:
        prepared("fpr_gap[sex,race] <= 0.1", apart=apart)
    assert refused.value.exit_code == 2
    assert str(refused.value).startswith("limit 'fpr_gap[sex,race]': no threshold can be by")
    assert "'race', which is sensitive" in str(refused.value)
    assert "Make it a feature (leave it out of sensitive_features)" in str(refused.value)


def test_other_targets_than_two_classes_are_refused() -> None:
    three = np.resize(["x", "y", "z"], ROWS)
    with pytest.raises(ConfigurationError, match="two classes, and this one has 3 classes"):
        prepared("error_gap[sex] <= 0.1", y=three)
    config = RunConfig(grammar="regression", group_thresholds=True, cv=2, max_evaluations=1)
    with pytest.raises(ConfigurationError, match="two classes, and this one has a quantity"):
        prepare(config, X, RNG.normal(size=ROWS))


def test_groups_are_named_as_the_limit_names_them() -> None:
    found = prepared("fpr_gap[age:20,sex] <= 0.1")
    (constraint,) = found.constraints
    assert constraint.groups is not None
    assert found.work.rule is not None
    names = found.work.rule.names(X)
    assert (names == constraint.groups(X)).all()
    assert set(names) == {"age < 20, f", "age < 20, m", "20 <= age, f", "20 <= age, m"}
