"""Confidence intervals for display and planning, not for certificates."""

from __future__ import annotations

from itertools import permutations

from automl_admm.certify.bounds.bounds import (
    Bounds,
    approximate_bounds,
    composed_bounds,
    counts_of,
    exact_bounds,
)
from automl_admm.certify.bounds.rates import Count, upper_difference
from automl_admm.core.evidence import Average, Evidence, Gap, Largest, Smallest


def interval(evidence: Evidence, confidence: float, shown: int = 1) -> Bounds | None:
    """Return an interval with this confidence, or None without a method for the evidence.

    The number `shown` side by side share the risk, so that all of them hold at once. Approximate
    ones say so: Miettinen and Nurminen's for gaps of rates, DeLong's for rankings.
    """
    risk = (1 - confidence) / shown / 2  # two sides
    return approximate_bounds(evidence, risk) or quick_bounds(evidence, risk)


def quick_bounds(evidence: Evidence, risk: float) -> Bounds | None:
    """The exact bounds, but for gaps of rates Miettinen and Nurminen's.

    These are about as wide as the exact ones of `upper_difference_exact`, which take up to a
    second, and good enough to see how wide those will be.
    """
    counts = counts_of(evidence.groups.values()) if isinstance(evidence, Gap) else []
    if len(counts) > 1:
        return _gap_of_rates(counts, risk)
    # Parts of an extreme value may be gaps; those of a ratio or a gap have quick exact bounds.
    if isinstance(evidence, Largest | Smallest | Average):
        return composed_bounds(evidence, risk, quick_bounds)
    return exact_bounds(evidence, risk)


def _gap_of_rates(counts: list[Count], risk: float) -> Bounds:
    """The largest bound of a pair; for the lower one the ordered pairs share the risk."""
    pairs = list(permutations(counts, 2))
    upper = max(upper_difference(*pair, risk) for pair in pairs)
    lower = max(-upper_difference(*pair[::-1], risk / len(pairs)) for pair in pairs)
    return Bounds(max(lower, 0.0), max(upper, 0.0), "Miettinen-Nurminen", is_approximate=True)
