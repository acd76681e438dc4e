"""Costs between several classes, and a temperature that makes probabilities fit for them.

The decision of least expected cost needs probabilities that are right, and most models are too sure
or not sure enough. One number, the temperature, mends most of that (Guo et al., 2017). It is the
one with the least log loss on out-of-fold probabilities, and trains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

# A tree that has seen no row of a class gives it a probability of 0, which no power mends.
LEAST = 1e-3
# Of powers that are equally good the one nearest to 1 counts.
POWERS = tuple(2.0 ** (step / 2) for step in sorted(range(-8, 9), key=abs))


@dataclass(frozen=True, slots=True)
class ClassCosts:
    """A row of costs for each true class, one a decision, and the temperature of probabilities."""

    table: Sequence[Sequence[float]]
    temperature: float = 1.0


def at_temperature(cost: Cost | None, temperature: float) -> ClassCosts | None:
    """Return costs with a temperature; None without costs."""
    return None if cost is None else ClassCosts(cost.table, temperature)


def tempered(probabilities: Any, temperature: float) -> Array:
    """Return max(p, 0.001) ^ (1 / T); the sum of a row does not matter to its best decision."""
    return np.asarray(np.maximum(probabilities, LEAST) ** (1.0 / temperature))


def choose_temperature(parts: Sequence[EvaluatedPipeline]) -> float:
    """Return the T of the least mean of −log(q_y), where q are the tempered probabilities."""
    y = np.concatenate([part.y for part in parts])
    logs = np.log(np.maximum(np.concatenate([part.predictions for part in parts]), LEAST))
    # Less the largest, so that no power overflows.
    logs = logs - logs.max(axis=1, keepdims=True)
    own = logs[np.arange(len(y)), y]
    known = [part.weights for part in parts]
    weights = None if known[0] is None else np.concatenate(known)

    def loss(power: float) -> float:
        rows = np.log(np.exp(power * logs).sum(axis=1)) - power * own
        return float(np.average(rows, weights=weights))

    power: float = min(POWERS, key=loss)
    return 1.0 / power
