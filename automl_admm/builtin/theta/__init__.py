"""The built-in θ-solvers: `gp`, `tpe`, `ctpe`, `trust-region`, `rbf`, `admmbo` and `random`.

This module has their options and factories only; each factory imports its solver when it is needed.
Begin with `random_points`, the smallest solver, then `gaussian/gp` or `parzen/tpe`. `box` and
`sites` decide which points are the same to evaluate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from automl_admm.core.protocols import ThetaSolver
from automl_admm.plugins.records import NoOptions, ThetaSolverPlugin
from automl_admm.plugins.specs import hookimpl
from automl_admm.search.admm.settings import check_penalty


def check_trust(trust: float) -> None:
    """Raise unless the weight of priors is 0 or more."""
    if not (trust >= 0 and math.isfinite(trust)):
        raise ValueError("trust must be a number, 0 or more")


@dataclass(frozen=True, slots=True)
class GpOptions:
    """Options of `gp`.

    `initial` points are tried before the model is asked (None: 2 + d/2, at most 6); the model keeps
    at most `points` observations. `limits` chooses their model. With `probability`, the objective
    and every constraint have a model each, to give the chance that all limits hold. With `priced`,
    one model learns the priced loss, as in the papers. `trust` is β, the weight of priors: after n
    observations they count β/n, and with 0 not at all.
    """

    initial: int | None = None
    points: int = 256
    limits: str = "probability"
    trust: float = 0.0

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")

        if self.points < 8:
            raise ValueError("points must be at least 8")
        if self.limits not in ("probability", "priced"):
            raise ValueError("limits must be 'probability' or 'priced'")
        check_trust(self.trust)


@dataclass(frozen=True, slots=True)
class TpeOptions:
    """Options of `tpe`: N_init and N_s.

    N_init is by default 5 % of the budget, ten at least, but at most a quarter of it, or two.
    `trust` is the number of good points that priors count, with 0 not at all.
    """

    initial: int | None = None
    candidates: int = 24
    trust: float = 0.0

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.candidates < 1:
            raise ValueError("candidates must be at least 1")
        check_trust(self.trust)


@dataclass(frozen=True, slots=True)
class CtpeOptions(TpeOptions):
    """Options of `ctpe`: those of `tpe`, and switches for its two modifications.

    `split` names the points counted up to ⌈√N/4⌉ in the good group of the objective: `feasible`
    points or the `best` ones. `naive` is the naive extension: `best`, and plain instead of relative
    ratios.
    """

    split: str = "feasible"
    naive: bool = False

    def __post_init__(self) -> None:
        TpeOptions.__post_init__(self)
        if self.split not in ("feasible", "best"):
            raise ValueError("split must be 'feasible' or 'best'")


@dataclass(frozen=True, slots=True)
class TrustRegionOptions:
    """Options of `trust-region`: a run starts at the best of `design` points with this `radius`.

    If a quarter of the budget is less than `design`, the design has so many points.
    """

    design: int = 8
    radius: float = 0.2

    def __post_init__(self) -> None:
        if self.design < 1:
            raise ValueError("design must be at least 1")
        if not 0.0 < self.radius <= 0.5:
            raise ValueError("radius must lie above 0 and be at most 0.5")


@dataclass(frozen=True, slots=True)
class RbfOptions:
    """Options of `rbf`: points before the surrogate takes over, and candidates of each kind.

    `initial` is by default as in `tpe`.
    """

    initial: int | None = None
    candidates: int = 200

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        if self.candidates < 1:
            raise ValueError("candidates must be at least 1")


@dataclass(frozen=True, slots=True)
class AdmmboOptions:
    """Options of `admmbo`: ρ and M of the method, and its proposals for each sub-problem.

    `rho` is ρ at first, in standard deviations of the objective on the unit box; `penalty` is M.
    `optimality` and `feasibility` are the paper's α and β. `initial` is as in `gp`.
    """

    initial: int | None = None
    rho: float = 1.0
    penalty: float = 50.0
    optimality: int = 2
    feasibility: int = 2

    def __post_init__(self) -> None:
        if self.initial is not None and self.initial < 1:
            raise ValueError("initial must be at least 1")
        check_penalty("rho", self.rho)
        check_penalty("penalty", self.penalty)
        if min(self.optimality, self.feasibility) < 1:
            raise ValueError("optimality and feasibility must be at least 1")


def build_gp(options: GpOptions) -> ThetaSolver:
    """Build Bayesian optimization with a Gaussian process."""
    from automl_admm.builtin.theta.gaussian.gp import GaussianProcessTheta

    return GaussianProcessTheta(options)


def build_tpe(options: TpeOptions) -> ThetaSolver:
    """Build Parzen estimators of good and bad losses."""
    from automl_admm.builtin.theta.parzen.tpe import LossRule, ParzenTheta

    return ParzenTheta(options, LossRule())


def build_ctpe(options: CtpeOptions) -> ThetaSolver:
    """Build Parzen estimators of the objective and of each constraint."""
    from automl_admm.builtin.theta.parzen.ctpe import ConstrainedRule
    from automl_admm.builtin.theta.parzen.tpe import ParzenTheta

    by_feasible = options.split == "feasible" and not options.naive
    return ParzenTheta(
        options, ConstrainedRule(by_feasible=by_feasible, relative=not options.naive)
    )


def build_trust_region(options: TrustRegionOptions) -> ThetaSolver:
    """Build quadratic models in a trust region."""
    from automl_admm.builtin.theta.trust_region import TrustRegionTheta

    return TrustRegionTheta(options)


def build_rbf(options: RbfOptions) -> ThetaSolver:
    """Build the radial basis surrogate."""
    from automl_admm.builtin.theta.rbf import RadialBasisTheta

    return RadialBasisTheta(options)


def build_admmbo(options: AdmmboOptions) -> ThetaSolver:
    """Build Bayesian optimization with the constraints split off."""
    from automl_admm.builtin.theta.admmbo import AdmmboTheta

    return AdmmboTheta(options)


def build_random(options: NoOptions) -> ThetaSolver:
    """Build the solver of uniform points."""
    del options
    from automl_admm.builtin.theta.random_points import RandomTheta

    return RandomTheta()


@hookimpl
def theta_solvers() -> Iterator[ThetaSolverPlugin]:
    """Yield `gp`, `tpe`, `ctpe`, `trust-region`, `rbf`, `admmbo` and `random`."""
    yield ThetaSolverPlugin(
        name="gp",
        summary="Bayesian optimization with a Gaussian process and expected improvement",
        factory=build_gp,
        options=GpOptions,
    )
    yield ThetaSolverPlugin(
        name="tpe",
        summary="tree-structured Parzen estimators with a multivariate kernel",
        factory=build_tpe,
        options=TpeOptions,
        joint="conditional",
    )
    yield ThetaSolverPlugin(
        name="ctpe",
        summary="c-TPE: Parzen estimators of the objective and of every constraint",
        factory=build_ctpe,
        options=CtpeOptions,
        joint="conditional",
    )
    yield ThetaSolverPlugin(
        name="trust-region",
        summary="quadratic models in a trust region (SciPy's COBYQA), restarted",
        factory=build_trust_region,
        options=TrustRegionOptions,
    )
    yield ThetaSolverPlugin(
        name="rbf",
        summary="a radial basis surrogate (SciPy's), weighed against the distance to what is known",
        factory=build_rbf,
        options=RbfOptions,
    )
    yield ThetaSolverPlugin(
        name="admmbo",
        summary="ADMMBO: Gaussian processes of the constraints, split from the objective by ADMM",
        factory=build_admmbo,
        options=AdmmboOptions,
    )
    yield ThetaSolverPlugin(
        name="random",
        summary="uniform points, none twice",
        factory=build_random,
        joint="conditional",
        is_stand_in=True,
    )
