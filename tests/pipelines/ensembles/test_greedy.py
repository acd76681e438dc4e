from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import (
    MOST_MEMBERS,
    PATIENCE,
    ROUNDS,
    Purse,
    blend,
    select,
)

TARGET = np.array([1.0, 2.0, 3.0, 4.0])


def squared(target: Array = TARGET) -> Callable[[Array], Array]:
    return lambda predictions: np.mean((predictions - target) ** 2, axis=1)


def test_members_whose_errors_cancel_are_taken_together() -> None:
    errors = np.array([1.0, -1.0, 1.0, -1.0])
    counts = select(np.stack([TARGET + errors, TARGET - errors, TARGET + 9.0]), squared())
    assert counts.tolist() == [1, 1, 0]
    assert blend(np.stack([TARGET + errors, TARGET - errors, TARGET]), counts) == pytest.approx(
        TARGET
    )


def test_a_member_that_is_taken_again_gains_weight() -> None:
    """2/3 · 1 + 1/3 · (−2) = 0: weights of one each would miss it by a half."""
    counts = select(np.stack([TARGET + 1.0, TARGET - 2.0]), squared())
    assert counts.tolist() == [2, 1]


def test_a_member_that_is_right_stays_alone() -> None:
    assert select(np.stack([TARGET + 0.5, TARGET, TARGET - 0.4]), squared()).tolist() == [0, 1, 0]


def test_of_equal_members_the_first_is_taken() -> None:
    assert select(np.stack([TARGET + 1.0] * 3), squared()).tolist() == [1, 0, 0]


def test_the_first_of_equally_good_ensembles_is_kept_and_the_rounds_are_few() -> None:
    asked: list[int] = []

    def losses(predictions: Array) -> Array:
        asked.append(1)
        return squared()(predictions)

    assert select(np.stack([TARGET, TARGET + 1.0]), losses).tolist() == [1, 0]
    assert len(asked) == 1 + PATIENCE


def test_the_selection_ends() -> None:
    """Every round is better than the one before: the mean comes nearer to an irrational share."""
    off = np.sqrt(2.0) / 2
    counts = select(np.stack([TARGET + off, TARGET + off - 1.0]), squared())
    assert counts.sum() <= ROUNDS


def test_only_affordable_members_are_taken() -> None:
    both = np.stack([TARGET + 1.0, TARGET - 1.0])
    costs = np.array([[4.0, 1.0], [4.0, 1.0]])
    assert select(both, squared(), Purse(costs, np.array([8.0, 2.0]))).tolist() == [1, 1]
    assert select(both, squared(), Purse(costs, np.array([7.9, 2.0]))).tolist() == [1, 0]
    assert select(both, squared(), Purse(costs, np.array([8.0, 0.5]))).tolist() == [0, 0]


def test_a_member_is_paid_for_once() -> None:
    both, costs = np.stack([TARGET + 1.0, TARGET - 2.0]), np.array([[4.0], [4.0]])
    assert select(both, squared(), Purse(costs, np.array([8.0]))).tolist() == [2, 1]


def test_predictions_without_a_value_are_never_taken() -> None:
    def losses(predictions: Array) -> Array:
        return np.full(len(predictions), np.inf)

    assert not select(np.stack([TARGET, TARGET]), losses).any()


def test_an_ensemble_has_few_members() -> None:
    rng = np.random.default_rng(0)
    counts = select(TARGET + rng.normal(size=(60, 4)) @ np.diag([3.0, 3.0, 3.0, 3.0]), squared())
    many = select(rng.normal(size=(60, 500)), squared(np.zeros(500)))
    assert 1 < (counts > 0).sum() <= MOST_MEMBERS
    assert (many > 0).sum() == MOST_MEMBERS


def test_probabilities_are_averaged_class_by_class() -> None:
    sure = np.array([[[0.9, 0.1], [0.2, 0.8]], [[0.5, 0.5], [0.4, 0.6]]])
    assert blend(sure, np.array([3, 1])) == pytest.approx(np.array([[0.8, 0.2], [0.25, 0.75]]))
