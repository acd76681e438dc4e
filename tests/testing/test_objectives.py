from __future__ import annotations

import math

import numpy as np
import pytest

from automl_admm.core.space import Choice
from automl_admm.testing.objectives import (
    BOWL,
    HARTMANN,
    LEVY,
    ROSENBROCK,
    SPHERE,
    TABLE_A2,
    ArtificialObjective,
    BoxFunction,
    _size,
)

OBJECTIVE = ArtificialObjective(0)


def values(seed: int) -> dict:
    rng = np.random.default_rng(seed)
    space = OBJECTIVE.space
    candidate = space.candidate(space.sample(rng), rng.random(len(space.parameters)))
    return space.values(candidate)


def test_it_has_the_structure_of_table_a2() -> None:
    counts = [len(d.alternatives) for d in OBJECTIVE.space.decisions if isinstance(d, Choice)]
    assert counts == [8, 11, 7, 11]
    assert math.prod(counts) == 6776
    by_name = {
        part.name: (part.continuous, part.integer) for _, parts in TABLE_A2 for part in parts
    }
    assert by_name["gradient_boosting"] == (3, 6)
    assert by_name["kernel_pca"] == (2, 4)
    assert by_name["fast_ica"] == (0, 5)


def test_the_same_pipeline_has_the_same_value_and_another_seed_another() -> None:
    assert OBJECTIVE(values(1)) == ArtificialObjective(0)(values(1))
    assert OBJECTIVE(values(1)) != ArtificialObjective(1)(values(1))


def test_only_what_is_active_matters_and_small_changes_matter_little() -> None:
    one = next(v for v in map(values, range(99)) if v["estimator"] == "gradient_boosting")
    name = "estimator.gradient_boosting.c0"
    near = one | {name: one[name] + 1e-6}
    assert OBJECTIVE(near) != OBJECTIVE(one)
    assert OBJECTIVE(near) == pytest.approx(OBJECTIVE(one), abs=1e-3)
    assert OBJECTIVE(one | {"scaler.none.c0": 3.0}) == OBJECTIVE(one)


def test_integers_enter_at_a_tenth_and_real_numbers_as_they_are() -> None:
    names = ("estimator.decision_tree.c0", "estimator.decision_tree.d0")
    assert [_size(name, 5) for name in names] == [5.0, 0.5]


def test_skipping_everything_is_not_the_best() -> None:
    skipped = dict.fromkeys(("scaler", "transformer", "selector"), "none")
    plain = OBJECTIVE(skipped | {"estimator": "gaussian_nb"})
    assert plain > min(OBJECTIVE(values(seed)) for seed in range(200))


@pytest.mark.parametrize(
    ("function", "place"),
    [
        (SPHERE, 0.37),
        (ROSENBROCK, 0.75),
        (LEVY, 0.55),
        (BOWL, [0.63] * 3 + [0.31] * 7),
        (HARTMANN, [0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573]),
    ],
)
def test_minima_are_where_they_should_be(function: BoxFunction, place: object) -> None:
    assert function(np.full(function.dimension, place)) == pytest.approx(0.0, abs=1e-4)


@pytest.mark.parametrize("function", [SPHERE, ROSENBROCK, LEVY, HARTMANN, BOWL])
def test_nothing_lies_below_the_minimum(function: BoxFunction) -> None:
    points = np.random.default_rng(0).random((500, function.dimension))
    assert min(function(point) for point in points) > 0.0
    assert len(function.parameters()) == function.dimension
