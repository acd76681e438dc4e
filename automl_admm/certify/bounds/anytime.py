"""Bounds that hold at every look at growing data, however many looks there are.

A bound of `bounds` is valid for one number of rows, fixed beforehand. Whoever looks each week, and
stops at the first alarm, needs one that is valid at all looks at once.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.special import betaln

from automl_admm.certify.bounds.bounds import Bounds, approximate_bounds, exact_bounds
from automl_admm.core.evidence import Evidence, Fact, Rate

MIXTURE = "Robbins' mixture, valid at every look"
# Of the logarithm of a rate.
PRECISION = 1e-14


def anytime_bounds(evidence: Evidence, risk: float, look: int) -> Bounds | None:
    """Return bounds, each valid at all looks together; `look` is the number of this one, from 1.

    A rate has bounds for any number of rows. For all else look k spends risk / (k (k + 1)) of the
    risk: these shares add up to it. None without a test or a value.
    """
    if math.isnan(evidence.value):
        return None
    if isinstance(evidence, Rate):
        return _of_rate(evidence, risk)
    if isinstance(evidence, Fact):
        return exact_bounds(evidence, risk)
    spent = risk_at(look, risk)
    return exact_bounds(evidence, spent) or approximate_bounds(evidence, spent)


def anytime_range(evidence: Evidence, risk: float, look: int) -> Bounds | None:
    """Return both ends at once, missed together with at most the risk at all looks.

    The set of a rate has the whole risk for both ends. Any other bound may miss on each side, and
    so has half of it.
    """
    one_side = risk if isinstance(evidence, (Rate, Fact)) else risk / 2
    return anytime_bounds(evidence, one_side, look)


def risk_at(look: int, risk: float) -> float:
    """Return risk / (k (k + 1)), the share of look k.

    >>> round(sum(risk_at(look, 0.05) for look in range(1, 10_000)), 4)
    0.05
    """
    return risk / (look * (look + 1))


def rate_set(events: int, trials: int, risk: float) -> tuple[float, float]:
    """Return the ends of the set of rates p that the rows so far do not exclude.

    With s events in n trials it is the set of all p with

        M_n(p) = B(s + ½, n − s + ½) / (B(½, ½) p^s (1 − p)^(n−s)) < 1 / risk.

    At the true rate M_n is a martingale that begins at 1. By Ville's inequality it ever reaches
    1 / risk with at most this probability: so the true rate is in all sets at once, but for it.

    >>> low, high = rate_set(20, 100, 0.05)
    >>> (round(low, 3), round(high, 3))
    (0.091, 0.352)
    """
    return _least_rate(events, trials, risk), 1.0 - _least_rate(trials - events, trials, risk)


def _least_rate(events: int, trials: int, risk: float) -> float:
    """Return the lower end of the set; the upper one is that of the other rows.

    It is found as its logarithm, as it may be as close to 0 as numbers are.
    """
    if not events:
        return 0.0
    others = trials - events
    mixture = betaln(events + 0.5, others + 0.5) - betaln(0.5, 0.5) + math.log(risk)

    def excess(exponent: float) -> float:
        told = others * math.log(-math.expm1(exponent)) if others else 0.0
        return float(mixture - events * exponent - told)

    # As p^s (1 - p)^(n - s) is at most p^s, no rate below this is in the set.
    low, seen = mixture / events - 1.0, math.log(events / trials)
    return math.exp(brentq(excess, low, seen, xtol=PRECISION))


def _of_rate(evidence: Rate, risk: float) -> Bounds | None:
    if not 0 <= evidence.events <= evidence.trials:
        return None
    return Bounds(*rate_set(evidence.events, evidence.trials, risk), MIXTURE)
