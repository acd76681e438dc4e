"""The built-in weigher of rows: its formula, its bounds, and the promises of all weighers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from automl_admm.builtin.components.weighers import LEAST, MOST, Reweighing, components
from automl_admm.plugins.records import ComponentPlugin
from automl_admm.testing.contracts import WeigherContract


class TestReweigh(WeigherContract):
    def make(self) -> ComponentPlugin:
        (record,) = components()
        return record


def cells(y: Any, groups: Any, weights: Any) -> dict[tuple[Any, Any], float]:
    places = list(zip(groups, y, strict=True))
    return {
        cell: float(sum(w for w, one in zip(weights, places, strict=True) if one == cell))
        for cell in set(places)
    }


def test_the_formula_of_kamiran_and_calders() -> None:
    """Of 10 rows 6 are f, of whom 3 are positive, and 4 are m, of whom 3 are."""
    groups = np.array(["f"] * 6 + ["m"] * 4)
    y = np.array([1, 1, 1, 0, 0, 0, 1, 1, 1, 0])
    found = Reweighing().weigh(y, groups, np.ones(10))
    assert found[0] == pytest.approx(0.6 * 0.6 / 0.3)
    assert found[3] == pytest.approx(0.6 * 0.4 / 0.3)
    assert found[6] == pytest.approx(0.4 * 0.6 / 0.3)
    assert found[9] == pytest.approx(0.4 * 0.4 / 0.1)


rates = st.floats(0.2, 0.8)


@given(f=rates, m=rates, share=rates, seed=st.integers(0, 99))
def test_the_class_does_not_tell_the_group_afterwards(
    f: float, m: float, share: float, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    groups = (rng.random(400) < share).astype(int)
    y = (rng.random(400) < np.where(groups == 1, f, m)).astype(int)
    given_weights = rng.uniform(0.5, 2.0, 400)
    found = cells(y, groups, Reweighing().weigh(y, groups, given_weights))
    odds = [found[group, 1] / found[group, 0] for group in (0, 1)]
    assert odds[0] == pytest.approx(odds[1])


def test_more_strength_leans_to_the_other_side() -> None:
    groups, y = np.repeat([0, 1], 50), np.r_[np.arange(50) < 10, np.arange(50) < 30].astype(int)

    def odds(strength: float) -> float:
        found = cells(y, groups, Reweighing(strength).weigh(y, groups, np.ones(100)))
        return (found[0, 1] / found[0, 0]) / (found[1, 1] / found[1, 0])

    assert odds(0.5) < 1.0 < odds(1.5) < odds(2.0)


def test_a_cell_of_one_row_is_not_all_that_is_learned() -> None:
    y = np.zeros(5000, dtype=int)
    y[:2500] = 1
    groups = np.zeros(5000, dtype=int)
    groups[0] = groups[2500:] = 1
    found = Reweighing(2.0).weigh(y, groups, np.ones(5000))
    assert found.max() == MOST
    assert found.min() >= LEAST


@pytest.mark.parametrize("same", ["y", "groups"])
def test_nothing_changes_where_there_is_nothing_to_tell_apart(same: str) -> None:
    one, two = np.zeros(40, dtype=int), np.arange(40) % 2
    y, groups = (one, two) if same == "y" else (two, one)
    weights = np.linspace(0.5, 1.5, 40)
    assert Reweighing(2.0).weigh(y, groups, weights) == pytest.approx(weights)


FAULTS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "test_every_setting_weighs_every_row": lambda y, groups, w: w[1:],
    "test_the_same_rows_weigh_the_same": lambda y, groups, w: w * np.arange(1, len(w) + 1),
    "test_rows_stay_as_they_are": lambda y, groups, w: np.multiply(w, 2.0, out=w),
    "test_heavier_rows_stay_heavier": lambda y, groups, w: np.ones(len(w)),
    "test_it_is_silent": lambda y, groups, w: [sys.stdout.write("done"), w][1],
}


@pytest.mark.parametrize("promise", FAULTS)
def test_the_contract_finds_each_fault(promise: str) -> None:
    class Faulty:
        def weigh(self, y: Any, groups: Any, weights: Any) -> Any:
            return FAULTS[promise](y, groups, weights)

    class Contract(WeigherContract):
        def make(self) -> ComponentPlugin:
            return ComponentPlugin(
                name="faulty", summary="s", role="weigher", factory=lambda values, context: Faulty()
            )

    with pytest.raises((AssertionError, ValueError)):
        getattr(Contract(), promise)()
