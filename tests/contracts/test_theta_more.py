"""`tpe`, `ctpe`, `trust-region`, `rbf` and `admmbo` keep the promises that every θ-solver keeps."""

from __future__ import annotations

from installed import PLUGINS

from automl_admm.core.protocols import ThetaSolver
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.contracts import ThetaSolverContract


def theta_solver(request: str) -> ThetaSolver:
    return build_solver(PLUGINS.theta_solvers, request)


class TestTpe(ThetaSolverContract):
    roams = True
    view = "conditional"

    def make(self) -> ThetaSolver:
        return theta_solver("tpe")


class TestCtpe(ThetaSolverContract):
    roams = True
    view = "conditional"

    def make(self) -> ThetaSolver:
        return theta_solver("ctpe")


class TestCtpeNaive(ThetaSolverContract):
    roams = True
    view = "conditional"

    def make(self) -> ThetaSolver:
        return theta_solver("ctpe:naive=true")


class TestTrustRegion(ThetaSolverContract):
    roams = True
    whole_budget = 40
    whole_seeds = 2

    def make(self) -> ThetaSolver:
        return theta_solver("trust-region")


class TestRbf(ThetaSolverContract):
    roams = True
    whole_seeds = 2

    def make(self) -> ThetaSolver:
        return theta_solver("rbf")


class TestAdmmbo(ThetaSolverContract):
    roams = True
    whole_seeds = 2

    def make(self) -> ThetaSolver:
        return theta_solver("admmbo")
