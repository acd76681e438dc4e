"""Whole runs with a solver of somebody else: what it does is no part of the result."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from automl_admm import AutoMLClassifier

Install = Callable[[str], None]
SOLVER = """
import os
from automl_admm import ThetaSolverPlugin, hookimpl
from automl_admm.builtin.theta.random_points import RandomTheta


class Foreign(RandomTheta):
    def __init__(self):
        print("made")
        super().__init__()

    def ask(self, count, pending):
        print("asked")
        os.chdir("elsewhere")
        self.ask = super().ask
        return super().ask(count, pending)


@hookimpl
def theta_solvers():
    yield ThetaSolverPlugin(name="foreign", summary="s", factory=lambda options: Foreign())
"""


@pytest.fixture
def arguments(install: Install, table: Path, tmp_path: Path) -> tuple[Any, ...]:
    """A short run with a solver that prints, and goes to another folder."""
    (tmp_path / "elsewhere").mkdir()
    install(SOLVER)
    solver = ("--theta-solver", "foreign", "--strategy", "joint")
    return (
        *("fit", table, "--target", "buys", "--grammar", "tiny", *solver),
        *("--cv=2", "--max-evaluations", "4", "--out", "out"),
    )


def test_what_a_solver_prints_is_in_the_log_alone(
    run: Any, arguments: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="automl_admm.cli.shared.solver_prints"):
        ended = run(*arguments, "--json", "--executor", "inline")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["stopped_by"] == "evaluations"
    assert {"a solver says: made", "a solver says: asked"} <= set(caplog.messages)
    assert not {"made", "asked"} & set(ended.err.split())


@pytest.mark.parametrize("executor", ["inline", "local"])
def test_a_solver_that_goes_elsewhere_takes_no_run_along(
    run: Any, arguments: Any, executor: str, tmp_path: Path
) -> None:
    ended = run(*arguments, "-q", "--executor", executor)
    assert ended.code == 0, ended.err
    assert "saved in       out\n" in ended.out
    assert Path.cwd() == tmp_path / "elsewhere"
    assert not list(Path.cwd().iterdir())
    assert {"model.skops", "model.json", "predictions"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }


def test_from_python_too(
    install: Install, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    install(SOLVER)
    few: dict[str, Any] = {"cv": 2, "max_evaluations": 3, "executor": "inline"}
    model = AutoMLClassifier(
        "tiny", **few, theta_solver="foreign", strategy="joint", work_dir="out"
    )
    frame = pd.read_csv(table)
    model.fit(frame.drop(columns="buys"), frame["buys"])
    assert (tmp_path / "out" / "model.skops").exists()
