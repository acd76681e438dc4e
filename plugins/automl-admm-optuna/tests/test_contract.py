"""`optuna` and `optuna-gp` keep the promises that every θ-solver keeps."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from automl_admm_optuna import ParzenOptions, ProcessOptions, build_parzen, build_process

from automl_admm.plugin_api import ThetaSolver
from automl_admm.testing.contracts import ThetaSolverContract


class TestParzen(ThetaSolverContract):
    roams = True
    view = "conditional"
    whole_seeds = 2

    def make(self) -> ThetaSolver:
        return build_parzen(ParzenOptions())


@pytest.mark.skipif(find_spec("torch") is None, reason="optuna-gp needs torch")
class TestProcess(ThetaSolverContract):
    whole_budget = 12
    rounds = 4
    budget = 12
    seeds = 3

    def make(self) -> ThetaSolver:
        return build_process(ProcessOptions(initial=2))
