"""Whole runs with a solver of somebody else: what it does is no part of the result."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Install = Callable[[str], None]
SOLVER = """
from automl_admm import ThetaSolverPlugin, hookimpl
from automl_admm.builtin.theta.uniform import RandomTheta


class Foreign(RandomTheta):
    def __init__(self):
        print("made")
        super().__init__()

    def ask(self, count, pending):
        print("asked")
        return super().ask(count, pending)


@hookimpl
def theta_solvers():
    yield ThetaSolverPlugin(name="foreign", summary="s", factory=lambda options: Foreign())
"""


@pytest.fixture
def arguments(install: Install, table: Path) -> tuple[Any, ...]:
    """A short run with a solver that prints."""
    install(SOLVER)
    solver = ("--theta-solver", "foreign", "--strategy", "joint")
    return (
        *("fit", table, "--target", "buys", "--grammar", "tiny", *solver),
        *("--max-evaluations", "4", "--out", "out"),
    )


def test_what_a_solver_prints_is_not_in_the_json(run: Any, arguments: Any) -> None:
    ended = run(*arguments, "--json", "--executor", "inline")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["stopped_by"] == "evaluations"
    assert {"made", "asked"} <= set(ended.err.split())
