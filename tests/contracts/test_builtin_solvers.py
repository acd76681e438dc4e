"""The solvers that ship keep the promises that every solver keeps."""

from __future__ import annotations

import re
from pathlib import Path

from installed import PLUGINS

from automl_admm.core.protocols import ThetaSolver, ZSolver
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.contracts import ThetaSolverContract, ZSolverContract

OURS = "automl-admm "


def theta_solver(request: str) -> ThetaSolver:
    return build_solver(PLUGINS.theta_solvers, request)


def z_solver(request: str) -> ZSolver:
    return build_solver(PLUGINS.z_solvers, request)


class TestGp(ThetaSolverContract):
    roams = True
    whole_seeds = 3

    def make(self) -> ThetaSolver:
        return theta_solver("gp")


class TestRandomTheta(ThetaSolverContract):
    view = "conditional"
    learns = False

    def make(self) -> ThetaSolver:
        return theta_solver("random")


class TestCmab(ZSolverContract):
    def make(self) -> ZSolver:
        return z_solver("cmab")


class TestCmabOfThePaper(ZSolverContract):
    def make(self) -> ZSolver:
        return z_solver("cmab:upper=1.5,prior=1")


class TestRandomZ(ZSolverContract):
    learns = False

    def make(self) -> ZSolver:
        return z_solver("random")


def test_every_builtin_solver_is_held_to_its_contract() -> None:
    texts = [path.read_text() for path in Path(__file__).parent.glob("test_*.py")]
    registries = (PLUGINS.theta_solvers, PLUGINS.z_solvers)
    ours = [r for names in registries for r in names if names.provider(r.name).startswith(OURS)]
    assert len(ours) >= 15
    for record in ours:
        assert any(re.search(rf'"{record.name}[:"]', text) for text in texts), record.name
