"""`hyperopt` and `hyperopt-anneal` keep the promises that every θ-solver keeps."""

from __future__ import annotations

from automl_admm_hyperopt import ParzenOptions, build_annealing, build_parzen

from automl_admm.plugin_api import NoOptions, ThetaSolver
from automl_admm.testing.contracts import ThetaSolverContract


class TestParzen(ThetaSolverContract):
    roams = True
    view = "conditional"
    whole_seeds = 2

    def make(self) -> ThetaSolver:
        return build_parzen(ParzenOptions())


class TestAnnealing(ThetaSolverContract):
    roams = True
    view = "conditional"
    whole_seeds = 2

    def make(self) -> ThetaSolver:
        return build_annealing(NoOptions())
