"""Built-in θ-solvers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from automl_admm.hookspecs import hookimpl
from automl_admm.plugin_types import NoOptions, ThetaSolverPlugin
from automl_admm.protocols import ThetaSolver


@dataclass(frozen=True, slots=True)
class GpOptions:
    """Options of `gp`: the points of the first design, and the candidates of a proposal."""

    design: int = 5
    candidates: int = 512

    def __post_init__(self) -> None:
        if self.design < 1 or self.candidates < 1:
            raise ValueError("design and candidates must be at least 1")


def build_gp(options: GpOptions) -> ThetaSolver:
    """Make the Gaussian process solver."""
    from automl_admm.builtin.theta.gp import GpSolver

    return GpSolver(design=options.design, candidates=options.candidates)


def build_random(options: NoOptions) -> ThetaSolver:
    """Make the random solver."""
    del options
    from automl_admm.builtin.theta.uniform import UniformSolver

    return UniformSolver()


@hookimpl
def theta_solvers() -> Iterable[ThetaSolverPlugin]:
    """`gp` and `random`."""
    yield ThetaSolverPlugin(
        name="gp",
        summary="Bayesian optimisation: Matérn 5/2 ARD Gaussian process, log-EI, warm-started",
        factory=build_gp,
        options=GpOptions,
    )
    yield ThetaSolverPlugin(name="random", summary="uniform points", factory=build_random)
