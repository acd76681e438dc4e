"""Bounds for what is measured on errors of predictions: roots of mean squares, R² and quantiles."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from automl_admm.certify.bounds.betting import lower_mean, lower_mean_without_end, upper_mean
from automl_admm.certify.bounds.skewed_means import skewed_bounds
from automl_admm.core.evidence import Explained, Quantile, RootMeanSquare
from automl_admm.core.explained_variance import variance
from automl_admm.core.space import Array

Ends = tuple[float, float]
PAIRS_SEED = 20240102  # fixed, or a certificate could not be computed again


def bounded_mean(values: Array, lowest: float, highest: float, risk: float) -> Ends:
    """Return the exact bounds for a mean of values from `lowest` to `highest`, both finite."""
    width = highest - lowest
    shares = (values - lowest) / width
    return lowest + lower_mean(shares, risk) * width, lowest + upper_mean(shares, risk) * width


def root_bounds(evidence: RootMeanSquare, risk: float) -> Ends | None:
    """Return the exact bounds: the roots of those of the mean square; None without a largest."""
    if not math.isfinite(evidence.largest_square):
        return None
    lower, upper = bounded_mean(evidence.squares, 0.0, evidence.largest_square, risk)
    return math.sqrt(max(lower, 0.0)), math.sqrt(upper)


def approximate_root_bounds(evidence: RootMeanSquare, risk: float) -> Ends | None:
    """Return Hall's bounds of the mean square, as roots."""
    found = skewed_bounds(evidence.squares, risk)
    return None if found is None else (math.sqrt(max(found[0], 0.0)), math.sqrt(found[1]))


def explained_bounds(evidence: Explained, risk: float) -> Ends | None:
    """Return a lower bound for R² = 1 − E e² / Var(y); above, nothing is known but R² ≤ 1.

    E e² is bounded from above and Var(y) from below, each at half of the risk.
    Var(y) = E ½ (y − y′)² for two independent rows, and half as many independent values as rows are
    known for it. They are never negative, and need no upper end.
    """
    if not math.isfinite(evidence.largest_square):
        return None
    most = bounded_mean(evidence.squares, 0.0, evidence.largest_square, risk / 2)[1]
    least = lower_mean_without_end(_half_squares(evidence.truth), risk / 2)
    return (1.0 - most / least if least > 0 else -math.inf), 1.0


def _half_squares(truth: Array) -> Array:
    """Return ½ (y − y′)² of the rows, paired off in a fixed random order."""
    mixed = np.random.default_rng(PAIRS_SEED).permutation(np.asarray(truth, dtype=float))
    half = len(mixed) // 2
    return np.asarray((mixed[:half] - mixed[half : 2 * half]) ** 2 / 2)


def approximate_explained_bounds(evidence: Explained, risk: float) -> Ends | None:
    """Return Hall's bounds for R² by its influence function.

    A row moves R² by ((1 − R²) (y − ȳ)² − e²) / (n Var(y)). None for a constant truth.
    """
    squares = (evidence.truth - np.mean(evidence.truth)) ** 2
    moved = ((1.0 - evidence.value) * squares - evidence.squares) / variance(evidence.truth)
    found = skewed_bounds(evidence.value + moved, risk)
    return None if found is None else (found[0], min(found[1], 1.0))


def quantile_bounds(evidence: Quantile, risk: float) -> Ends:
    """Return order statistics that bound the q-quantile Q of independent values x_(1) ≤ … ≤ x_(n).

    x_(k) < Q only if k values or more are below Q, each with probability at most q: the upper
    bound is the first x_(k) with P(Bin(n, q) ≥ k) ≤ risk, infinite if there is none. The lower one
    is the last x_(k) with P(Bin(n, q) ≤ k − 1) ≤ risk. "Q ≤ L" is thereby the exact binomial test
    on the number of values above L.
    """
    ordered = np.sort(evidence.values)
    ranks = np.arange(1, len(ordered) + 1)
    reach = special.betainc(ranks, len(ordered) - ranks + 1, evidence.quantile)
    above, below = ordered[reach <= risk], ordered[1 - reach <= risk]
    upper = float(above[0]) if len(above) else math.inf
    return (float(below[-1]) if len(below) else evidence.lowest), upper
