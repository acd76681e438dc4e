"""An exact upper bound for the difference of two rates, about as tight as approximate ones.

Buehler (1957): order the outcomes (a, b) of two counts by any statistic S, and let R be those not
above the observed one. An upper bound for p₁ − p₂ is the least ε from which on R is unlikely for
every p₂. Here S(a, b) = u(a) − l(b), with Clopper-Pearson bounds of both rates: it
grows with a and falls with b, so that P(R) falls with p₁ and grows with p₂. Three things follow:

- over an interval of p₂ from e to f, P(R) under p₁ = p₂ + ε is at most its value at e + ε and f:
  a grid has no gaps;
- P(R) falls with ε, and bisection finds the bound;
- only a confidence interval of p₂ need be searched; its risk γ is added to the result (Berger and
  Boos 1994).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations

import numpy as np
from scipy import special

from automl_admm.certify.bounds.rates import Count, lower_rate, upper_rate
from automl_admm.core.space import Array

# Validity does not hang on these; tightness and time do.
ORDERING_RISK = 0.12  # of the bounds in S; any would be valid
MISSING = 0.02  # γ as a share of the risk
CELLS = 100  # of the grid over p₂
STEPS = 16  # the bound is at most 2⁻¹⁶ too large: bisection returns its safe end
LEFT_OUT = 1e-9  # more than what outcomes beyond the reach weigh
KEPT = 10_000  # answers, each a number


def largest_difference(counts: Sequence[Count], risk: float) -> float:
    """Return the largest `upper_difference_exact` over all ordered pairs of two counts or more.

    The pairs farthest apart come first; most others are then ruled out by one evaluation.
    """
    pairs = sorted(permutations(counts, 2), key=lambda pair: pair[1].rate - pair[0].rate)
    largest = -1.0
    for first, second in pairs:
        if not _is_at_most(first, second, risk, largest):
            largest = max(largest, upper_difference_exact(first, second, risk))
    return largest


# A certificate asks again and again for the same counts: at each threshold of a walk, for each
# limit on the same groups, and once more where it is verified.
@lru_cache(maxsize=KEPT)
def upper_difference_exact(first: Count, second: Count, risk: float) -> float:
    """The least ε with γ + max over p₂ of P(R; p₂ + ε, p₂) ≤ risk; see the module."""
    observed = first.rate - second.rate
    united = upper_rate(first.events, first.trials, risk / 4)
    united -= lower_rate(second.events, second.trials, risk / 4)
    # Nearly always the union bound at risk / 4 each is beyond the one sought. It keeps the outcomes
    # few; ε = 1 is tried only if not.
    for highest in (min(united, 1.0), 1.0):
        outcomes = _outcomes(first, second, risk, (observed, highest))
        if outcomes.chance(highest) <= risk:
            return _bisect(outcomes, risk, observed, highest)
    return 1.0


@lru_cache(maxsize=KEPT)
def _is_at_most(first: Count, second: Count, risk: float, difference: float) -> bool:
    """Return True if the upper bound of p₁ − p₂ is at most this."""
    # No upper bound is below the observed difference; `_outcomes` would get a range upside down.
    if difference < first.rate - second.rate:
        return False
    return _outcomes(first, second, risk, (difference, difference)).chance(difference) <= risk


@dataclass(frozen=True, slots=True, eq=False)
class _Outcomes:
    """The likely part of R: for every a the probability of a large enough b, by cell of p₂.

    `events` are the values of a, `weights` ln C(n₁, a), `lows` the cells' lower ends.
    """

    trials: int
    events: Array
    weights: Array
    lows: Array
    rest: Array
    missing: float

    def chance(self, difference: float) -> float:
        """γ + the largest P(R) of any cell: Σ_a P(a; e + ε) P(b ≥ c(a); f)."""
        possible = self.lows + difference <= 1  # p₁ = p₂ + ε is a rate
        if not possible.any():
            return self.missing
        rates = np.maximum(self.lows[possible] + difference, 0.0)[:, None]
        misses = self.trials - self.events
        # In logarithms, because C(n, a) overflows from n = 1 030 on; xlogy knows 0 ln 0 = 0.
        logs = special.xlogy(self.events, rates) + special.xlog1py(misses, -rates)
        sums = np.sum(np.exp(self.weights + logs) * self.rest[possible], axis=1)
        return float(np.max(sums)) + self.missing


def _outcomes(
    first: Count, second: Count, risk: float, differences: tuple[float, float]
) -> _Outcomes:
    """Return R of the observed counts, for differences in this range."""
    missing = MISSING * risk
    lowest = lower_rate(second.events, second.trials, missing / 2)
    highest = upper_rate(second.events, second.trials, missing / 2)
    edges = np.linspace(lowest, highest, CELLS + 1)
    trials, others = int(first.trials), int(second.trials)
    reach = (lowest + differences[0], highest + differences[1])
    events = _within_reach(trials, *np.clip(reach, 0.0, 1.0).tolist())
    needed = _needed(first, second, events, _within_reach(others, lowest, highest))
    # If no b is large enough, the outcome is not in R.
    events, needed = events[needed <= others], needed[needed <= others]
    return _Outcomes(
        trials=trials,
        events=events,
        weights=special.gammaln(trials + 1)
        - special.gammaln(events + 1)
        - special.gammaln(trials - events + 1),
        lows=edges[:-1],
        rest=_at_least(needed, others, edges[1:, None]),
        missing=missing + LEFT_OUT,
    )


def _within_reach(trials: int, lowest: float, highest: float) -> Array:
    """Return the counts within seven deviations of all rates in between, and 15 more."""
    below = trials * lowest - 7 * math.sqrt(trials * lowest) - 15
    above = trials * highest + 7 * math.sqrt(trials * highest) + 15
    return np.arange(max(0, math.floor(below)), min(trials, math.ceil(above)) + 1, dtype=float)


def _needed(first: Count, second: Count, events: Array, others: Array) -> Array:
    """Return, for every a, the least b with S(a, b) ≤ S of the observed counts: l(b) ≥ u(a) − S.

    Only the consecutive `others` are searched; the result is one above their last if none is
    enough.
    """
    lows = np.zeros(len(others))
    some = others > 0
    lows[some] = special.betaincinv(others[some], second.trials - others[some] + 1, ORDERING_RISK)
    highs = np.ones(len(events))
    inner = events < first.trials
    highs[inner] = special.betainccinv(
        events[inner] + 1, first.trials - events[inner], ORDERING_RISK
    )
    seen = upper_rate(first.events, first.trials, ORDERING_RISK)
    seen -= lower_rate(second.events, second.trials, ORDERING_RISK)
    rounding = 1e-12  # a tie belongs to R
    places = np.searchsorted(lows, highs - seen - rounding, side="left")
    return np.asarray(others[0] + places)


def _at_least(needed: Array, trials: int, rates: Array) -> Array:
    """P(Bin(n, p) ≥ k) for every rate and every k."""
    positive = np.maximum(needed, 1)
    chances = special.betainc(positive, trials - positive + 1, rates)
    return np.where(needed > 0, chances, 1.0)


def _bisect(outcomes: _Outcomes, risk: float, inside: float, outside: float) -> float:
    for _ in range(STEPS):
        middle = (inside + outside) / 2
        if outcomes.chance(middle) <= risk:
            outside = middle
        else:
            inside = middle
    return outside
