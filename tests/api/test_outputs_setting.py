"""What scikit-learn's transformers are set to return changes nothing."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from automl_admm import AutoMLClassifier, load

RNG = np.random.default_rng(0)
X = pd.DataFrame({"a": RNG.normal(size=120), "b": RNG.choice(list("uvw"), 120)})
Y = (X["a"] + (X["b"] == "u") > 0.3).astype(int)


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_frames_as_outputs_give_the_same_model_without_a_warning(
    executor: str, tmp_path: Path
) -> None:
    settings = {"max_evaluations": 3, "random_state": 0, "executor": executor, "cv": 2}
    plain = settings | {"executor": "inline"}  # which finds the same
    expected = AutoMLClassifier("tiny", **plain).fit(X, Y).predict_proba(X)
    with config_context(transform_output="pandas"), warnings.catch_warnings():
        warnings.simplefilter("error")
        search = AutoMLClassifier("tiny", work_dir=tmp_path / "run", **settings).fit(X, Y)
        for model in (search, load(tmp_path / "run")):
            np.testing.assert_array_equal(model.predict_proba(X), expected)
            assert model.predict(X).shape == (120,)
    np.testing.assert_array_equal(search.predict_proba(X), expected)
