from __future__ import annotations

import math

import numpy as np
import pytest
from automl_admm_smac.prices import at_costs, in_units, priced, told_cost
from smac.runhistory import StatusType, TrialKey, TrialValue

from automl_admm.plugin_api import Array


def trials(*losses: float) -> dict[TrialKey, TrialValue]:
    """What SMAC's history holds; NaN stands for a failure."""
    return {
        TrialKey(place): TrialValue(
            told_cost(loss, failed=math.isnan(loss)),
            status=StatusType.CRASHED if math.isnan(loss) else StatusType.SUCCESS,
        )
        for place, loss in enumerate(losses)
    }


def prices(*losses: float) -> list[float]:
    costs: Array = priced(trials(*losses))
    return costs.tolist()


def test_a_failure_costs_the_worst_and_the_range_of_all_whenever_it_was_told() -> None:
    assert prices(0.0, math.nan, 40.0, 30.0, math.nan) == [0.0, 80.0, 40.0, 30.0, 80.0]
    assert prices(-50.0, math.nan, -40.0) == [-50.0, -30.0, -40.0]


def test_after_equal_successes_a_failure_costs_a_little_more() -> None:
    assert prices(0.0, math.nan) == [0.0, pytest.approx(1e-3)]
    assert prices(-1e6, math.nan)[1] > -1e6


def test_failures_alone_cost_the_same_and_nothing_costs_nothing() -> None:
    first, second = prices(math.nan, math.nan)
    assert first == second
    assert prices() == []


def test_only_the_costs_are_changed() -> None:
    known = trials(1.0, math.nan)
    found = at_costs(known, np.array([1.0, 2.0]))
    assert list(found) == list(known)
    assert [each.status for each in found.values()] == [each.status for each in known.values()]
    assert [each.cost for each in found.values()] == [1.0, 2.0]


def test_no_success_costs_what_a_failure_does() -> None:
    """Hyperband ranks by what the history holds."""
    told = [told_cost(loss, failed=False) for loss in (-1.7e308, -1e90, 0.0, 1.7e308)]
    assert told == sorted(told)
    assert told[-1] < told_cost(math.nan, failed=True) == told_cost(-1.0, failed=True)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e100])
def test_units(scale: float) -> None:
    assert in_units(scale * np.array([-1.0, 0.0, 3.0])) == pytest.approx([0.0, 0.25, 1.0])
    assert in_units(np.array([scale, scale])).tolist() == [0.0, 0.0]
