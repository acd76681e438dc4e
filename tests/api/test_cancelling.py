"""A fit that is ended early, by an event or a function."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone

from automl_admm import AutoMLClassifier, Evaluation, read_run
from automl_admm.core.errors import ConfigurationError, NoSuccessError

SETTINGS: dict[str, Any] = {"executor": "inline", "cv": 2, "max_evaluations": 50}


class Setter:
    """Sets an event after the first evaluation."""

    def __init__(self, event: threading.Event) -> None:
        self.event = event

    def evaluation_finished(self, evaluation: Evaluation) -> None:
        self.event.set()


def table() -> tuple[pd.DataFrame, Any]:
    X = pd.DataFrame({"a": np.random.default_rng(0).normal(size=60)})
    return X, (X["a"] > 0).to_numpy()


@pytest.mark.parametrize("is_event", [True, False])
def test_a_fit_ends_with_the_best_so_far(is_event: bool, tmp_path: Path) -> None:
    event = threading.Event()
    cancel = event if is_event else event.is_set
    search = AutoMLClassifier(
        "tiny", cancel=cancel, callbacks=[Setter(event)], work_dir=tmp_path / "run", **SETTINGS
    )
    X, y = table()
    assert search.fit(X, y).predict(X).shape == (60,)
    assert (search.stopped_by_, search.n_evaluations_) == ("cancelled", 1)
    assert read_run(tmp_path / "run").content["result"]["stopped_by"] == "cancelled"
    again = pickle.loads(pickle.dumps(search.set_params(callbacks=())))
    assert again.cancel is None
    assert (again.predict(X) == search.predict(X)).all()


def test_a_fit_cancelled_before_anything_is_not_advised_to_take_longer() -> None:
    search = AutoMLClassifier("tiny", cancel=lambda: True, cv=2, time_budget=30)
    with pytest.raises(NoSuccessError, match=r"the search \(cancelled\) ended before") as told:
        search.fit(*table())
    assert "constant" in str(told.value)
    assert told.value.hint is not None
    assert str(told.value.hint).startswith("Let the next search go on")


def test_clones_share_the_event() -> None:
    event = threading.Event()
    with config_context(enable_metadata_routing=True):
        search = AutoMLClassifier("tiny", cancel=event).set_fit_request(sensitive_features=True)
        found = clone(search)
    assert found.cancel is event
    assert found.get_params() == search.get_params()
    assert found.get_metadata_routing().fit.requests["sensitive_features"] is True


def test_a_function_that_fails_is_told_once_and_asked_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    answers = iter([OSError("no network"), OSError("no network"), True])

    def ask() -> bool:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    search = AutoMLClassifier("tiny", cancel=ask, **SETTINGS).fit(*table())
    assert search.stopped_by_ == "cancelled"
    told = [one.getMessage() for one in caplog.records if "`cancel`" in one.getMessage()]
    assert told == [
        "`cancel` failed and will be asked again (this is told once): OSError: no network"
    ]


@pytest.mark.parametrize("cancel", [3, "now", threading.Event])
def test_what_cannot_be_asked_is_refused(cancel: Any) -> None:
    with pytest.raises(ConfigurationError, match="cancel must be an event or a function"):
        AutoMLClassifier("tiny", cancel=cancel).fit(*table())
