"""R², the share of the variance of a truth that predictions explain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from automl_admm.core.space import Array

# A sum of a few numbers is so far from the same sum in another order, relative to its size.
ROUNDING = 4 * float(np.finfo(float).eps)
FIRST_INEXACT = 2**53  # from here on a float may be two whole numbers


def explained_variance(squares: Array, truth: Array, weights: Array | None = None) -> float:
    """Return 1 − mean(e²) / Var(y) of squares e² of errors; NaN without a variance.

    >>> explained_variance(np.array([0.25, 0.25]), np.array([0.0, 2.0]))
    0.75
    """
    spread = variance(truth, weights)
    if math.isnan(spread):
        return math.nan
    return 1.0 - float(np.average(squares, weights=weights)) / spread


def variance(truth: Array, weights: Array | None = None) -> float:
    """Return Var(y), by the weights of the rows; NaN for a constant truth and beyond all numbers.

    >>> variance(np.full(70, 0.1))
    nan
    """
    if is_constant(truth if weights is None else truth[weights > 0]):
        return math.nan
    truth = _near_zero(np.asarray(truth))
    with np.errstate(over="ignore", invalid="ignore"):  # of huge numbers there is no variance
        squares = (truth - np.average(truth, weights=weights)) ** 2
        spread = float(np.average(squares, weights=weights))
    return spread if 0 < spread < math.inf else math.nan


def _near_zero(truth: Array) -> Array:
    """Return whole numbers beyond what floats hold as differences from the lowest; others stay."""
    if truth.dtype.kind not in "iu" or max(-int(truth.min()), int(truth.max())) < FIRST_INEXACT:
        return truth
    # Differences of 64 bits wrap around to the right ones without a sign.
    found: Array = (truth - truth.min()).astype(np.uint64).astype(float)
    return found


def is_constant(values: Any) -> bool:
    """Return True for values that differ by rounding alone, as the floats 0.3 and 0.1 + 0.2 do.

    Their variance does not tell: that of many times 0.1 is 1.9e-34, as their mean is rounded. Whole
    numbers and truth values are never rounded.
    """
    if not len(values):
        return True
    lowest, highest = np.min(values), np.max(values)
    is_rounded = any(isinstance(one, float | np.floating) for one in (lowest, highest))
    if lowest == highest or not is_rounded:
        return bool(lowest == highest)
    least, most = float(lowest), float(highest)
    # Beside an infinite one any difference is within a tolerance.
    return math.isfinite(least + most) and most - least <= ROUNDING * max(abs(least), abs(most))
