"""Tightened limits for the search, so that its result has a chance of a certificate."""

from __future__ import annotations

import math
from dataclasses import replace

from automl_admm.certify.bounds.rates import lower_rate, upper_rate
from automl_admm.certify.bounds.row_counts import stretch
from automl_admm.certify.plan.power import expected_bounds, half_width
from automl_admm.core.evidence import Evidence, Rate, Timing
from automl_admm.core.limits import Limit

# Half-widths: one for the test, one for what choosing the best took advantage of.
MARGIN = 2.0
# Of a limit that the decision threshold moves: the certificate chooses the threshold anew.
MARGIN_IF_MOVED = 1.0
STEPS = 50


def tighten(
    limit: Limit,
    evidence: Evidence,
    share: float,
    risk: float,
    *,
    margin: float = MARGIN,
) -> Limit:
    """Return the limit moved inwards by a margin of two half-widths of the certificate's bound.

    `evidence` is an example, a first pipeline on the search's rows, and `share` the certification
    rows per row of it, in every cell. Half-widths are those of the bound on so many rows: of a
    rate, at the tightened limit itself; of calls, in proportion to it; else at the example.

    It goes no further than `_no_further` allows. A limit without a known test stays as it is.
    """
    if expected_bounds(evidence, risk, approximate_allowed=True) is None:
        return limit
    if isinstance(evidence, Rate):
        # The half-width of a rate changes much between example and limit, so it is taken at the
        # target.
        target = _tightened_rate(limit, evidence.trials * share, risk, margin)
    else:
        seen = evidence if isinstance(evidence, Timing) else stretch(evidence, share)
        width = half_width(seen, limit, risk, approximate_allowed=True)
        target = _tightened(limit, seen, margin * width)
    return replace(limit, bound=_no_further(limit, target, risk), has_six_digits=True)


def _tightened_rate(limit: Limit, rows: float, risk: float, margin: float) -> float:
    """The t with t + m (u(t) − t) = limit, or t − m (t − l(t)) for a limit from below."""
    best = 1.0 if limit.at_least else 0.0  # the extreme of a rate: sure to be inside
    inside, outside = best, limit.bound
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        bound = (lower_rate if limit.at_least else upper_rate)(middle * rows, rows, risk)
        if limit.holds(middle + margin * (bound - middle)):
            inside = middle
        else:
            outside = middle
    return inside


def _tightened(limit: Limit, example: Evidence, width: float) -> float:
    if isinstance(example, Timing) and example.value > 0:
        # The half-width of calls grows with their time t: t (1 + width / value) = limit.
        return limit.bound / (1 + width / example.value)
    return limit.bound + (1 if limit.at_least else -1) * width


def _no_further(limit: Limit, target: float, risk: float) -> float:
    """The target, or a share ln 2 / ln(1 / risk) of the way from the extreme to the limit.

    For a risk of 0.05 this is 23 %. With the fewest rows for any certificate of a rate,
    (1 − limit)^n = risk, a model with this share of the limit passes half of the time; nearer to
    the extreme there may be nothing left to find. Without an extreme only a finite target counts.
    """
    # Without an extreme there is no way to take a share of.
    if not math.isfinite(limit.room):
        return target if math.isfinite(target) else limit.bound
    least = limit.room * math.log(2) / math.log(1 / risk)
    extreme = limit.turned(limit.bound) - limit.room
    return limit.turned(max(limit.turned(target), extreme + least))


def slack_of(limit: Limit, evidence: Evidence, share: float, risk: float) -> float:
    """Return the distance from the value to the limit, in half-widths of the certificate's bound.

    The evidence is of the search's rows; `share` as in `tighten`. Negative outside of the limit, −∞
    without a bound, +∞ for a fact within the limit.
    """
    room = limit.turned(limit.bound) - limit.turned(evidence.value)
    seen = evidence if isinstance(evidence, Timing) else stretch(evidence, share)
    width = half_width(seen, limit, risk, approximate_allowed=True)
    if math.isnan(room) or math.isinf(width):
        return -math.inf
    return room / width if width > 0 else math.copysign(math.inf, room)
