"""The price of a failure, settled anew whenever SMAC fits its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from smac.constants import VERY_SMALL_NUMBER
from smac.runhistory import StatusType, TrialKey, TrialValue
from smac.runhistory.encoder.encoder import RunHistoryEncoder
from smac.runhistory.encoder.log_scaled_encoder import RunHistoryLogScaledEncoder

from automl_admm.plugin_api import Array, price_of_failure

# SMAC subtracts the least from the most, which overflows where losses are near the largest number.
MOST = 1e100
# What SMAC's history holds for a failure: Hyperband ranks by that, so it is above every loss.
LOST = 1e101

Trials = Mapping[TrialKey, TrialValue]


class PlainEncoder(RunHistoryEncoder):
    """SMAC's own for the Gaussian process, with failures at their price."""

    def _build_matrix(self, trials: Trials, store_statistics: Any = False) -> Any:  # noqa: FBT002
        return super()._build_matrix(at_costs(trials, priced(trials)), store_statistics)


class LogEncoder(RunHistoryLogScaledEncoder):
    """SMAC's own for the forest, with failures at their price.

    Before it takes the logarithm SMAC adds 1e-10. Costs far above that are told in units of their
    range.
    """

    def _build_matrix(self, trials: Trials, store_statistics: Any = False) -> Any:  # noqa: FBT002
        costs = priced(trials)
        if np.spacing(np.abs(costs).max(initial=0.0)) > VERY_SMALL_NUMBER:
            costs = in_units(costs)
        return super()._build_matrix(at_costs(trials, costs), store_statistics)


def told_cost(loss: float, *, failed: bool) -> float:
    """Return the cost for SMAC's history."""
    return LOST if failed else min(max(loss, -MOST), MOST)


def at_costs(trials: Trials, costs: Array) -> dict[TrialKey, TrialValue]:
    """The same trials at other costs."""
    pairs = zip(trials.items(), costs.tolist(), strict=True)
    return {key: replace(trial, cost=cost) for (key, trial), cost in pairs}


def priced(trials: Trials) -> Array:
    """Return the costs of the trials of one fidelity; failures have the price of a failure.

    A price that was told once would soon be too low: after a single good success a failure seems
    nearly as good, and with worse ones it would be the second best for ever.
    """
    costs = np.array([trial.cost for trial in trials.values()], dtype=float)
    failed = np.array([trial.status == StatusType.CRASHED for trial in trials.values()], dtype=bool)
    costs[failed] = price_of_failure(costs[~failed].tolist())
    return costs


def in_units(costs: Array) -> Array:
    """The costs with the least at 0 and the most at 1."""
    if not costs.size or costs.max() == costs.min():
        return np.zeros(len(costs))
    units: Array = (costs - costs.min()) / (costs.max() - costs.min())
    return units
