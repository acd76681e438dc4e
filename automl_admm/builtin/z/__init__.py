"""Built-in z-solvers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from automl_admm.hookspecs import hookimpl
from automl_admm.plugin_types import NoOptions, ZSolverPlugin
from automl_admm.protocols import ZSolver


@dataclass(frozen=True, slots=True)
class CmabOptions:
    """Options of `cmab`: f̂ (none: measured), and α₀ = δ₀ of the Beta priors."""

    upper: float | None = None
    prior: float = 1.0

    def __post_init__(self) -> None:
        if self.prior <= 0 or (self.upper is not None and self.upper <= 0):
            raise ValueError("upper and prior must be above 0")


def build_cmab(options: CmabOptions) -> ZSolver:
    """Make the combinatorial bandit."""
    from automl_admm.builtin.z.cmab import CombinatorialBandit

    return CombinatorialBandit(upper=options.upper, prior=options.prior)


def build_random(options: NoOptions) -> ZSolver:
    """Make the random solver."""
    del options
    from automl_admm.builtin.z.uniform import UniformSelections

    return UniformSelections()


@hookimpl
def z_solvers() -> Iterable[ZSolverPlugin]:
    """`cmab` and `random`."""
    yield ZSolverPlugin(
        name="cmab",
        summary="combinatorial bandit: Thompson sampling, orders by the assignment problem",
        factory=build_cmab,
        options=CmabOptions,
    )
    yield ZSolverPlugin(name="random", summary="uniform selections", factory=build_random)
