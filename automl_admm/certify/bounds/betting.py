"""Exact bounds for means of bounded values by betting (Waudby-Smith and Ramdas 2024).

If the values have a mean of at most m, nobody grows rich by betting on larger ones: with stakes
λ_t ≥ 0, fixed before the value x_t is seen and at most 1 / m, the capital

    K_t(m) = ∏_{s ≤ t} (1 + λ_s (x_s − m)),   x ≥ 0

is a supermartingale from 1, so that P(max_t K_t(m) ≥ 1 / risk) ≤ risk (Ville 1939). The lower
bound is the smallest m that was not refuted. The values need no upper end for that; the upper bound
is the mirror of the lower one, and needs one. The stakes learn the variance, so that errors that
are mostly far below their largest possible value cost few rows.
"""

from __future__ import annotations

import math

import numpy as np

from automl_admm.core.space import Array

STEPS = 40  # of bisection; its safe end is returned
MOST_STAKED = 0.75  # of the capital, so that no single value takes all of it
# Above it neighbours are averaged, which keeps ends and mean and costs next to nothing.
MOST_VALUES = 20_000
# Rows of a table may be sorted. A fixed order, or a certificate could not be computed again.
ORDER_SEED = 20240101


def lower_mean(values: Array, risk: float) -> float:
    """Return the exact lower bound for the mean of values in [0, 1]."""
    ordered = _in_order(values)
    counts = np.arange(1, len(ordered) + 1)
    # As if a value of ½ with a variance of ¼ had come first.
    means = (0.5 + np.cumsum(ordered)) / (counts + 1)
    spreads = (0.25 + np.cumsum((ordered - means) ** 2)) / (counts + 1)
    return _least_mean(ordered, np.concatenate([[0.25], spreads[:-1]]), risk)


def upper_mean(values: Array, risk: float) -> float:
    """Return the exact upper bound: 1 − the lower bound of 1 − values."""
    return 1.0 - lower_mean(1.0 - values, risk)


def lower_mean_without_end(values: Array, risk: float) -> float:
    """Return the exact lower bound for the mean of values that are never negative.

    Nothing is staked on the first two values: without a largest value they have no usual spread.
    """
    unit = float(np.max(values, initial=0.0))
    if len(values) < 3 or unit <= 0:
        return 0.0
    ordered = _in_order(values / unit)  # squares of large values would overflow
    counts = np.arange(1, len(ordered) + 1)
    means = np.cumsum(ordered) / counts
    spreads = np.cumsum((ordered - means) ** 2) / counts
    return unit * _least_mean(ordered, np.concatenate([[math.inf] * 2, spreads[1:-1]]), risk)


def _in_order(values: Array) -> Array:
    """Return the values in a fixed random order; of very many the means of neighbours."""
    mixed = np.asarray(values, dtype=float)
    mixed = mixed[np.random.default_rng(ORDER_SEED).permutation(len(mixed))]
    if len(mixed) <= MOST_VALUES:
        return mixed
    return np.array([np.mean(part) for part in np.array_split(mixed, MOST_VALUES)])


def _least_mean(values: Array, spreads: Array, risk: float) -> float:
    """Return the largest m known to be refuted: every factor of K(m) falls in m, as K does.

    `spreads` are the variances expected before each value: the best stake on a small difference
    over n values is √(2 ln(1 / risk) / (n variance)).
    """
    needed = -math.log(risk)
    with np.errstate(divide="ignore"):
        stakes = np.sqrt(2 * needed / (len(values) * spreads))
    refuted, open_end = 0.0, float(np.mean(values))
    for _ in range(STEPS):
        middle = (refuted + open_end) / 2
        if middle <= 0:
            break
        staked = np.minimum(stakes, MOST_STAKED / middle)
        capital = np.cumsum(np.log1p(staked * (values - middle)))
        if np.max(capital) >= needed:
            refuted = middle
        else:
            open_end = middle
    return refuted
