"""Cheap objectives: the papers' artificial one, functions on a box, and a table of decisions.

All are pure functions of what they are given and a seed, and survive pickling.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from automl_admm.problem import (
    Array,
    Choice,
    Condition,
    Order,
    Parameter,
    Pick,
    SearchSpace,
    Selection,
)

SMALLEST = 0.01
GRID = 10
SAMPLES = 10


@dataclass(frozen=True, slots=True)
class Counts:
    """A component by the number of its continuous and of its integer parameters."""

    name: str
    continuous: int = 0
    discrete: int = 0


@dataclass(frozen=True, slots=True)
class Stage:
    """A module: one of its components is taken."""

    name: str
    components: tuple[Counts, ...]


TABLE_A2 = (
    Stage(
        "scaler",
        (
            Counts("none"),
            Counts("normalizer"),
            Counts("quantile_transformer", 0, 2),
            Counts("min_max_scaler"),
            Counts("standard_scaler"),
            Counts("robust_scaler", 2, 2),
            Counts("binarizer"),
            Counts("k_bins_discretizer", 0, 2),
        ),
    ),
    Stage(
        "transformer",
        (
            Counts("none"),
            Counts("sparse_random_projection", 1, 1),
            Counts("gaussian_random_projection", 0, 1),
            Counts("rbf_sampler", 1, 1),
            Counts("nystroem", 2, 3),
            Counts("truncated_svd", 0, 2),
            Counts("kernel_pca", 2, 4),
            Counts("fast_ica", 0, 5),
            Counts("factor_analysis", 0, 3),
            Counts("pca", 1, 1),
            Counts("polynomial_features", 0, 3),
        ),
    ),
    Stage(
        "selector",
        (
            Counts("none"),
            Counts("select_percentile", 0, 1),
            Counts("select_fpr", 1, 0),
            Counts("select_fdr", 1, 0),
            Counts("select_fwe", 1, 0),
            Counts("variance_threshold", 1, 0),
            Counts("seventh", 1, 0),  # seven by the paper's text, six in its table
        ),
    ),
    Stage(
        "estimator",
        (
            Counts("gaussian_nb"),
            Counts("qda", 1, 0),
            Counts("gradient_boosting", 3, 6),
            Counts("k_neighbors", 0, 3),
            Counts("random_forest", 1, 5),
            Counts("extra_trees", 1, 5),
            Counts("ada_boost", 1, 2),
            Counts("decision_tree", 3, 3),
            Counts("gaussian_process", 0, 2),
            Counts("logistic_regression", 2, 3),
            Counts("mlp", 2, 5),
        ),
    ),
)


def artificial_space(structure: tuple[Stage, ...]) -> SearchSpace:
    """A choice for each module; each component's parameters are active where it is taken.

    Continuous parameters lie in [0.01, 1], integers are 1 to 10.
    """
    choices = [
        Choice(stage.name, tuple(component.name for component in stage.components))
        for stage in structure
    ]
    parameters = [
        parameter
        for stage in structure
        for component in stage.components
        for parameter in _parameters(stage.name, component)
    ]
    return SearchSpace(tuple(choices), tuple(parameters))


def _parameters(stage: str, component: Counts) -> list[Parameter]:
    when = Condition(stage, (component.name,))
    prefix = f"{stage}.{component.name}"
    real = [
        Parameter(f"{prefix}.c{i}", SMALLEST, 1.0, when=when) for i in range(component.continuous)
    ]
    whole = [
        Parameter(f"{prefix}.d{i}", 1, GRID, kind="int", when=when)
        for i in range(component.discrete)
    ]
    return [*real, *whole]


def table_a2_space() -> SearchSpace:
    """8 scalers, 11 transformers, 7 selectors and 11 estimators: 6 776 selections."""
    return artificial_space(TABLE_A2)


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """What is drawn once for a component: w, its samples of N(0, 1), its parameters' names."""

    names: tuple[str, ...]
    scales: Array
    weights: Array
    noise: Array


class ArtificialObjective:
    """The artificial black box of Ram et al. 2020, appendix B.

    f_0 = 0, and for each module i with component j taken

        v_i = | w_ijᵀ θ_ij / 1ᵀ θ_ij |,   f_i = max_{m = 1..n} | f_{i,m} |,   f_{i,m} ~ N(f_{i−1}, v_i)

    with fixed w_ij ~ N(0, 1), a fixed seed s_ij for the n = 10 samples, and v_i as the standard
    deviation. The value is f_N ≥ 0.

    Chosen here, as the paper leaves it open: θ must be positive, so a continuous parameter lies
    in [0.01, 1] and an integer k of 1 to 10 enters as k / 10; a component without parameters
    has a scale |N(0, 1)| of its own, so that taking none everywhere is not the optimum.
    """

    def __init__(self, seed: int = 0, structure: tuple[Stage, ...] = TABLE_A2) -> None:
        self.seed = seed
        self.space = artificial_space(structure)
        self._stages = tuple(
            (
                stage.name,
                {
                    component.name: _draw_weights(seed, i, j, stage.name, component)
                    for j, component in enumerate(stage.components)
                },
            )
            for i, stage in enumerate(structure)
        )

    def __call__(self, values: Mapping[str, Any]) -> float:
        """The value of a pipeline, given what `SearchSpace.values` returns."""
        total = 0.0
        for stage, components in self._stages:
            drawn = components[values[stage]]
            total = float(np.abs(total + _scale(drawn, values) * drawn.noise).max())
        return total


def _draw_weights(seed: int, i: int, j: int, stage: str, component: Counts) -> _Weights:
    rng = np.random.default_rng([seed, i, j])
    names = tuple(parameter.name for parameter in _parameters(stage, component))
    scales = np.array([1.0] * component.continuous + [1.0 / GRID] * component.discrete)
    return _Weights(names, scales, rng.normal(size=max(len(names), 1)), rng.normal(size=SAMPLES))


def _scale(drawn: _Weights, values: Mapping[str, Any]) -> float:
    """v = | wᵀθ / 1ᵀθ |, or |w| for a component without parameters."""
    if not drawn.names:
        return abs(float(drawn.weights[0]))
    theta = np.array([values[name] for name in drawn.names]) * drawn.scales
    return abs(float(drawn.weights @ theta) / float(theta.sum()))


@dataclass(frozen=True, slots=True, eq=False)
class BoxFunction:
    """A function on [0, 1]^d with a known minimum."""

    name: str
    formula: Callable[[Array], float]
    minimiser: Array
    minimum: float

    def __call__(self, point: Array) -> float:
        """The value at a point."""
        return self.formula(np.asarray(point, dtype=float))

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """An axis a dimension."""
        return tuple(Parameter(f"x{i}", 0.0, 1.0) for i in range(len(self.minimiser)))


def sphere(dimension: int = 4) -> BoxFunction:
    """Σ (x_i − 0.3)²."""
    return BoxFunction("sphere", _sphere, np.full(dimension, 0.3), 0.0)


def hartmann6() -> BoxFunction:
    """−Σ_i a_i exp(−Σ_j A_ij (x_j − P_ij)²) in six dimensions."""
    minimiser = np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])
    return BoxFunction("hartmann6", _hartmann6, minimiser, -3.32237)


def rosenbrock(dimension: int = 5) -> BoxFunction:
    """Σ 100 (y_{i+1} − y_i²)² + (1 − y_i)², a hundredth of it, y = 4.096 x − 2.048."""
    return BoxFunction("rosenbrock", _rosenbrock, np.full(dimension, 3.048 / 4.096), 0.0)


def levy(dimension: int = 5) -> BoxFunction:
    """Levy's function on [−10, 10]^d: many local minima across a bowl."""
    return BoxFunction("levy", _levy, np.full(dimension, 11.0 / 20.0), 0.0)


def hpo_bowl(dimension: int = 10) -> BoxFunction:
    """0.09 + 1 − exp(−Σ w_i (x_i − c_i)²) + a small ripple: three strong axes, the others weak."""
    return BoxFunction("hpo_bowl", _hpo_bowl, _bowl_centre(dimension), 0.09)


def _sphere(x: Array) -> float:
    return float(((x - 0.3) ** 2).sum())


_HARTMANN_HEIGHT = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_WIDTH = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN_PLACE = np.array(
    [
        [0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886],
        [0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991],
        [0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650],
        [0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381],
    ]
)


def _hartmann6(x: Array) -> float:
    inner = (_HARTMANN_WIDTH * (x - _HARTMANN_PLACE) ** 2).sum(axis=1)
    return -float(_HARTMANN_HEIGHT @ np.exp(-inner))


def _rosenbrock(x: Array) -> float:
    y = 4.096 * x - 2.048
    return float((100.0 * (y[1:] - y[:-1] ** 2) ** 2 + (1.0 - y[:-1]) ** 2).sum()) / 100.0


def _levy(x: Array) -> float:
    w = 1.0 + (20.0 * x - 11.0) / 4.0
    middle = (w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(math.pi * w[:-1] + 1.0) ** 2)
    last = (w[-1] - 1.0) ** 2 * (1.0 + math.sin(2.0 * math.pi * w[-1]) ** 2)
    return float(math.sin(math.pi * w[0]) ** 2 + middle.sum() + last)


def _bowl_centre(dimension: int) -> Array:
    return 0.15 + 0.7 * np.mod(0.618034 * np.arange(1, dimension + 1), 1.0)


def _hpo_bowl(x: Array) -> float:
    gap = x - _bowl_centre(len(x))
    weights = np.where(np.arange(len(x)) < 3, 2.0, 0.05)
    ripple = 0.005 * (1.0 - np.cos(20.0 * gap[:3])).sum()
    return float(0.09 + 1.0 - np.exp(-(weights * gap**2).sum()) + ripple)


class AdditiveTable:
    """A loss for selections: a cost for every alternative, and for every item at every place.

    loss = offset + scale · (Σ_choices cost[pick] + Σ_orders Σ_items cost[item, place]), the costs
    uniform on [0, 1]. `minimum` is exact.
    """

    def __init__(
        self, space: SearchSpace, seed: int = 0, scale: float = 1.0, offset: float = 0.0
    ) -> None:
        self.space = space
        self.scale = scale
        self.offset = offset
        rng = np.random.default_rng(seed)
        self._costs = {
            decision.name: rng.random(
                len(decision.alternatives)
                if isinstance(decision, Choice)
                else (len(decision.items), len(decision.items))
            )
            for decision in space.decisions
        }

    def __call__(self, selection: Selection) -> float:
        """The loss of a selection; decisions that are not active cost nothing."""
        return self.offset + self.scale * sum(self._cost(name, pick) for name, pick in selection)

    @cached_property
    def minimum(self) -> float:
        """The smallest loss; for spaces whose decisions are all active."""
        least = [
            min(self._cost(decision.name, pick) for pick in _picks(decision))
            for decision in self.space.decisions
        ]
        return self.offset + self.scale * sum(least)

    def _cost(self, name: str, pick: Pick) -> float:
        decision = next(decision for decision in self.space.decisions if decision.name == name)
        costs = self._costs[name]
        if isinstance(decision, Choice):
            return float(costs[decision.alternatives.index(str(pick))])
        return float(sum(costs[decision.items.index(item), k] for k, item in enumerate(pick)))


def _picks(decision: Choice | Order) -> list[Pick]:
    if isinstance(decision, Choice):
        return list(decision.alternatives)
    return list(itertools.permutations(decision.items))


def plain_table_space() -> SearchSpace:
    """Four choices of six alternatives and an order of three items: 7 776 selections."""
    choices = [Choice(f"c{i}", tuple(f"a{j}" for j in range(6))) for i in range(4)]
    return SearchSpace((*choices, Order("order", ("first", "second", "third"))))
