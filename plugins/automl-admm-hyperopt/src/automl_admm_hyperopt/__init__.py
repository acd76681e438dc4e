"""Hyperopt as a solver for automl-admm: the θ-solvers `hyperopt` and `hyperopt-anneal`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from automl_admm.plugin_api import NoOptions, ThetaSolver, ThetaSolverPlugin, hookimpl

__all__ = ["ParzenOptions", "theta_solvers"]


@dataclass(frozen=True, slots=True)
class ParzenOptions:
    """Options of `hyperopt`.

    `initial` points come before the estimators (None: a third of the budget, at least 5 and at
    most 10); what is known of the box counts. Of `candidates` drawn points the best is proposed.
    """

    initial: int | None = None
    candidates: int = 24

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.candidates < 1:
            raise ValueError("candidates must be at least 1")


def build_parzen(options: ParzenOptions) -> ThetaSolver:
    """Hyperopt's tree-structured Parzen estimators."""
    from automl_admm_hyperopt.solver import HyperoptTheta, Parzen

    return HyperoptTheta(Parzen(options.initial, options.candidates))


def build_annealing(options: NoOptions) -> ThetaSolver:
    """Hyperopt's annealing."""
    del options
    from automl_admm_hyperopt.solver import Annealing, HyperoptTheta

    return HyperoptTheta(Annealing())


@hookimpl
def theta_solvers() -> Iterator[ThetaSolverPlugin]:
    """`hyperopt` and `hyperopt-anneal`."""
    yield ThetaSolverPlugin(
        name="hyperopt",
        summary="Hyperopt's tree-structured Parzen estimators, one axis at a time",
        factory=build_parzen,
        options=ParzenOptions,
        joint="conditional",
    )
    yield ThetaSolverPlugin(
        name="hyperopt-anneal",
        summary="Hyperopt's annealing: ever smaller steps from the best points",
        factory=build_annealing,
        joint="conditional",
    )
