"""The expected cost of decisions: what each decision on a row costs, and the mean over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.space import Array

NAME = "expected cost"


@dataclass(frozen=True, slots=True)
class Cost:
    """The table of costs c(i, k) of a row of class i that is decided as k; below 0 it is a gain.

    >>> Cost(((0.0, 1.0), (5.0, 0.0))).mean(np.array([1, 1, 0, 0]), np.array([0, 1, 1, 0]))
    1.5
    """

    table: tuple[tuple[float, ...], ...]

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest cost that a row may have."""
        return float(np.min(self.table)), float(np.max(self.table))

    def of_rows(self, y: Any, decisions: Any) -> Array:
        """Return the cost of every row."""
        return np.asarray(np.array(self.table)[np.asarray(y), np.asarray(decisions)])

    def mean(self, y: Any, decisions: Any, weights: Any = None) -> float:
        """Return (1/n) Σ c(y_i, ŷ_i), by the weights of the rows if they have any."""
        return float(np.average(self.of_rows(y, decisions), weights=weights))
