"""Bounds that hold at every look at growing data, however many looks there are.

A bound of `bounds` is valid for one number of rows, fixed beforehand. Whoever looks each week, and
stops at the first alarm, needs one that is valid at all looks at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq
from scipy.special import betaln

from automl_admm.certify.bounds.bounds import Bounds, approximate_bounds, exact_bounds
from automl_admm.core.evidence import Evidence, Fact, Rate

MIXTURE = "Robbins' mixture, valid at every look"
# Rates closer than this to 0 or 1 are not told from them.
SMALLEST = 1e-12


def anytime_bounds(evidence: Evidence, risk: float, look: int) -> Bounds | None:
    """Return bounds valid at all looks together; `look` is the number of this one, from 1.

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
    seen, most = events / trials, math.log(1.0 / risk)
    mixture = betaln(events + 0.5, trials - events + 0.5) - betaln(0.5, 0.5)

    def excess(rate: float) -> float:
        told = events * math.log(rate) if events else 0.0
        told += (trials - events) * math.log1p(-rate) if events < trials else 0.0
        return float(mixture - told - most)

    lower = 0.0 if not events else _root(excess, SMALLEST, seen)
    upper = 1.0 if events == trials else _root(excess, seen, 1.0 - SMALLEST)
    return lower, upper


def _root(excess: Callable[[float], float], low: float, high: float) -> float:
    """Return the place where the excess, which is below 0 at one of the ends, is 0."""
    low, high = max(low, SMALLEST), min(high, 1.0 - SMALLEST)
    if excess(low) * excess(high) > 0:
        return low if excess(low) < excess(high) else high
    return float(brentq(excess, low, high, xtol=1e-10))


def _of_rate(evidence: Rate, risk: float) -> Bounds | None:
    if not 0 <= evidence.events <= evidence.trials:
        return None
    return Bounds(*rate_set(evidence.events, evidence.trials, risk), MIXTURE)
