"""The expected cost of decisions: what a wrong or a right one costs, and their mean over rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Array

NAME = "expected cost"
HINT = (
    'Name the cost of a false negative and of a false positive, such as "fn=5,fp=1"; tp and tn, '
    "the cost of right decisions, are 0 unless you give them."
)


@dataclass(frozen=True, slots=True)
class Cost:
    """The costs of one row, by its class and its decision; a negative one is a gain.

    >>> Cost(fn=5.0, fp=1.0).mean(np.array([1, 1, 0, 0]), np.array([0, 1, 1, 0]))
    1.5
    """

    fn: float
    fp: float
    tp: float = 0.0
    tn: float = 0.0

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest cost that a row may have."""
        costs = (self.fn, self.fp, self.tp, self.tn)
        return min(costs), max(costs)

    def of_rows(self, y: Any, decisions: Any) -> Array:
        """Return the cost of every row."""
        table = np.array([[self.tn, self.fp], [self.fn, self.tp]])
        return np.asarray(table[np.asarray(y), np.asarray(decisions)])

    def mean(self, y: Any, decisions: Any, weights: Any = None) -> float:
        """Return the mean cost of a row, by the weights of the rows if they have any."""
        return float(np.average(self.of_rows(y, decisions), weights=weights))


def read_cost(said: str) -> Cost:
    """Read costs such as "fn=5,fp=1"; raise if they make no sense."""
    found: dict[str, float] = {}
    for part in said.split(","):
        name, _, value = part.partition("=")
        key = name.strip().lower()
        if key not in ("fn", "fp", "tp", "tn") or key in found:
            reason = "twice" if key in found else "and no decision is named so"
            raise ConfigurationError(f"the cost '{said}' has '{key}' {reason}.", hint=HINT)
        found[key] = _number(value, said)
    if "fn" not in found or "fp" not in found:
        raise ConfigurationError(f"the cost '{said}' lacks fn or fp.", hint=HINT)
    cost = Cost(**found)
    # Else one class for all rows would be the cheapest decision whatever the model says.
    if cost.fn <= cost.tp or cost.fp <= cost.tn:
        raise ConfigurationError(
            f"the cost '{said}' makes a wrong decision no dearer than the right one.", hint=HINT
        )
    return cost


def _number(value: str, said: str) -> float:
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ConfigurationError(
            f"the cost '{said}' has '{value}' where a finite number is due.", hint=HINT
        )
    return found
