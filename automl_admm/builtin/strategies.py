"""Built-in strategies: ADMM over two solvers, and one solver for everything."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from automl_admm.core.errors import ConfigurationError
from automl_admm.plugins.record_with_options import NoOptions
from automl_admm.plugins.specs import hookimpl
from automl_admm.plugins.strategies import Solvers, StrategyPlugin
from automl_admm.search.admm.schedule import LAST, Precision
from automl_admm.search.protocol import Search, SearchProblem


@dataclass(frozen=True, slots=True)
class AdmmOptions:
    """Options of the strategy `admm`: the penalty ρ, and n_t = min(first + step·t, last).

    `first` and `step` are 16, and less if the search has few evaluations.
    """

    rho: float = 1.0
    first: int | None = None
    step: int | None = None
    last: int = LAST

    def __post_init__(self) -> None:
        if not (self.rho > 0 and math.isfinite(self.rho)):
            raise ConfigurationError(f"rho must be a number above 0, not {self.rho:g}.")
        self.precision(None)

    def precision(self, evaluations: int | None) -> Precision:
        """Return the precision of the sub-problems for a search of so many evaluations."""
        return Precision.within(evaluations, self.first, self.step, self.last)


def search_by_admm(problem: SearchProblem, solvers: Solvers, options: AdmmOptions) -> Search:
    """Let both solvers take turns."""
    from automl_admm.search.admm.outer_loop import admm
    from automl_admm.search.admm.settings import AdmmSettings

    settings = AdmmSettings(rho=options.rho, precision=options.precision(problem.evaluations))
    return admm(problem, solvers.theta, solvers.z, settings)


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
