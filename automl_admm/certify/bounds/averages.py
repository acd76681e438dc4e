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
TINY = 1e-300  # where two bends are one, the sum does not grow between them
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
    """Return the rates with this mean at which the product is largest, for each λ.

    With t = 1 / ν they are n_k t − 1 / c_k, cut to [0, 1]: their sum is linear between the values
    of t at which one of them leaves 0 or arrives at 1.
    """
    start = 1.0 / growth
    bends = np.sort(np.concatenate([start / rows, (1.0 + start) / rows], axis=1), axis=1)
    sums = _cut(bends[:, :, None], rows, start[:, None, :]).sum(axis=2)
    target, lines = mean * len(rows), np.arange(len(bends))
    after = np.clip((sums < target).sum(axis=1), 1, bends.shape[1] - 1)
    low, high = sums[lines, after - 1], sums[lines, after]
    share = (target - low) / np.maximum(high - low, TINY)
    first, second = bends[lines, after - 1], bends[lines, after]
    return _cut((first + share * (second - first))[:, None], rows, start)


def _cut(slope: Array, rows: Array, start: Array) -> Array:
    return np.clip(rows * slope - start, 0.0, 1.0)
