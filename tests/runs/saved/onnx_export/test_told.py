"""Predictions of a model, with which those of a session are compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

from automl_admm.core.errors import ConfigurationError
from automl_admm.runs.saved.onnx_export.file import convert
from automl_admm.runs.saved.onnx_export.told import Told

TOLD = {
    "classes": Told(np.array(["a", "b"]), np.array([[0.9, 0.1], [0.2, 0.8]])),
    "numbers": Told(np.array([1.0, 2.0]), is_of_classes=False),
}


@pytest.mark.parametrize("kind", TOLD)
def test_a_value_that_is_no_number_is_infinitely_apart(kind: str) -> None:
    told = TOLD[kind]
    values = told.predicted if told.chances is None else told.chances
    answers = [told.predicted, values]
    assert told.apart(answers) == 0.0
    wrong = np.where(values == values.max(), np.nan, values)
    answers = [wrong] if told.chances is None else [told.predicted, wrong]
    assert told.apart(answers) == told.difference(answers) == float("inf")


def test_quantities_beyond_single_precision_are_not_said_to_be_classes() -> None:
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(50, 2)) * 1e25, columns=["a", "b"])
    model = make_pipeline(PolynomialFeatures(3), LinearRegression()).fit(rows, rows["a"] / 1e25)
    with pytest.raises(ConfigurationError, match="in ONNX: some values are no numbers") as caught:
        convert(model, rows, {})
    assert "class" not in str(caught.value)
