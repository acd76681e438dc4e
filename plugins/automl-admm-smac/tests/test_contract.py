"""`smac` and `smac-gp` keep the promises that every θ-solver keeps."""

from __future__ import annotations

from automl_admm_smac import ForestOptions, SmacOptions, build_forest, build_process

from automl_admm.plugin_api import ThetaSolver
from automl_admm.testing.contracts import ThetaSolverContract


class TestForest(ThetaSolverContract):
    view = "conditional"
    whole_budget = 32
    whole_seeds = 1
    rounds = 7
    budget = 14
    seeds = 1

    def make(self) -> ThetaSolver:
        return build_forest(ForestOptions(retrain_after=4))


class TestProcess(ThetaSolverContract):
    whole_budget = 12
    rounds = 7
    budget = 14
    seeds = 1

    def make(self) -> ThetaSolver:
        return build_process(SmacOptions(retrain_after=8))
