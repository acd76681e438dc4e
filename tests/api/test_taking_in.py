"""Warnings of `fit` stand at the line of the user that called it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from automl_admm import AutoMLClassifier


def test_every_warning_names_the_line_that_calls_fit() -> None:
    noise = np.random.default_rng(0).normal(size=(60, 2))
    X = pd.DataFrame(noise, columns=["a", "a"])
    X["told"] = X.iloc[:, 0] > 0
    search = AutoMLClassifier("tiny", executor="inline", cv=2, max_evaluations=1)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        search.fit(X, X["told"].to_numpy())
    texts = [str(one.message) for one in heard]
    assert any("'a'" in text for text in texts), texts
    assert any("told" in text for text in texts), texts
    assert {one.filename for one in heard} == {__file__}
