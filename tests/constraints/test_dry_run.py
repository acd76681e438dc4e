"""Before the search: limits that the data cannot tell of are refused, by name and with the cure."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.core.limits import Limit
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint, ConstraintPlugin
from automl_admm.runs.config import RunConfig
from automl_admm.runs.given_objects import take_objects
from automl_admm.runs.prepare.preparation import Preparation, prepare

ROWS = 120


def frame() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=ROWS), "age": rng.integers(20, 60, ROWS)})
    y = np.where(X["a"] + rng.normal(size=ROWS) > 0, "yes", "no")
    X["sex"] = rng.choice(["f", "m"], ROWS)
    return X, y


def prepared(
    *limits: str | Constraint | ConstraintPlugin, X: Any = None, y: Any = None, **more: Any
) -> Preparation:
    table, target = frame()
    config = RunConfig(grammar="tiny", constraints=limits, **more)
    return prepare(config, table if X is None else X, target if y is None else y)


@pytest.mark.parametrize(
    ("changes", "limit", "says"),
    [
        ({}, "fpr_gap[sexx] <= 0.1", "names the column 'sexx'.*Did you mean 'sex'"),
        ({"sex": "f"}, "fpr_gap[sex] <= 0.1", "all 120 rows are in the group 'f'"),
        ({"sex": np.arange(ROWS)}, "fpr_gap[sex] <= 0.1", r"120 groups.*\[age:30,40,50\]"),
        ({}, "fpr_gap[sex:3] <= 0.1", "'sex' holds no numbers that could be cut"),
        ({}, "fpr_gap[age:10,90] <= 0.1", "all 120 rows are in the group '10 <= age < 90'"),
    ],
)
def test_columns_that_are_no_groups(changes: dict[str, Any], limit: str, says: str) -> None:
    X, y = frame()
    with pytest.raises(DataError, match=says):
        prepared(limit, X=X.assign(**changes), y=y)


def test_a_limit_that_takes_groups_away_is_refused() -> None:
    """At each threshold the groups are the same ones: they are not to be used up."""

    def taking(rows: EvaluatedPipeline, groups: Any) -> float:
        _, of_group = groups.popitem()
        return float(rows.decisions[of_group].mean())

    mine = ConstraintPlugin(name="mine", summary="s", grouped=taking, kind="statistical")
    given = take_objects({"grammar": "tiny", "constraints": [mine, "mine[sex] <= 0.5"]})
    with pytest.raises(ConfigurationError, match=r"'mine\[sex\]' cannot be measured here.*popitem"):
        prepare(RunConfig(**given), *frame())


def test_a_group_without_rows_of_a_class_is_named_with_its_rows() -> None:
    X, y = frame()
    X.loc[:5, "sex"] = "x"
    y[:6] = "no"
    with pytest.raises(DataError) as caught:
        prepared("auc_gap[sex] <= 0.1", X=X, y=y)
    assert "limit 'auc_gap[sex]': group 'x' has no positive rows in fold 1 of 4" in str(
        caught.value
    )
    assert "Group 'x' has 6 of the rows to measure on: merge groups" in str(caught.value)
    prepared("fpr_gap[sex] <= 0.1", X=X, y=y)


def test_a_group_that_is_in_too_few_folds_is_refused() -> None:
    X, y = frame()
    X.loc[:2, "sex"] = "x"
    y[:3] = "no"
    with pytest.raises(DataError, match=r"group 'x' has no rows in fold \d of 5"):
        prepared("fpr_gap[sex] <= 0.1", X=X, y=y, cv=5)


def test_folds_and_held_out_rows_have_some_of_every_group() -> None:
    X, y = frame()
    X.loc[np.flatnonzero(y == "no")[:5], "sex"] = "x"
    found = prepared("fpr_gap[sex] <= 0.1", X=X, y=y, test_size=0.2)
    assert found.work.held_out is not None
    parts = [found.work.table.part(valid) for _, valid in found.work.splits]
    for part in (*parts, found.work.held_out):
        assert set(part.sensitive["sex"]) == {"f", "m", "x"}


def test_a_group_may_be_missing_values() -> None:
    X, y = frame()
    X.loc[::4, "sex"] = None
    found = prepared("fpr_gap[sex] <= 0.1", X=X, y=y)
    assert found.constraints[0].groups is not None
    assert "sex missing" in set(found.constraints[0].groups(found.work.table.sensitive))


@pytest.mark.parametrize("limit", ["fpr <= 0.1", "auc >= 0.5", "precision >= 0.5"])
def test_a_rate_of_a_positive_class_needs_two_classes(limit: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ConfigurationError, match=r"needs a target of two classes.*has 3 classes"):
        prepared(limit, X=X, y=y)
    measure, bound = limit.split(maxsplit=1)
    for written in ("{measure}{{class=1}}", "min_{measure}{{class}}", "macro_{measure}"):
        prepared(f"{written.format(measure=measure)} {bound}", X=X, y=y)
    with pytest.raises(ConfigurationError, match="is of a classification, and this is a reg"):
        prepared(limit, X=X, y=np.linspace(0, 1, len(y)), task="regression")
    prepared("accuracy >= 0.5", "recall_macro >= 0.5", X=X, y=y)


def test_a_metric_that_does_not_fit_the_target() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ConfigurationError, match="'roc_auc' cannot be measured here: ValueError: multi"
    ):
        prepared("roc_auc >= 0.5", X=X, y=y)
    numbers = np.linspace(0, 1, len(y))
    with pytest.raises(ConfigurationError, match="'accuracy' is of a classification"):
        prepared("accuracy >= 0.5", X=X, y=numbers, task="regression")
    own = Constraint(Limit("own", 1.0), lambda _: 0.0, kind="statistical", target="classes")
    with pytest.raises(ConfigurationError, match="needs classes to predict"):
        prepared(own, X=X, y=numbers, task="regression")
    prepared("r2 >= 0.5", X=X, y=numbers, task="regression")


def test_a_metric_that_has_no_value_on_a_group() -> None:
    X, _ = frame()
    X.loc[:3, "sex"] = "x"
    with pytest.raises(
        DataError, match="group 'x' has no two different true values in fold 1 of 4"
    ):
        prepared("r2_gap[sex] <= 1", X=X, y=X["a"], task="regression")


def test_a_statistical_constraint_of_ones_own_is_tried_and_its_error_told() -> None:
    def broken(evaluated: EvaluatedPipeline) -> float:
        raise KeyError("no such thing")

    own = Constraint(Limit("own", 1.0), broken, kind="statistical")
    said = r"'own' cannot be measured here: KeyError: 'no such thing'\. Choose"
    with pytest.raises(ConfigurationError, match=said):
        prepared(own)
    prepared(Constraint(Limit("own", 1.0), broken))


def test_a_constraint_does_not_decide_when_the_program_ends() -> None:
    def leaving(evaluated: EvaluatedPipeline) -> float:
        sys.exit(0)

    def interrupted(evaluated: EvaluatedPipeline) -> float:
        raise KeyboardInterrupt

    said = r"'own' cannot be measured here: ExitError: it called sys\.exit\(0\)\. Choose"
    with pytest.raises(ConfigurationError, match=said):
        prepared(Constraint(Limit("own", 1.0), leaving, kind="statistical"))
    with pytest.raises(KeyboardInterrupt):
        prepared(Constraint(Limit("own", 1.0), interrupted, kind="statistical"))
