"""DeLong's variance of an AUROC, and approximate bounds from it."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from automl_admm.core.evidence import Ranking
from automl_admm.core.space import Array

FEWEST_ROWS = 30  # of either class: with fewer the normal approximation misses too often


def delong_variance(ranking: Ranking) -> float:
    """DeLong's variance of an AUROC.

    With the share v_i of negatives below positive i and w_j of positives above negative j, ties
    counted as a half, the AUROC is A = mean(v) = mean(w) and

        var A = var(v) / m + var(w) / n,

    with sample variances. The shares follow from sorting, in O(N log N).
    """
    below = shares_below(ranking.positives, ranking.negatives)
    # With ties as halves, the share above is one minus the share below.
    above = 1 - shares_below(ranking.negatives, ranking.positives)
    return float(np.var(below, ddof=1) / len(below) + np.var(above, ddof=1) / len(above))


def shares_below(scores: Array, others: Array) -> Array:
    """Return, for every score, the share of the others below it; a tie counts as a half."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, scores, side="left")
    at_most = np.searchsorted(ordered, scores, side="right")
    return np.asarray((below + at_most) / (2 * len(ordered)))


def delong_bounds(ranking: Ranking, risk: float) -> tuple[float, float] | None:
    """Return a lower and an upper bound, each missed with a probability of about `risk`.

    Normal on the logit scale, more accurate than the plain one for A near 1:

        logit A ± z √(var A) / (A (1 − A)).

    None for few rows of a class, and for a ranking without a mistake: its variance of 0 would
    give a bound of no width.
    """
    value = ranking.value
    if min(len(ranking.positives), len(ranking.negatives)) < FEWEST_ROWS or not 0 < value < 1:
        return None
    # By the delta method: the derivative of logit A is 1 / (A (1 − A)).
    spread = math.sqrt(delong_variance(ranking)) / (value * (1 - value))
    reach = float(special.ndtri(1 - risk)) * spread
    middle = float(special.logit(value))
    return float(special.expit(middle - reach)), float(special.expit(middle + reach))
