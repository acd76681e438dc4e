"""The built-in θ-solvers: `gp` and `random`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from automl_admm.hookspecs import hookimpl
from automl_admm.plugin_types import NoOptions, ThetaSolverPlugin
from automl_admm.protocols import ThetaSolver


@dataclass(frozen=True, slots=True)
class GpOptions:
    """Options of `gp`.

    `initial` points are tried before the model is asked (None: 2 + d/2, at most 6); the model
    keeps at most `points` observations.
    """

    initial: int | None = None
    points: int = 256

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.points < 8:
            raise ValueError("points must be at least 8")


def build_gp(options: GpOptions) -> ThetaSolver:
    """Bayesian optimization with a Gaussian process."""
    from automl_admm.builtin.theta.gp import GaussianProcessTheta

    return GaussianProcessTheta(options)


def build_random(options: NoOptions) -> ThetaSolver:
    """Uniform points."""
    del options
    from automl_admm.builtin.theta.uniform import RandomTheta

    return RandomTheta()


@hookimpl
def theta_solvers() -> Iterator[ThetaSolverPlugin]:
    """`gp` and `random`."""
    yield ThetaSolverPlugin(
        name="gp",
        summary="Bayesian optimization with a Gaussian process and expected improvement",
        factory=build_gp,
        options=GpOptions,
    )
    yield ThetaSolverPlugin(
        name="random", summary="uniform points, none twice", factory=build_random
    )
