"""Bounds for the mean of several rates that share no row, such as the macro recall of K classes.

The rates x_k / n_k are independent given the n_k, and their mean S = Σ x_k / (K n_k) has the
expectation m = Σ p_k / K. By Chernoff, for any λ > 0,

    P(S ≥ s) ≤ exp(−λ s) Π (1 + p_k c_k)^n_k,   c_k = exp(λ / (K n_k)) − 1.

The single p_k are unknown, so the largest product over all p with mean m counts. Its logarithm is
concave in p: there p_k = n_k / ν − 1 / c_k, cut to [0, 1], with the one ν that gives the mean m.
The bound holds for every λ, so that a grid of them can only make it wider.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np

from automl_admm.certify.bounds.rates import Count, lower_rate
from automl_admm.core.space import Array

# Values of λ, in shares of the rows: near 0 for many events, large where there are next to none.
GRID = np.geomspace(0.01, 40.0, 32)
LARGEST_EXPONENT = 500.0  # exp of it is still a number
STEPS = 30  # of bisection; its safe end is returned
LEVELS = 45  # of bisection of ν, whose range is wide
EXAMPLE = 0.75  # the rates at which two bounds are compared


@cache
def is_sharper(rows: tuple[float, ...], risk: float) -> bool:
    """Return True if the bound is above the mean of single ones with a share of the risk each.

    It is not where one class has few rows: then all doubt may be about these. The choice is made by
    the numbers of rows alone, at rates of 0.75, so that it takes no risk.
    """
    union = np.mean([lower_rate(EXAMPLE * one, one, risk / len(rows)) for one in rows])
    return lower_average([Count(EXAMPLE * one, one) for one in rows], risk) > float(union)


def lower_average(counts: Sequence[Count], risk: float) -> float:
    """Return the largest mean m with P(S ≥ s) ≤ risk by the bound; 0 without an event."""
    seen = float(np.mean([count.rate for count in counts]))
    rows = np.array([float(count.trials) for count in counts])
    outside, inside = 0.0, seen
    for _ in range(STEPS):
        middle = (outside + inside) / 2
        if _log_tail(seen, middle, rows) <= math.log(risk):
            outside = middle
        else:
            inside = middle
    return outside


def upper_average(counts: Sequence[Count], risk: float) -> float:
    """Return 1 − the lower bound of the mean of the complements."""
    return 1.0 - lower_average([Count(one.trials - one.events, one.trials) for one in counts], risk)


def _log_tail(seen: float, mean: float, rows: Array) -> float:
    """Return the logarithm of the smallest bound for a mean of rates as large as the one seen."""
    if mean <= 0.0:
        return -math.inf if seen > 0 else 0.0
    strength = (GRID * rows.sum())[:, None] / (len(rows) * rows)
    # The common scale makes λ s of the size of the number of rows.
    growth = np.expm1(np.minimum(strength, LARGEST_EXPONENT))
    is_usable = (strength < LARGEST_EXPONENT).all(axis=1)
    rates = _worst_rates(mean, rows, growth)
    logs = (rows * np.log1p(rates * growth)).sum(axis=1) - GRID * rows.sum() * seen
    return float(np.min(logs[is_usable], initial=0.0))


def _worst_rates(mean: float, rows: Array, growth: Array) -> Array:
    """Return the rates with this mean at which the product is largest, for each λ."""
    # p grows as ν falls: at the lower end every rate is 1, at the upper one every rate is 0.
    low = (rows * growth / (1.0 + growth)).min(axis=1)
    high = (rows * growth).max(axis=1)
    for _ in range(LEVELS):
        middle = np.sqrt(low * high)
        is_more = _rates(middle, rows, growth).mean(axis=1) > mean
        low, high = np.where(is_more, middle, low), np.where(is_more, high, middle)
    # The safe end: rates with a mean at or above the one asked make the bound wider, not wrong.
    return _rates(low, rows, growth)


def _rates(level: Array, rows: Array, growth: Array) -> Array:
    return np.clip(rows / level[:, None] - 1.0 / growth, 0.0, 1.0)
