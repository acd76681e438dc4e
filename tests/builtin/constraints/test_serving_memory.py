"""The memory of a process that serves a model, measured in a real one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression

from automl_admm.builtin.constraints import serving_memory
from automl_admm.builtin.constraints.serving_memory import serve_mb
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

X = np.arange(20.0).reshape(10, 2)
Y = np.arange(10) % 2


def served(model: Any, X: Any = X) -> Any:
    return serve_mb(EvaluatedPipeline(model, X, Y, Y, fit_seconds=0.0, predict_seconds=0.0))


def test_what_a_model_carries_is_in_the_memory_that_serves_it_and_this_process_is_not() -> None:
    heavy = DummyClassifier().fit(X, Y)
    heavy.table_ = np.ones(10_000_000)  # 80 MB, which the file has, too
    ballast = np.ones(60_000_000)
    small, large = served(DummyClassifier().fit(X, Y)).value, served(heavy).value
    assert 20 < small < ballast.nbytes / 1e6
    assert large - small > 75


def test_a_model_that_cannot_be_served_has_no_value_and_a_reason() -> None:
    found = served(LogisticRegression().fit(X[:, :1], Y))
    assert math.isnan(found.value)
    assert found.why.startswith("a process that serves it fails: ValueError: X has 2 features")


def test_a_process_that_hangs_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_memory, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(serving_memory, "SERVE", "import time; time.sleep(60)")
    found = served(DummyClassifier().fit(X, Y))
    assert math.isnan(found.value)
    assert found.why == "a process that serves it took over 0.5 s"


def test_a_process_that_is_killed_has_no_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving_memory, "SERVE", "import os; os.kill(os.getpid(), 9)")
    assert (
        served(DummyClassifier().fit(X, Y)).why
        == "a process that serves it fails: it ended with -9"
    )
