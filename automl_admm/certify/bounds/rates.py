"""Bounds for rates: exact for one rate, approximate ones for showing a difference of two.

Counts need not be whole numbers: plans need bounds for expected counts. All bounds are one-sided;
`risk` is the probability of a bound on the wrong side of the truth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import special


def upper_rate(events: float, trials: float, risk: float) -> float:
    """Return Clopper and Pearson's upper bound for a rate: exact, and never below events / trials.

    The solution p of P(Bin(n, p) ≤ k) = risk: u = BetaInv(1 − risk; k + 1, n − k), and 1 if
    every trial was an event.
    """
    if events >= trials:
        return 1.0
    return float(special.betainccinv(events + 1, trials - events, risk))


def lower_rate(events: float, trials: float, risk: float) -> float:
    """Clopper and Pearson's lower bound: l = BetaInv(risk; k, n − k + 1), and 0 without events."""
    if events <= 0:
        return 0.0
    return float(special.betaincinv(events, trials - events + 1, risk))


@dataclass(frozen=True, slots=True)
class Count:
    """So many events in so many trials."""

    events: float
    trials: float

    @property
    def rate(self) -> float:
        """events / trials."""
        return self.events / self.trials


def upper_difference(first: Count, second: Count, risk: float) -> float:
    """Return Miettinen and Nurminen's approximate upper bound for p₁ − p₂: for display, not proof.

    It is the Δ with a score statistic of −z; p̃ are the most likely rates with difference Δ:

        (p̂₁ − p̂₂ − Δ) / √(V N / (N − 1)) = −z,   V = p̃₁ (1 − p̃₁) / n₁ + p̃₂ (1 − p̃₂) / n₂.
    """
    quantile = float(special.ndtri(1 - risk))
    inside, outside = first.rate - second.rate, 1.0
    for _ in range(40):
        middle = (inside + outside) / 2
        if score_of_difference(first, second, middle) > -quantile:
            inside = middle
        else:
            outside = middle
    return outside


def score_of_difference(first: Count, second: Count, difference: float) -> float:
    """Miettinen and Nurminen's statistic for p₁ − p₂ = Δ; see `upper_difference`."""
    rate = likeliest_second_rate(first, second, difference)
    other = min(max(rate + difference, 0.0), 1.0)
    variance = other * (1 - other) / first.trials + rate * (1 - rate) / second.trials
    total = first.trials + second.trials
    gap = first.rate - second.rate - difference
    # Both likeliest rates are 0 or 1: any other gap is impossible, none at all is certain.
    if variance <= 0:
        return math.copysign(math.inf, gap) if gap else 0.0
    return gap / math.sqrt(variance * total / (total - 1))


def likeliest_second_rate(first: Count, second: Count, difference: float) -> float:
    """Return the maximum-likelihood p₂ of both counts under p₁ = p₂ + Δ.

    Setting the derivative of x₁ ln(p + Δ) + (n₁ − x₁) ln(1 − p − Δ) + x₂ ln p + (n₂ − x₂) ln(1 − p)
    to 0 gives a cubic a p³ + b p² + c p + d with three real roots; the middle one counts:

        a = N,   b = (n₁ + 2 n₂) Δ − N − x₁ − x₂,
        c = (n₂ Δ − N − 2 x₂) Δ + x₁ + x₂,   d = x₂ Δ (1 − Δ);
        v = b³ / (27 a³) − b c / (6 a²) + d / (2 a),   u = sign(v) √(b² / (9 a²) − c / (3 a)),
        p = 2 u cos((π + arccos(v / u³)) / 3) − b / (3 a).
    """
    total, events = first.trials + second.trials, first.events + second.events
    b = ((first.trials + 2 * second.trials) * difference - total - events) / (3 * total)
    c = ((second.trials * difference - total - 2 * second.events) * difference + events) / total
    d = second.events * difference * (1 - difference) / total
    v = b**3 - b * c / 2 + d / 2
    u = math.copysign(math.sqrt(max(b * b - c / 3, 0.0)), v)
    angle = math.acos(min(max(v / u**3, -1.0), 1.0)) if u**3 else 0.0
    rate = 2 * u * math.cos((math.pi + angle) / 3) - b
    # Rounding may leave the range in which both rates are from 0 to 1.
    return min(max(rate, 0.0, -difference), 1.0, 1 - difference)
