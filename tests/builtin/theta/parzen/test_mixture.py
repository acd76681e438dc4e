from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import truncnorm

from automl_admm.builtin.theta.active_axes import Activity
from automl_admm.builtin.theta.box import Box
from automl_admm.builtin.theta.parzen.axes import FEW, Cells
from automl_admm.builtin.theta.parzen.kernels import Kernels
from automl_admm.builtin.theta.parzen.mixture import Parzen, Split, bandwidths
from automl_admm.core.space import Condition, Parameter

REAL = Parameter("x", 0, 1)
SWITCH = Parameter("s", 0, 1, kind="int")
SMALL = Parameter("m", 1, 9, kind="int", log=True)
COUNT = Parameter("n", 1, 40, kind="int", log=True)
FIXED = Parameter("c", 3, 3, kind="int")
KIND = Parameter("k", 0, 4, kind="category", values=tuple("abcde"))
ONLY = Parameter("o", 0, 0, kind="category", values=("one",))
RNG = np.random.default_rng(0)
TREE = (
    KIND,
    Parameter("x", 0, 1, when=Condition("k", ("b", "c"))),
    Parameter("s", 0, 2, kind="category", values=tuple("rst"), when=Condition("k", ("c",))),
    Parameter("deep", 0, 3, kind="int", when=Condition("s", ("r", "t"))),
)


def places(parameter: Parameter) -> list[float]:
    whole = range(int(parameter.low), int(parameter.high) + 1)
    return [parameter.to_unit(float(number)) for number in whole]


def product(*parameters: Parameter) -> np.ndarray:
    return np.array(list(itertools.product(*map(places, parameters))))


def kernels_of(*parameters: Parameter) -> Kernels:
    return Kernels.of(Cells.of(parameters))


def density(estimator: Parzen, points: np.ndarray) -> np.ndarray:
    return np.exp(estimator.log_density(estimator.kernels.points(points)))


def test_the_density_of_a_real_axis_integrates_to_one() -> None:
    estimator = Parzen.of(np.array([[0.02], [0.4], [0.95]]), kernels_of(REAL))
    grid = np.linspace(0, 1, 20001)[:, None]
    assert np.trapezoid(density(estimator, grid), grid[:, 0]) == pytest.approx(1.0, abs=1e-3)


def test_the_density_is_that_of_truncated_normal_distributions() -> None:
    known, points = RNG.random((5, 2)), RNG.random((7, 2))
    estimator = Parzen.of(known, kernels_of(REAL, Parameter("y", 0, 1)))
    kernels = zip(estimator.centers, estimator.widths, strict=True)
    each = [
        truncnorm.pdf(points, -c / h, (1 - c) / h, loc=c, scale=h).prod(axis=1) for c, h in kernels
    ]
    assert density(estimator, points) == pytest.approx(np.mean(each, axis=0))


@pytest.mark.parametrize("parameters", [(COUNT, SWITCH, FIXED), (SMALL, KIND, ONLY), (KIND, COUNT)])
def test_the_density_of_a_mixed_grid_sums_to_one(parameters: tuple[Parameter, ...]) -> None:
    grid = product(*parameters)
    estimator = Parzen.of(grid[[3, 17, 40]], kernels_of(*parameters))
    assert density(estimator, grid).sum() == pytest.approx(1.0)


def test_a_grid_with_a_table_and_one_without_have_the_same_cells() -> None:
    """An axis of many places, its kernels computed one by one, agrees with the normal shares."""
    for parameter in (SMALL, COUNT):
        assert (len(places(parameter)) > FEW) == (parameter is COUNT)
        grid = product(parameter)
        estimator = Parzen.of(grid[[2, 7]], kernels_of(parameter))
        cells = estimator.kernels.cells
        below, above = cells.edges(grid)
        expected = np.zeros(len(grid))
        for c, h in zip(estimator.centers[:, 0], estimator.widths[:, 0], strict=True):
            ends = ((cells.bottom[0] - c) / h, (cells.top[0] - c) / h)
            share = truncnorm(*ends, loc=c, scale=h)
            expected += (share.cdf(above) - share.cdf(below))[:, 0] / len(estimator.centers)
        assert density(estimator, grid) == pytest.approx(expected)


def test_cells_tile_their_axis() -> None:
    cells = Cells.of((COUNT,))
    below, above = cells.edges(np.array(places(COUNT))[:, None])
    assert above[:-1] == pytest.approx(below[1:])
    assert (cells.bottom, cells.top) == (below[0], above[-1])


@pytest.mark.parametrize("parameters", [(SWITCH, COUNT), (KIND, SMALL), (KIND, ONLY)])
def test_samples_follow_the_density(parameters: tuple[Parameter, ...]) -> None:
    grid = product(*parameters)
    estimator = Parzen.of(grid[[4, 4, -1]], kernels_of(*parameters))
    drawn = Box.of(parameters).project(estimator.sample(np.random.default_rng(1), 40_000))
    seen = [np.isclose(drawn, place, atol=1e-9).all(axis=1).mean() for place in grid]
    assert seen == pytest.approx(density(estimator, grid), abs=0.02)


def test_a_kernel_on_a_category_stays_with_most_of_its_mass_and_knows_no_neighbours() -> None:
    estimator = Parzen.of(np.array([[0.25]]), kernels_of(KIND))
    found = density(estimator, product(KIND))
    assert found == pytest.approx((np.array([0.05, 0.8, 0.05, 0.05, 0.05]) + 0.2) / 2)


def test_a_sharp_kernel_on_a_switch_stays_with_most_of_its_mass() -> None:
    estimator = Parzen.of(np.ones((30, 1)), kernels_of(SWITCH))
    off, on = density(estimator, np.array([[0.0], [1.0]]))
    assert on > 0.8
    assert off > 0.03


def test_what_counts_follows_the_categories_above() -> None:
    points = np.array([[0.0, 0.3, 0.5, 1.0], [0.25, 0.3, 0.0, 1.0], [0.5, 0.3, 0.0, 1.0]])
    activity = Activity.of(TREE)
    assert activity.active(points).tolist() == [
        [True, False, False, False],
        [True, True, False, False],
        [True, True, True, True],
    ]
    assert not activity.active(np.array([[0.5, 0.3, 0.5, 1.0]]))[0, 3]


def test_a_condition_on_what_is_no_axis_holds() -> None:
    alone = Parameter("x", 0, 1, when=Condition("elsewhere", ("a",)))
    assert Activity.of((alone,)).active(np.zeros((1, 1))).all()


def test_the_density_of_a_conditional_space_is_one_over_all_its_pipelines() -> None:
    """Summed over the categories and integrated over x, wherever each of them counts."""
    estimator = Parzen.of(
        np.array([[0.0, 0, 0, 0], [0.25, 0.7, 0, 0], [0.5, 0.2, 0.0, 1 / 3], [0.5, 0.6, 0.5, 0]]),
        kernels_of(*TREE),
    )
    line = np.linspace(0, 1, 2001)

    def integral(kind: float, s: float, deep: float) -> float:
        points = np.column_stack([np.full_like(line, v) for v in (kind, 0, s, deep)])
        points[:, 1] = line
        return float(np.trapezoid(density(estimator, points), line))

    single = density(estimator, np.array([[place, 0.9, 0.5, 1.0] for place in (0.0, 0.75, 1.0)]))
    with_x = integral(0.25, 0.0, 0.0)
    nested = integral(0.5, 0.5, 0.0)
    deepest = sum(integral(0.5, s, d) for s in (0.0, 1.0) for d in (0, 1 / 3, 2 / 3, 1))
    assert single.sum() + with_x + nested + deepest == pytest.approx(1.0, abs=1e-4)


def test_what_does_not_count_does_not_matter() -> None:
    estimator = Parzen.of(np.array([[0.0, 0, 0, 0], [0.25, 0.7, 0, 0]]), kernels_of(*TREE))
    one, other = density(estimator, np.array([[0.0, 0.1, 0.5, 1.0], [0.0, 0.8, 0.0, 0.0]]))
    assert one == pytest.approx(other)
    assert estimator.widths[0, 1] == pytest.approx(1 / 8)


def test_bandwidths_are_scotts_within_their_bounds() -> None:
    points = RNG.random((60, 1))
    low, high = np.percentile(points, [25, 75])
    scott = 1.059 * min(points.std(ddof=1), (high - low) / 1.34) * 60**-0.2
    assert bandwidths(points, np.array([0.01])) == pytest.approx(scott)
    assert bandwidths(np.full((60, 1), 0.3), np.array([0.01])) == pytest.approx(0.01)
    assert bandwidths(np.full((2, 1), 0.3), np.array([0.01])) == pytest.approx(1 / 16)
    assert bandwidths(np.full((1, 1), 0.3), np.array([0.39])) == pytest.approx(0.39)


def test_the_relative_ratio_is_its_formula_and_vanishes_with_its_constraint() -> None:
    kernels, points = kernels_of(REAL, Parameter("y", 0, 1)), RNG.random((9, 2))
    split, described = Split.of(points[:3], points[3:], kernels), kernels.points(points)
    r = np.exp(split.log_ratio(described))
    expected = 1 / (1 / 3 + (2 / 3) / r)
    assert np.exp(split.log_relative_ratio(described)) == pytest.approx(expected)
    satisfied = Split.of(points, points[:0], kernels)
    assert not satisfied.log_relative_ratio(described).any()
    assert satisfied.log_ratio(described).any()
