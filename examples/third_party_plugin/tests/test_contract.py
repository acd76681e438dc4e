"""The solver keeps what a run relies on: the suite ships with automl-admm."""

from one_plus_one import Options, build_solver

from automl_admm.testing.contracts import ThetaSolverContract


class TestOnePlusOne(ThetaSolverContract):
    def make(self):
        return build_solver(Options())
