"""A tracking server that fails or hangs costs one line, and nothing else."""

from __future__ import annotations

import logging
from threading import Event

import pytest
from automl_admm_mlflow import MlflowObserver, clerk
from automl_admm_mlflow.clerk import Clerk

from automl_admm.plugin_api import RunResult, Stop, StopReason
from automl_admm.testing.saved_runs import BEST, EVALUATIONS, sample_run


def fail() -> None:
    raise OSError("the server is away")


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_the_first_failure_is_told_and_nothing_is_tried_after_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    done: list[int] = []
    own = Clerk("run 'credit'")
    for call in (lambda: done.append(1), fail, fail, lambda: done.append(2)):
        own.do(call)
    assert own.wait(60)
    assert done == [1]
    (line,) = warnings_of(caplog)
    assert line == "run 'credit' is no longer logged in MLflow: OSError: the server is away"


def test_a_call_that_hangs_is_left_at_the_end(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clerk, "LAST_SECONDS", 0.01)
    free, own = Event(), Clerk("run 'credit'")
    own.do(lambda: free.wait(60) and None)
    assert not own.wait(0.01)
    own._leave()
    free.set()
    assert own.wait(60)
    assert warnings_of(caplog) == [
        "run 'credit' is no longer logged in MLflow: no answer for 0.01 s at the end"
    ]


def test_a_server_that_is_not_there_costs_one_line(
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR", "0")
    observer, info = MlflowObserver("http://127.0.0.1:9"), sample_run(None, ()).info
    observer.run_started(info)
    for one in EVALUATIONS:
        observer.evaluation_finished(info, one)
    result = RunResult(BEST, True, EVALUATIONS, Stop(StopReason.BUDGET), 60.0)
    observer.run_finished(info, result)
    assert observer.wait(120)
    ours = [line for line in warnings_of(caplog) if "credit" in line]
    assert len(ours) == 1
    assert "\n" not in ours[0]
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "Retry" not in printed.err
