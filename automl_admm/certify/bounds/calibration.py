"""Exact bounds for an expected calibration error, by a supermartingale that no signs can change.

With the excess z = p − y of a row and fixed bins b the error is E = Σ_b |E z 1_b|, the largest mean
of s_b z over all signs s. For |x| ≤ 1 and λ in [0, 1) Fan's inequality gives, with
ψ(λ) = −log(1 − λ) − λ,

    E exp(λ (x − E x) − ψ(λ) x²) ≤ 1.

The squares of s_b z hang on no sign, and neither do the λ_t, chosen before row t is seen. So one
choice of λ is valid for all signs, and the largest bound of them is that of the signs seen:

    E ≤ (Σ_b |Σ_{t in b} λ_t z_t| + ln(1 / risk) + Σ_t ψ(λ_t) z_t²) / Σ_t λ_t.

For the lower bound the sign of a row is that of the rows before it in its bin. A fifth of the rows
only sets the edges of the bins, so that these are fixed for the others.
"""

from __future__ import annotations

import math

import numpy as np

from automl_admm.core.equal_bins import BINS, bins_of, edges_of
from automl_admm.core.evidence import Calibration
from automl_admm.core.space import Array

FOR_EDGES = 5  # one row of so many
LARGEST_STAKE = 0.5
# Rows of a table may be sorted. A fixed order, or a certificate could not be computed again.
ORDER_SEED = 20240103


def calibration_bounds(evidence: Calibration, risk: float) -> tuple[float, float] | None:
    """Return a lower and an upper bound; None for probabilities or a truth outside of 0 to 1."""
    rows = len(evidence.truth)
    for values in (evidence.probabilities, evidence.truth):
        if not (np.min(values) >= 0.0 and np.max(values) <= 1.0):
            return None
    order = np.random.default_rng(ORDER_SEED).permutation(rows)
    probabilities, truth = evidence.probabilities[order], evidence.truth[order]
    kept = rows // FOR_EDGES
    edges = edges_of(probabilities[:kept]) if kept else np.zeros(0)
    excess = probabilities[kept:] - truth[kept:]
    stakes = _stakes(excess, risk)
    bins = bins_of(probabilities[kept:], edges)
    price = -math.log(risk) - float(np.sum((np.log1p(-stakes) + stakes) * excess**2))
    staked, total = stakes * excess, float(np.sum(stakes))
    most = float(np.abs(np.bincount(bins, weights=staked)).sum())
    least = float(np.sum(_earlier_signs(excess, bins) * staked))
    # The value has bins of its own, and may be farther off: no limit is proven that it breaks.
    value = evidence.value
    lower, upper = max((least - price) / total, 0.0), min((most + price) / total, 1.0)
    return min(lower, value), max(upper, value)


def _stakes(excess: Array, risk: float) -> Array:
    """Return λ_t = √(2 ln(1 / risk) / (n v)), with v the mean square of the rows before t."""
    # As if a square of ¼ had come first.
    before = np.concatenate([[0.0], np.cumsum(excess**2)[:-1]])
    squares = (0.25 + before) / np.arange(1, len(excess) + 1)
    return np.asarray(
        np.minimum(np.sqrt(-2 * math.log(risk) / (len(excess) * squares)), LARGEST_STAKE)
    )


def _earlier_signs(excess: Array, bins: Array) -> Array:
    """Return the sign of the sum of the earlier rows in the bin of each row; 0 for the first."""
    signs = np.zeros(len(excess))
    for number in range(BINS):
        inside = bins == number
        signs[inside] = np.sign(np.cumsum(excess[inside]) - excess[inside])
    return signs
