"""Objectives that cost nothing, with the structure of pipeline search or a known optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.space import Array, Choice, Condition, Parameter, SearchSpace

# n, the samples of each module (appendix B of Ram et al. suggests ten).
SAMPLES = 10
# Integers range from 1 to this, and continuous parameters from SMALLEST to 1.
LEVELS = 10
SMALLEST = 0.01


@dataclass(frozen=True, slots=True)
class Part:
    """An alternative of a module, with its numbers of continuous and integer parameters."""

    name: str
    continuous: int = 0
    integer: int = 0


Modules = tuple[tuple[str, tuple[Part, ...]], ...]

# Table A2 of Liu et al.: 8 × 11 × 7 × 11 = 6 776 selections. The text says seven selectors and the
# table lists six; the seventh here has one continuous parameter, as four of the six have.
TABLE_A2: Modules = (
    (
        "scaler",
        (
            Part("none"),
            Part("normalizer"),
            Part("quantile_transformer", 0, 2),
            Part("min_max_scaler"),
            Part("standard_scaler"),
            Part("robust_scaler", 2, 2),
            Part("binarizer"),
            Part("k_bins_discretizer", 0, 2),
        ),
    ),
    (
        "transformer",
        (
            Part("none"),
            Part("sparse_random_projection", 1, 1),
            Part("gaussian_random_projection", 0, 1),
            Part("rbf_sampler", 1, 1),
            Part("nystroem", 2, 3),
            Part("truncated_svd", 0, 2),
            Part("kernel_pca", 2, 4),
            Part("fast_ica", 0, 5),
            Part("factor_analysis", 0, 3),
            Part("pca", 1, 1),
            Part("polynomial_features", 0, 3),
        ),
    ),
    (
        "selector",
        (
            Part("none"),
            Part("select_percentile", 0, 1),
            Part("select_fpr", 1, 0),
            Part("select_fdr", 1, 0),
            Part("select_fwe", 1, 0),
            Part("variance_threshold", 1, 0),
            Part("seventh", 1, 0),
        ),
    ),
    (
        "estimator",
        (
            Part("gaussian_nb"),
            Part("qda", 1, 0),
            Part("gradient_boosting", 3, 6),
            Part("k_neighbors", 0, 3),
            Part("random_forest", 1, 5),
            Part("extra_trees", 1, 5),
            Part("ada_boost", 1, 2),
            Part("decision_tree", 3, 3),
            Part("gaussian_process", 0, 2),
            Part("logistic_regression", 2, 3),
            Part("mlp", 2, 5),
        ),
    ),
)


class ArtificialObjective:
    """The artificial black box of Ram et al. (2020), appendix B; `seed` draws its weights.

    With f_0 = 0, module i with alternative j draws n = 10 samples of N(f_{i−1}, v_i) by a seed of
    (i, j) and passes on f_i = max |sample|. The scale is v_i = |wᵀθ / 1ᵀθ| for fixed weights w ~
    N(0, 1). An alternative without parameters has a fixed scale |N(0, 1)| of its own, so that
    skipping everything is not the best. Continuous parameters lie in [0.01, 1]. Integers lie in 1 …
    10, and θ takes a tenth of them: all have one size, and 1ᵀθ is never 0. By the formula a single
    parameter has no influence: wθ/θ is w.
    """

    def __init__(self, seed: int, modules: Modules = TABLE_A2) -> None:
        self.space = space_of(modules)
        rng = np.random.default_rng(seed)
        self.modules = modules
        # All numbers come from one generator in a fixed order, so the seed alone decides them.
        self.weights: dict[tuple[str, str], Array] = {}
        self.scales: dict[tuple[str, str], float] = {}
        self.noise: dict[tuple[str, str], Array] = {}
        for module, parts in modules:
            for part in parts:
                place = (module, part.name)
                self.weights[place] = rng.normal(size=part.continuous + part.integer)
                self.scales[place] = abs(float(rng.normal()))
                self.noise[place] = rng.normal(size=SAMPLES)

    def __call__(self, values: Mapping[str, Any]) -> float:
        """Return f_N of a candidate's values, given by `SearchSpace.values`."""
        passed = 0.0
        for module, _ in self.modules:
            place = (module, str(values[module]))
            # N(f, v) from stored standard normal draws: the same pipeline always has the same
            # value.
            samples = passed + self._scale(place, values) * self.noise[place]
            passed = float(np.abs(samples).max())
        return passed

    def _scale(self, place: tuple[str, str], values: Mapping[str, Any]) -> float:
        weights = self.weights[place]
        if not weights.size:
            return self.scales[place]
        prefix = f"{place[0]}.{place[1]}."
        theta = [_size(name, value) for name, value in values.items() if name.startswith(prefix)]
        return abs(float(weights @ np.array(theta)) / sum(theta))


def _size(name: str, value: float) -> float:
    is_integer = name.rpartition(".")[2].startswith("d")
    return value / LEVELS if is_integer else float(value)


def space_of(modules: Modules) -> SearchSpace:
    """Return the search space of a list of modules."""
    choices, parameters = [], []
    for module, parts in modules:
        choices.append(Choice(module, tuple(part.name for part in parts)))
        for part in parts:
            when, prefix = Condition(module, (part.name,)), f"{module}.{part.name}"
            parameters += [
                Parameter(f"{prefix}.c{number}", SMALLEST, 1.0, when=when)
                for number in range(part.continuous)
            ]
            parameters += [
                Parameter(f"{prefix}.d{number}", 1, LEVELS, kind="int", when=when)
                for number in range(part.integer)
            ]
    return SearchSpace(tuple(choices), tuple(parameters))


@dataclass(frozen=True, slots=True)
class BoxFunction:
    """A function on the unit box with a known minimum."""

    name: str
    dimension: int
    minimum: float
    function: Callable[[Array], float]

    def __call__(self, point: Array) -> float:
        """Return the value at a point of [0, 1]^d."""
        return self.function(np.asarray(point, dtype=float))

    def parameters(self) -> tuple[Parameter, ...]:
        """Return the box as a solver sees it."""
        return tuple(Parameter(f"x{axis}", 0.0, 1.0) for axis in range(self.dimension))


# The constants of Hartmann's function in six dimensions; its minimum is −3.32237.
HARTMANN_A = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
HARTMANN_P = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)
HARTMANN_C = np.array([1.0, 1.2, 3.0, 3.2])


def _sphere(point: Array) -> float:
    return float(((point - 0.37) ** 2).sum())


def _hartmann(point: Array) -> float:
    return -float(HARTMANN_C @ np.exp(-(HARTMANN_A * (point - HARTMANN_P) ** 2).sum(1))) + 3.32237


def _rosenbrock(point: Array) -> float:
    # The cube [−2, 2]^d, with its minimum at x = 1; divided by 100 the values are near 1.
    x = 4.0 * point - 2.0
    return float((100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2).sum()) / 100.0


def _levy(point: Array) -> float:
    # The cube [−10, 10]^d, with its minimum at x = 1.
    w = 1.0 + (20.0 * point - 10.0 - 1.0) / 4.0
    middle = ((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(math.pi * w[:-1] + 1) ** 2)).sum()
    last = (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2)
    return float(math.sin(math.pi * w[0]) ** 2 + middle + last)


def _ackley(point: Array) -> float:
    """Return Ackley's function on a cube of width 10; its middle is not the minimum."""
    x = 10.0 * (point - 0.37)
    valley = -20.0 * math.exp(-0.2 * math.sqrt(float((x * x).mean())))
    return valley - math.exp(float(np.cos(2.0 * math.pi * x).mean())) + 20.0 + math.e


def _bowl(point: Array) -> float:
    """Return a saturating bowl of three strong and seven weak axes with a ripple: like tuning."""
    away = point - np.array([0.63] * 3 + [0.31] * (len(point) - 3))
    depth = 3.0 * (away[:3] ** 2).sum() + 0.1 * (away[3:] ** 2).sum()
    ripple = 0.01 * (1.0 - np.cos(9.0 * away)).mean()
    return float(1.0 - np.exp(-depth)) + float(ripple)


SPHERE = BoxFunction("sphere", 4, 0.0, _sphere)
HARTMANN = BoxFunction("hartmann", 6, 0.0, _hartmann)
ROSENBROCK = BoxFunction("rosenbrock", 5, 0.0, _rosenbrock)
LEVY = BoxFunction("levy", 5, 0.0, _levy)
ACKLEY = BoxFunction("ackley", 15, 0.0, _ackley)
BOWL = BoxFunction("bowl", 10, 0.0, _bowl)
