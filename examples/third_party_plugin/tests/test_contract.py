"""The solver keeps what a run relies on: the suite ships with automl-admm."""

from one_plus_one import Options, build_solver, constraints, every_hook

from automl_admm.testing.contracts import (
    ConstraintContract,
    GrammarContract,
    MetricContract,
    ObserverContract,
    ThetaSolverContract,
)


class TestOnePlusOne(ThetaSolverContract):
    def make(self):
        return build_solver(Options())


class TestColumnsUsed(ConstraintContract):
    def make(self):
        return next(constraints())


class TestPrice(MetricContract):
    def make(self):
        return next(every_hook.metrics())


class TestFewColumns(GrammarContract):
    draws = 2

    def make(self):
        return next(every_hook.grammars())


class TestListening(ObserverContract):
    def make(self):
        return every_hook
