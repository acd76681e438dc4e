"""The strategies that ship keep the promises of every strategy."""

from __future__ import annotations

from automl_admm.builtin.strategies import AdmmOptions, search_by_admm, search_jointly
from automl_admm.plugins.records import NoOptions, Solvers
from automl_admm.search.protocol import Search, SearchProblem
from automl_admm.testing.contracts import StrategyContract


class TestAdmm(StrategyContract):
    def search(self, problem: SearchProblem, solvers: Solvers) -> Search:
        return search_by_admm(problem, solvers, AdmmOptions())


class TestJoint(StrategyContract):
    def search(self, problem: SearchProblem, solvers: Solvers) -> Search:
        return search_jointly(problem, solvers, NoOptions())
