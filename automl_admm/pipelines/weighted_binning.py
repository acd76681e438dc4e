"""Boosting on histograms with weights of rows: find the limits of its bins in little time.

scikit-learn 1.9 asks for the 254 weighted percentiles of a column one by one, and sorts the column
for each of them. On 375 rows and 35 columns that takes longer than a hundred trees. Weights also
come from `class_weight="balanced"`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.execution.shared_state import SharedSetting

BINNING = "sklearn.ensemble._hist_gradient_boosting.binning"
FUNCTION = "_weighted_percentile"
_SETTING = SharedSetting()


def quick_binning() -> AbstractContextManager[None]:
    """Sort a column only once for all of its weighted percentiles, within a block.

    The percentiles are the same to the last bit, so it does not matter who else fits meanwhile.
    """
    return _SETTING.within(_replaced)


@contextmanager
def _replaced() -> Iterator[None]:
    # Nothing else imports it: without it there is no boosting on histograms in the pipeline.
    module: Any = sys.modules.get(BINNING)
    original = getattr(module, FUNCTION, None)
    if original is None:
        yield
        return
    setattr(module, FUNCTION, Percentiles(original))
    try:
        yield
    finally:
        setattr(module, FUNCTION, original)


class Percentiles:
    """scikit-learn's function of weighted percentiles, which remembers the sorted column.

    What it was not made for is left to the `original`.
    """

    def __init__(self, original: Callable[..., Any]) -> None:
        self._original = original
        # Threads take a column each.
        self._last = threading.local()

    def __call__(self, array: Any, sample_weight: Any, *ranks: Any, **more: Any) -> Any:
        """Return the percentile of a rank."""
        if more == {"average": True} and len(ranks) == 1 and np.ndim(ranks[0]) == 0:
            column = self._column(array, sample_weight)
            if column is not None and ranks[0] > 0:
                return column.percentile(float(ranks[0]))
        return self._original(array, sample_weight, *ranks, **more)

    def _column(self, array: Any, weights: Any) -> _Column | None:
        """Return the sorted column; None if it is no plain one."""
        known = getattr(self._last, "known", None)
        if known is None or known[0] is not array or known[1] is not weights:
            column = _sorted(array, weights) if _is_plain(array, weights) else None
            known = self._last.known = array, weights, column
        found: _Column | None = known[2]
        return found


@dataclass(frozen=True, slots=True)
class _Column:
    """The sorted values of a column, and the weight of all up to each of them."""

    values: Array
    reached: Array

    def percentile(self, rank: float) -> float:
        """Return the value at which the weight reaches its share.

        If it does so exactly, return the mean of this value and the next one.
        """
        wanted, last = rank / 100 * self.reached[-1], len(self.values) - 1
        place = min(int(np.searchsorted(self.reached, wanted)), last)
        value: float = self.values[place]
        if self.reached[place] - wanted > np.finfo(np.float64).eps:
            return value
        after: float = self.values[min(place + 1, last)]
        return (value + after) / 2


def _sorted(array: Array, weights: Array) -> _Column:
    order = np.argsort(array)
    return _Column(array[order], np.cumsum(weights[order]))


def _is_plain(array: Any, weights: Any) -> bool:
    """Return True for one column of numbers without gaps, and a weight for each of them."""
    if not (isinstance(array, np.ndarray) and isinstance(weights, np.ndarray)):
        return False
    if array.dtype != np.float64 or weights.dtype != np.float64 or array.ndim != 1:
        return False
    has_all = array.shape == weights.shape and len(array) > 0
    return bool(has_all and not np.isnan(array).any() and (weights > 0).all())
