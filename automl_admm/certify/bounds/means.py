"""An exact bound for means of bounded values, valid for an AUROC as well.

An AUROC is an average over all pairs of a positive and a negative row; the pairs are not
independent. Hoeffding (1963, section 5): it is also the average, over all ways to pair the rows
off, of means of r = min(m, n) independent values with its expectation θ. For a convex h therefore
E h(U) ≤ E h(mean of r), and a value in [0, 1] is dominated in turn by a coin with its mean, so that
E h(r U) ≤ E h(B) with B ~ Bin(r, θ). A bound from convex h alone holds for both.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from automl_admm.core.space import Array

# Farther down the bound from t only grows.
WIDEST = 3  # times √r below the total: where the best t is looked for
STEPS = 40  # of bisection; its safe end is returned


def tail_bound(average: float, trials: int, mean: float) -> float:
    """Bound the probability of an average of `trials` values in [0, 1] as large as `average`.

    With x = r · average, B ~ Bin(r, mean) and h(b) = (b − t)₊ / (x − t), convex and at least 1
    from x on,

        P(average or more) ≤ min over t < x of  E (B − t)₊ / (x − t).

    It is the smallest over all convex h: below Hoeffding's exp(−r kl(average, mean)), with an
    exponential h, and below Bentkus' e · P(B ≥ x). The minimum lies at a whole t, because both
    parts are linear in between. Leaving some t out only makes the bound larger.
    """
    if average <= mean:
        return 1.0
    total = trials * average
    last = math.ceil(total) - 1  # t < x, or h is not defined
    first = max(0, math.floor(total - WIDEST * math.sqrt(trials)) - 10)
    cuts = np.arange(first, last + 1, dtype=float)
    return float(min(1.0, np.min(_expected_excess(cuts, trials, mean) / (total - cuts))))


def _expected_excess(cuts: Array, trials: int, mean: float) -> Array:
    """E (B − t)₊ = r p P(Bin(r − 1, p) ≥ t) − t P(Bin(r, p) ≥ t + 1) for whole t ≥ 0."""
    above = special.betainc(cuts + 1, trials - cuts, mean)
    rest = np.maximum(trials - cuts, 1)
    at_least = np.where(cuts > 0, special.betainc(np.maximum(cuts, 1), rest, mean), 1.0)
    return np.asarray(np.maximum(trials * mean * at_least - cuts * above, 0.0))


def lower_mean(average: float, trials: int, risk: float) -> float:
    """Return the exact lower bound: the smallest mean that makes `average` likely enough.

    It is the largest θ with tail_bound(average, r, θ) ≤ risk; tail_bound grows with θ. Hoeffding's
    bound, average − √(ln(1 / risk) / (2 r)), is below it: the search starts there.
    """
    outside = max(0.0, average - math.sqrt(-math.log(risk) / (2 * trials)))
    inside = average
    for _ in range(STEPS):
        middle = (outside + inside) / 2
        if tail_bound(average, trials, middle) <= risk:
            outside = middle
        else:
            inside = middle
    return outside


def upper_mean(average: float, trials: int, risk: float) -> float:
    """The exact upper bound: 1 − the lower bound of 1 − average."""
    return 1.0 - lower_mean(1.0 - average, trials, risk)
