"""The built-in z-solvers: bandits, tree search, a genetic algorithm, halving, `bo` and others.

This module has their options and factories only; each factory imports its solver when it is needed.
Begin with `learner`, the record of losses shared by most solvers, then `cmab`, the papers' solver.
`arms` serves bandits over all decisions; `algorithms` serves solvers with one arm for each
algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from automl_admm.builtin.theta import check_trust
from automl_admm.core.protocols import ZSolver
from automl_admm.plugins.records import NoOptions, ZSolverPlugin
from automl_admm.plugins.specs import hookimpl


@dataclass(frozen=True, slots=True)
class CmabOptions:
    """Options of `cmab`: f̂ (None: measured), and α₀ = δ₀ of the Beta priors.

    `trust` is the number of pulls that the other tables count for an arm, with 0 not at all.
    """

    upper: float | None = None
    prior: float = 1.0
    trust: float = 0.0

    def __post_init__(self) -> None:
        given = (self.prior,) if self.upper is None else (self.prior, self.upper)
        if not all(number > 0 and math.isfinite(number) for number in given):
            raise ValueError("upper and prior must be numbers above 0")
        check_trust(self.trust)


@dataclass(frozen=True, slots=True)
class BoOptions:
    """Options of `bo`: `trust` is β, the weight of priors.

    After n observations they count β/n, with 0 not at all.
    """

    trust: float = 0.0

    def __post_init__(self) -> None:
        check_trust(self.trust)


@dataclass(frozen=True, slots=True)
class UcbOptions:
    """Options of `ucb`: c, the weight of uncertainty; rewards lie in [0, 1]."""

    exploration: float = 0.2

    def __post_init__(self) -> None:
        if not (self.exploration >= 0 and math.isfinite(self.exploration)):
            raise ValueError("exploration must be a number, 0 or more")


@dataclass(frozen=True, slots=True)
class SoftmaxOptions:
    """Options of `softmax`: τ, the temperature; rewards lie in [0, 1]."""

    temperature: float = 0.1

    def __post_init__(self) -> None:
        if not (self.temperature > 0 and math.isfinite(self.temperature)):
            raise ValueError("temperature must be a number above 0")


@dataclass(frozen=True, slots=True)
class MctsOptions:
    """Options of `mcts`: c of UCT, the weight of rarely visited nodes.

    `trust` is the number of tries that the other tables count for a label, with 0 not at all.
    """

    exploration: float = 0.1
    trust: float = 0.0

    def __post_init__(self) -> None:
        if not (self.exploration >= 0 and math.isfinite(self.exploration)):
            raise ValueError("exploration must be a number, 0 or more")
        check_trust(self.trust)


@dataclass(frozen=True, slots=True)
class GeneticOptions:
    """Options of `genetic`: the number of best selections used as parents."""

    population: int = 8

    def __post_init__(self) -> None:
        # A crossover needs two parents.
        if self.population < 2:
            raise ValueError("population must be at least 2")


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """Options of `policy`: the share of the elite, α, and observations between two steps."""

    elite: float = 0.2
    rate: float = 0.3
    batch: int = 8

    def __post_init__(self) -> None:
        if not (0.0 < self.elite <= 1.0 and 0.0 < self.rate <= 1.0):
            raise ValueError("elite and rate must lie above 0 and be at most 1")
        if self.batch < 1:
            raise ValueError("batch must be at least 1")


@dataclass(frozen=True, slots=True)
class BestFirstOptions:
    """Options of `best-first`: the number of random completions that judge a node."""

    completions: int = 3

    def __post_init__(self) -> None:
        if self.completions < 1:
            raise ValueError("completions must be at least 1")


@dataclass(frozen=True, slots=True)
class RisingOptions:
    """Options of `rising-bandits`: C, the number of pulls used to measure an arm's growth."""

    window: int = 7

    def __post_init__(self) -> None:
        if self.window < 1:
            raise ValueError("window must be at least 1")


def _build_cmab(options: CmabOptions) -> ZSolver:
    from automl_admm.builtin.z.cmab import CombinatorialBandit

    return CombinatorialBandit(options.upper, options.prior, options.trust)


def _build_random(options: NoOptions) -> ZSolver:
    del options
    from automl_admm.builtin.z.random_selections import UniformSelections

    return UniformSelections()


def _build_ucb(options: UcbOptions) -> ZSolver:
    from automl_admm.builtin.z.bandit import IndexBandit, upper_confidence

    return IndexBandit(upper_confidence(options.exploration))


def _build_softmax(options: SoftmaxOptions) -> ZSolver:
    from automl_admm.builtin.z.bandit import IndexBandit, boltzmann

    return IndexBandit(boltzmann(options.temperature))


def _build_mcts(options: MctsOptions) -> ZSolver:
    from automl_admm.builtin.z.mcts import TreeSearch

    return TreeSearch(options.exploration, options.trust)


def _build_genetic(options: GeneticOptions) -> ZSolver:
    from automl_admm.builtin.z.genetic import GeneticAlgorithm

    return GeneticAlgorithm(options.population)


def _build_rising(options: RisingOptions) -> ZSolver:
    from automl_admm.builtin.z.rising import RisingBandits

    return RisingBandits(options.window)


def _build_exhaustive(options: NoOptions) -> ZSolver:
    del options
    from automl_admm.builtin.z.exhaustive import ExhaustiveSelections

    return ExhaustiveSelections()


def _build_bo(options: BoOptions) -> ZSolver:
    from automl_admm.builtin.z.bo import RelaxedOptimization

    return RelaxedOptimization(options.trust)


def _build_halving(options: NoOptions) -> ZSolver:
    del options
    from automl_admm.builtin.z.halving import SuccessiveHalving

    return SuccessiveHalving()


def _build_policy(options: PolicyOptions) -> ZSolver:
    from automl_admm.builtin.z.policy import DerivationPolicy

    return DerivationPolicy(options.elite, options.rate, options.batch)


def _build_best_first(options: BestFirstOptions) -> ZSolver:
    from automl_admm.builtin.z.best_first import BestFirstSearch

    return BestFirstSearch(options.completions)


def plugin(
    name: str,
    summary: str,
    factory: Callable[[Any], ZSolver],
    options: type[Any] = NoOptions,
    *,
    is_stand_in: bool = False,
) -> ZSolverPlugin:
    """Return one row of the table of solvers."""
    return ZSolverPlugin(
        name=name, summary=summary, factory=factory, options=options, is_stand_in=is_stand_in
    )


Z_SOLVERS = (
    plugin(
        "cmab",
        "combinatorial bandit: Thompson sampling, orders by the assignment problem",
        _build_cmab,
        CmabOptions,
    ),
    plugin("random", "uniform selections", _build_random, is_stand_in=True),
    plugin("ucb", "combinatorial bandit: upper confidence bounds", _build_ucb, UcbOptions),
    plugin(
        "softmax", "combinatorial bandit: Boltzmann exploration", _build_softmax, SoftmaxOptions
    ),
    plugin(
        "mcts",
        "Monte Carlo tree search over the decisions: UCT, progressive widening",
        _build_mcts,
        MctsOptions,
    ),
    plugin(
        "genetic",
        "genetic algorithm: tournament, uniform and order crossover",
        _build_genetic,
        GeneticOptions,
    ),
    plugin(
        "policy",
        "cross-entropy method: each decision is drawn from a policy that follows the best",
        _build_policy,
        PolicyOptions,
    ),
    plugin(
        "best-first",
        "best-first search over the tree of decisions, judged by random completions (ML-Plan)",
        _build_best_first,
        BestFirstOptions,
    ),
    plugin(
        "rising-bandits",
        "arms are algorithms, dismissed when their growth cannot win any more",
        _build_rising,
        RisingOptions,
    ),
    plugin(
        "halving", "successive halving over fidelity; without it, over algorithms", _build_halving
    ),
    plugin("exhaustive", "every selection once, for spaces of at most 100 000", _build_exhaustive),
    plugin(
        "bo",
        "Bayesian optimization on the one-hot relaxation of the selections",
        _build_bo,
        BoOptions,
    ),
)


@hookimpl
def z_solvers() -> Iterable[ZSolverPlugin]:
    """Return bandits, a tree, a genetic algorithm, halving, a model, enumeration and chance."""
    return Z_SOLVERS
