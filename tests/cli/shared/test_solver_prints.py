from __future__ import annotations

import logging
import sys

import pytest

from automl_admm.cli.shared.solver_prints import solver_prints_logged
from automl_admm.search.guard.guard import Helper


def _say() -> None:
    sys.stdout.write("round 1\n")
    sys.stdout.write("half a ")
    sys.stdout.write("line\n")


@pytest.mark.parametrize("thread", ["solver", "observer"])
def test_prints_of_solvers_go_to_the_log_and_those_of_observers_to_the_screen(
    thread: str, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    helper = Helper(lambda: None, thread)
    with caplog.at_level(logging.INFO, logger="automl_admm"), solver_prints_logged():
        sys.stdout.write("ours\n")
        assert helper.call(_say, 60.0) == (None, None)
    helper.stop()
    sys.stdout.write("after\n")
    said = "round 1\nhalf a line\n"
    is_solver = thread == "solver"
    assert capsys.readouterr().out == f"ours\n{'' if is_solver else said}after\n"
    logged = ["a solver says: round 1", "a solver says: half a line"]
    assert [record.getMessage() for record in caplog.records] == (logged if is_solver else [])
