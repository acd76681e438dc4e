"""Built-in strategies: ADMM over two solvers, and one solver for everything."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from automl_admm.plugins.record_with_options import NoOptions
from automl_admm.plugins.solver_records import Solvers, StrategyPlugin
from automl_admm.plugins.specs import hookimpl
from automl_admm.search.admm.settings import LAST, AdmmSettings, Precision, check_penalty
from automl_admm.search.protocol import Search, SearchProblem

# n_0, F and n_max of the papers.
PAPER = Precision(16, 16, 256)


@dataclass(frozen=True, slots=True)
class AdmmOptions:
    """Options of the strategy `admm`: the penalty ρ, and n_t = min(first + step·t, last).

    `first` and `step` are 16, and less if the search has few evaluations; `last` is 128. With the
    papers' `form` they are 16, 16 and 256 for any search, each sub-problem has all of its n_t
    evaluations, nothing leaves a selection but z-min, and ρ is the same in all iterations.
    """

    rho: float = 1.0
    first: int | None = None
    step: int | None = None
    last: int | None = None
    form: Literal["own", "paper"] = "own"

    def __post_init__(self) -> None:
        check_penalty("rho", self.rho)
        self.precision(None)

    def precision(self, evaluations: int | None) -> Precision:
        """Return the precision of the sub-problems for a search of so many evaluations."""
        if self.form == "paper":
            given = {"first": self.first, "step": self.step, "last": self.last}
            return replace(PAPER, **{name: n for name, n in given.items() if n is not None})
        last = LAST if self.last is None else self.last
        return Precision.within(evaluations, self.first, self.step, last)

    def settings(self, evaluations: int | None) -> AdmmSettings:
        """Return the settings of a search of so many evaluations."""
        precision = self.precision(evaluations)
        if self.form == "own":
            return AdmmSettings(self.rho, precision)
        return AdmmSettings(self.rho, precision, drought=False, excursions=False, fades=False)


def search_by_admm(problem: SearchProblem, solvers: Solvers, options: AdmmOptions) -> Search:
    """Let both solvers take turns."""
    from automl_admm.search.admm.outer_loop import admm

    return admm(problem, solvers.theta, solvers.z, options.settings(problem.evaluations))


def search_jointly(problem: SearchProblem, solvers: Solvers, options: NoOptions) -> Search:
    """Hand everything to the θ-solver."""
    del options
    from automl_admm.search.joint.joint_search import joint

    return joint(problem, solvers.theta, solvers.view)


@hookimpl
def strategies() -> Iterable[StrategyPlugin]:
    """Yield `admm` and `joint`."""
    yield StrategyPlugin(
        name="admm",
        summary="a solver for the parameters and one for the structure take turns",
        search=search_by_admm,
        options=AdmmOptions,
    )
    yield StrategyPlugin(
        name="joint",
        summary="the θ-solver searches the whole space alone",
        search=search_jointly,
    )
