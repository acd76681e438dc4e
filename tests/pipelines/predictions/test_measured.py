"""Scores of a fitted pipeline on rows that it has not seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from automl_admm.core.errors import DataError, PluginError
from automl_admm.data.row_roles import Roles
from automl_admm.pipelines.metrics import resolve_metric
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Remembered
from automl_admm.plugins.registry import Registry

CLASSES = np.array(["a", "b", "c"])
X = np.zeros((6, 1))
MODEL = DummyClassifier(strategy="stratified", random_state=0).fit(X, np.tile(CLASSES, 2))


@pytest.mark.parametrize(
    ("name", "truth", "lacks"),
    [
        ("average_precision", [0, 2, 0, 2, 2, 0], "6 rows without class 'b'"),
        ("average_precision", [1] * 6, "6 rows without the classes 'a' and 'c'"),
        ("roc_auc_ovo_weighted", [1] * 6, "6 rows without the classes 'a' and 'c'"),
    ],
)
def test_a_metric_that_fails_names_the_classes_that_rows_lack(
    name: str, truth: list[int], lacks: str
) -> None:
    metric = resolve_metric(name, "classification", 3, Registry("metric")).knowing(CLASSES)
    with pytest.raises(DataError, match=f"^metric '{name}' has no score on {lacks}: "):
        score_of(metric, MODEL, Table(X, np.array(truth), CLASSES))


def test_a_class_whose_rows_have_no_weight_is_lacking() -> None:
    metric = resolve_metric("roc_auc_ovo_weighted", "classification", 3, Registry("metric"))
    weights = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    rows = Table(X, np.array([0, 1, 2, 0, 1, 2]), CLASSES, roles=Roles(weights=weights))
    with pytest.raises(DataError, match="4 rows without class 'c'"):
        score_of(metric.knowing(CLASSES), MODEL, rows)


def test_an_error_of_the_package_stays_what_it_is() -> None:
    def refuse(*_: object) -> float:
        raise PluginError("the own metric failed.")

    metric = replace(
        resolve_metric("roc_auc_ovo", "classification", 3, Registry("metric")).knowing(CLASSES),
        scorer=refuse,
    )
    with pytest.raises(PluginError, match=r"^the own metric failed\.$"):
        score_of(metric, MODEL, Table(X, np.array([0, 2, 0, 2, 2, 0]), CLASSES))


def test_an_error_of_the_pipeline_is_not_told_as_one_of_the_metric() -> None:
    class Refusing(DummyClassifier):
        def predict_proba(self, X: object) -> object:
            raise ValueError("the pipeline cannot.")

    model = Refusing(strategy="prior").fit(X, np.tile(CLASSES, 2))
    metric = resolve_metric("roc_auc_ovo", "classification", 3, Registry("metric")).knowing(CLASSES)
    rows = Table(X, np.array([0, 2, 0, 2, 2, 0]), CLASSES)
    for pipeline in (model, Remembered(model)):
        with pytest.raises(ValueError, match=r"^the pipeline cannot\.$"):
            score_of(metric, pipeline, rows)


def test_a_metric_that_fails_on_rows_of_all_classes_says_it_in_its_own_words() -> None:
    metric = resolve_metric("roc_auc", "classification", 3, Registry("metric"))
    with pytest.raises(ValueError, match="multi_class must be in") as raised:
        score_of(metric, MODEL, Table(X, np.array([0, 1, 2, 0, 1, 2]), CLASSES))
    assert not isinstance(raised.value, DataError)
