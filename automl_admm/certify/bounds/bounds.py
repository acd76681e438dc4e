"""One-sided bounds for every kind of evidence: exact ones, and approximate ones for some.

The two groups of K with the largest true gap are unknown. To claim "the gap is at most the bound",
bound all ordered pairs (i, j) at the *full* risk and take the largest: the claim is false only if
the bound of the truly farthest pair missed, with probability `risk` (an intersection-union
argument; no correction for the number of pairs). To claim "the gap is at least the bound", the pair
was chosen after looking, so all 2 K bounds must hold at once and share the risk. A ratio, and the
largest or smallest of several parts, are treated alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, TypeAlias

import numpy as np

from automl_admm.certify.bounds import errors, means, rates
from automl_admm.certify.bounds.averages import is_sharper, lower_average, upper_average
from automl_admm.certify.bounds.calibration import calibration_bounds
from automl_admm.certify.bounds.differences import largest_difference
from automl_admm.certify.bounds.rankings import delong_bounds
from automl_admm.certify.bounds.rates import Count
from automl_admm.certify.bounds.skewed_means import skewed_bounds
from automl_admm.core.evidence import (
    F1,
    Average,
    Calibration,
    Evidence,
    Explained,
    Fact,
    Gap,
    Largest,
    Mean,
    Quantile,
    RankCorrelation,
    Ranking,
    Rate,
    Ratio,
    RootMeanSquare,
    Smallest,
    Timing,
)


@dataclass(frozen=True, slots=True)
class Bounds:
    """A lower and an upper bound, each missed with at most the risk, and their method."""

    lower: float
    upper: float
    method: str
    is_approximate: bool = False


BETTING, HALL = "betting", "Hall's for skewed means, as no largest value is stated"
BoundsOf: TypeAlias = Callable[[Evidence, float], Bounds | None]


def exact_bounds(evidence: Evidence, risk: float) -> Bounds | None:
    """Return bounds valid for any number of rows, or None without an exact test or a value."""
    if math.isnan(evidence.value):
        return None
    simple = _SIMPLE.get(type(evidence))
    return simple(evidence, risk) if simple else composed_bounds(evidence, risk, exact_bounds)


def approximate_bounds(evidence: Evidence, risk: float) -> Bounds | None:
    """Return approximate bounds for rankings, R², unbounded values and their compositions.

    DeLong's are for rankings, Hall's for the others. For a rate or a mean with known ends the exact
    bounds are tight enough to be the only ones: there and for all else it is None.
    """
    if math.isnan(evidence.value):
        return None
    if isinstance(evidence, Ranking):
        return _delong(evidence, risk)
    if isinstance(evidence, Mean | RootMeanSquare | Explained):
        return _skewed(evidence, risk)
    if isinstance(evidence, Gap):
        return _mover(evidence.groups, risk)
    if isinstance(evidence, Largest | Smallest | Ratio | Average):
        # Parts without an approximate bound lend their exact one; if all do, the exact bounds say
        # it.
        found = composed_bounds(evidence, risk, _tighter)
        return found if found is not None and found.is_approximate else None
    return None


def _tighter(evidence: Evidence, risk: float) -> Bounds | None:
    """Return the approximate bounds if there are any, else the exact ones."""
    return approximate_bounds(evidence, risk) or exact_bounds(evidence, risk)


def _fact(evidence: Fact, risk: float) -> Bounds:  # noqa: ARG001 (all have one signature)
    return Bounds(evidence.value, evidence.value, "a fact")


def _rate(evidence: Rate, risk: float) -> Bounds | None:
    if not 0 <= evidence.events <= evidence.trials:
        return None
    lower = rates.lower_rate(evidence.events, evidence.trials, risk)
    upper = rates.upper_rate(evidence.events, evidence.trials, risk)
    return Bounds(lower, upper, "Clopper-Pearson")


def _f1(evidence: F1, risk: float) -> Bounds | None:
    """Return the bounds of J = hits / rows as those of 2 J / (1 + J), which grows with J."""
    found = _rate(Rate(evidence.hits, evidence.rows), risk)
    if found is None:
        return None
    lower, upper = (2 * bound / (1 + bound) for bound in (found.lower, found.upper))
    return Bounds(lower, upper, found.method)


def _mean(evidence: Mean, risk: float) -> Bounds | None:
    """Return the bounds by betting; None for values without known ends, or outside of them."""
    width = evidence.highest - evidence.lowest
    if (
        not evidence.lowest
        <= np.min(evidence.values)
        <= np.max(evidence.values)
        <= evidence.highest
    ):
        return None
    # All values are one: shares of the width would be 0 / 0.
    if width == 0:
        return Bounds(evidence.value, evidence.value, "a fact")
    if not math.isfinite(width):
        return None
    ends = errors.bounded_mean(evidence.values, evidence.lowest, evidence.highest, risk)
    return Bounds(*ends, BETTING)


def _root(evidence: RootMeanSquare, risk: float) -> Bounds | None:
    ends = errors.root_bounds(evidence, risk)
    return None if ends is None else Bounds(*ends, BETTING)


def _explained(evidence: Explained, risk: float) -> Bounds | None:
    ends = errors.explained_bounds(evidence, risk)
    return None if ends is None else Bounds(*ends, f"union of {BETTING}")


def _quantile(evidence: Quantile, risk: float) -> Bounds:
    return Bounds(*errors.quantile_bounds(evidence, risk), "exact binomial on large values")


def _calibration(evidence: Calibration, risk: float) -> Bounds | None:
    ends = calibration_bounds(evidence, risk)
    return None if ends is None else Bounds(*ends, "empirical Bernstein's over all bins")


def _skewed(evidence: Mean | RootMeanSquare | Explained, risk: float) -> Bounds | None:
    """Return Hall's bounds; None for a mean or a mean square with known ends, or with few rows."""
    ends: tuple[float, float] | None = None
    if isinstance(evidence, Explained):
        ends = errors.approximate_explained_bounds(evidence, risk)
    elif isinstance(evidence, RootMeanSquare) and math.isinf(evidence.largest_square):
        ends = errors.approximate_root_bounds(evidence, risk)
    elif isinstance(evidence, Mean) and math.isinf(evidence.highest - evidence.lowest):
        ends = skewed_bounds(evidence.values, risk)
        ends = ends and (max(ends[0], evidence.lowest), min(ends[1], evidence.highest))
    return None if ends is None else Bounds(*ends, HALL, is_approximate=True)


def _ranking(evidence: Ranking, risk: float) -> Bounds | None:
    """Return the bounds of `means`; an AUROC counts as min(m, n) values."""
    if not _is_ordered(evidence):
        return None
    value, trials = evidence.value, min(len(evidence.positives), len(evidence.negatives))
    lower, upper = (bound(value, trials, risk) for bound in (means.lower_mean, means.upper_mean))
    return Bounds(lower, upper, "Hoeffding-Bentkus for U-statistics")


def _rank_correlation(evidence: RankCorrelation, risk: float) -> Bounds:
    """Bound |τ|: τ is an average over pairs of rows, and counts as ⌊n / 2⌋ values in [−1, 1].

    That |τ| is at most the bound is false on one side alone, whose own bound then missed. For the
    lower bound both sides share the risk.
    """
    trials, share = evidence.rows // 2, (1.0 + evidence.tau) / 2
    ends = [
        (2 * means.lower_mean(share, trials, one) - 1, 2 * means.upper_mean(share, trials, one) - 1)
        for one in (risk, risk / 2)
    ]
    upper = max(-ends[0][0], ends[0][1])
    lower = max(ends[1][0], -ends[1][1], 0.0)
    return Bounds(lower, min(upper, 1.0), "Hoeffding-Bentkus for U-statistics")


def _is_ordered(ranking: Ranking) -> bool:
    """Return True if all scores can be compared."""
    return not (np.isnan(ranking.positives).any() or np.isnan(ranking.negatives).any())


def _timing(evidence: Timing, risk: float) -> Bounds:
    """Bound a quantile of independent calls by order statistics; no call takes less than 0."""
    ends = errors.quantile_bounds(Quantile(evidence.values, evidence.quantile, 0.0), risk)
    return Bounds(*ends, "exact binomial on slow calls")


def composed_bounds(evidence: Evidence, risk: float, bounds_of: BoundsOf) -> Bounds | None:
    """The bounds of a comparison of groups or parts, from those of its parts; else None."""
    if isinstance(evidence, Gap):
        return _gap(evidence.groups, risk, bounds_of)
    if isinstance(evidence, Ratio):
        return _ratio(evidence.groups, risk, bounds_of)
    if isinstance(evidence, Largest):
        return _largest(evidence.parts, risk, bounds_of)
    if isinstance(evidence, Smallest):
        return _smallest(evidence.parts, risk, bounds_of)
    if isinstance(evidence, Average):
        return _average(evidence, risk, bounds_of)
    return None


def _gap(groups: Mapping[str, Evidence], risk: float, bounds_of: BoundsOf) -> Bounds | None:
    """max − min: at most max_{i ≠ j} u_i − l_j, each at risk / 2; at least the same of l_i − u_j.

    The lower bound has every group's two bounds at risk / (2 K); see the module. Of rates the
    upper bound is that of a sharper test of every pair, from `differences`.
    """
    each = _of_all(groups.values(), risk / 2, bounds_of)
    together = _of_all(groups.values(), risk / (2 * max(len(groups), 1)), bounds_of)
    if len(each) < 2 or not together:
        return None
    lower = max(first.lower - second.upper for first, second in permutations(together, 2))
    counts = counts_of(groups.values())
    if counts:
        # The union of two Clopper-Pearson bounds is valid, too, but 1.3 to 1.7 times as wide.
        upper = largest_difference(counts, risk)
        return Bounds(max(lower, 0.0), upper, "Buehler's for two rates")
    upper = max(first.upper - second.lower for first, second in permutations(each, 2))
    return _joined(each, max(lower, 0.0), upper, "union of ")


def counts_of(groups: Collection[Evidence]) -> list[Count]:
    """The counts behind groups of rates; empty if not all of them are rates with a bound."""
    # Any risk will do here: the bound is only asked if the counts are possible.
    rates_of = (one for one in groups if isinstance(one, Rate) and _rate(one, 0.5) is not None)
    counts = [Count(one.events, one.trials) for one in rates_of if one.trials]
    return counts if len(counts) == len(groups) else []


def _ratio(groups: Mapping[str, Evidence], risk: float, bounds_of: BoundsOf) -> Bounds | None:
    """Bound min / max ≥ r, or p_i − r p_j ≥ 0 for all ordered pairs: min_{i ≠ j} l_i / u_j.

    Each at risk / 2; where values may be negative see `_least_share`. The upper bound, min
    u_i / l_j, has every group's at risk / (2 K).
    """
    each = _of_all(groups.values(), risk / 2, bounds_of)
    together = _of_all(groups.values(), risk / (2 * max(len(groups), 1)), bounds_of)
    # min / max of zeros is undefined, and so is a share of what may be negative without end.
    if len(each) < 2 or not together or min(one.upper for one in each) <= 0:
        return None
    if max(one.value for one in groups.values()) < 0 or any(
        one.lower == -math.inf for one in (*each, *together)
    ):
        return None
    lower = min(_least_share(first, second) for first, second in permutations(each, 2))
    upper = min(
        # A ratio of smallest to largest is never above 1.
        first.upper / second.lower if second.lower > 0 else 1.0
        for first, second in permutations(together, 2)
    )
    return _joined(each, lower, min(upper, 1.0), "union of ")


def _least_share(part: Bounds, whole: Bounds) -> float:
    """Return the lower bound of p_i / p_j for p_j > 0: a negative share is least of a small p_j."""
    if part.lower >= 0:
        return part.lower / whole.upper
    return part.lower / whole.lower if whole.lower > 0 else -math.inf


def _largest(parts: Mapping[str, Evidence], risk: float, bounds_of: BoundsOf) -> Bounds | None:
    """Bound the largest of M: at most max u_m, each at the full risk; at least max l_m at risk / M.

    If the true largest part is above the upper bound, its own bound has missed.
    """
    each = _of_all(parts.values(), risk, bounds_of)
    together = _of_all(parts.values(), risk / max(len(parts), 1), bounds_of)
    if not each or not together:
        return None
    return _joined(each, max(one.lower for one in together), max(one.upper for one in each))


def _smallest(parts: Mapping[str, Evidence], risk: float, bounds_of: BoundsOf) -> Bounds | None:
    """Bound the smallest of M: at least min l_m, at the full risk; at most min u_m at risk / M.

    The mirror of `_largest`: if the true smallest part is below the lower bound, its own missed.
    """
    each = _of_all(parts.values(), risk, bounds_of)
    together = _of_all(parts.values(), risk / max(len(parts), 1), bounds_of)
    if not each or not together:
        return None
    return _joined(each, min(one.lower for one in each), min(one.upper for one in together))


def _average(evidence: Average, risk: float, bounds_of: BoundsOf) -> Bounds | None:
    """Bound the mean of K parts: of rates without a common row at once, or by all K bounds.

    The K bounds must hold together and share the risk; their mean is a bound of the mean.
    """
    counts = counts_of(evidence.parts.values()) if evidence.are_apart else []
    if counts and is_sharper(tuple(count.trials for count in counts), risk):
        lower, upper = (bound(counts, risk) for bound in (lower_average, upper_average))
        return Bounds(lower, upper, "Chernoff's for a mean of rates")
    each = _of_all(evidence.parts.values(), risk / max(len(evidence.parts), 1), bounds_of)
    if not each:
        return None
    lower = sum(one.lower for one in each) / len(each)
    return _joined(each, lower, sum(one.upper for one in each) / len(each), "union of ")


def _delong(evidence: Ranking, risk: float) -> Bounds | None:
    found = delong_bounds(evidence, risk) if _is_ordered(evidence) else None
    if found is None:
        return None
    return Bounds(*found, method="DeLong's on the logit scale", is_approximate=True)


def _mover(groups: Mapping[str, Evidence], risk: float) -> Bounds | None:
    """Approximate bounds of a gap by the method of variance estimates recovery (Zou and Donner).

    For a pair with bounds at the full risk, a − b is at most a − b + √((u_a − a)² + (b − l_b)²).
    The lower bound does the same for l_a and u_b, with the risk shared among the ordered pairs.
    """
    each = _of_all(groups.values(), risk, approximate_bounds)
    together = _of_all(groups.values(), risk / max(len(groups) * (len(groups) - 1), 1), _tighter)
    if len(each) < 2:
        return None
    values = [one.value for one in groups.values()]
    upper, lower = 0.0, 0.0  # a gap is never negative
    for i, j in permutations(range(len(values)), 2):
        gap = values[i] - values[j]
        up = math.hypot(each[i].upper - values[i], values[j] - each[j].lower)
        down = math.hypot(values[i] - together[i].lower, together[j].upper - values[j])
        upper, lower = max(upper, gap + up), max(lower, gap - down)
    return Bounds(lower, upper, f"{each[0].method}, combined by MOVER", is_approximate=True)


def _of_all(evidence: Iterable[Evidence], risk: float, bounds_of: BoundsOf) -> list[Bounds]:
    """The bounds of all, or none if one has none."""
    found = [bounds_of(one, risk) for one in evidence]
    return [] if None in found else [one for one in found if one is not None]


def _joined(parts: list[Bounds], lower: float, upper: float, how: str = "") -> Bounds:
    """Return bounds from those of the parts."""
    methods = " and ".join(dict.fromkeys(how + part.method for part in parts))
    return Bounds(lower, upper, methods, any(part.is_approximate for part in parts))


_SIMPLE: dict[type, Callable[[Any, float], Bounds | None]] = {
    Fact: _fact,
    Rate: _rate,
    F1: _f1,
    Mean: _mean,
    Ranking: _ranking,
    Timing: _timing,
    Quantile: _quantile,
    RootMeanSquare: _root,
    Explained: _explained,
    Calibration: _calibration,
    RankCorrelation: _rank_correlation,
}
