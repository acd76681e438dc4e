"""Power of the tests: rows needed for a certificate, and bounds reachable with given rows."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special

from automl_admm.certify.bounds.bounds import Bounds, approximate_bounds
from automl_admm.certify.bounds.intervals import interval, quick_bounds
from automl_admm.certify.bounds.row_counts import cells, smallest, stretch
from automl_admm.core.evidence import Evidence, Rate
from automl_admm.core.limits import Limit

POWER = 0.8  # customary in planning studies
MOST_ROWS = 1_000_000  # above it nobody is told a number
MOST_OF_ALL = 10**12 - 1  # no table has more rows
ROUNDS = 12


def expected_bounds(evidence: Evidence, risk: float, *, approximate_allowed: bool) -> Bounds | None:
    """Return the approximate bounds if allowed and known, else a stand-in for the exact ones."""
    found = approximate_bounds(evidence, risk) if approximate_allowed else None
    return found or quick_bounds(evidence, risk)


def half_width(
    evidence: Evidence, limit: Limit, risk: float, *, approximate_allowed: bool
) -> float:
    """Return the distance from the value to the limit's bound; infinite without a bound."""
    bounds = expected_bounds(evidence, risk, approximate_allowed=approximate_allowed)
    if bounds is None:
        return math.inf
    return abs((bounds.lower if limit.at_least else bounds.upper) - evidence.value)


def most_events(trials: int, limit: float, risk: float) -> int:
    """Return the largest passing number of events, P(Bin(n, limit) ≤ k) ≤ risk; −1 if none."""
    events = np.arange(min(trials, math.floor(trials * limit) + 1))
    chances = special.betaincc(events + 1, trials - events, min(limit, 1.0))
    return int(np.searchsorted(chances, risk, side="right")) - 1


def chance_for_rate(trials: int, limit: float, truth: float, risk: float) -> float:
    """Return the probability to certify a rate, P(Bin(n, truth) ≤ k), k of `most_events`."""
    events = most_events(trials, limit, risk)
    return _at_most(events, trials, truth) if events >= 0 else 0.0


def rows_for_rate(limit: float, truth: float, risk: float) -> int | None:
    """Return the smallest round number of rows to certify `rate ≤ limit` with probability 0.8.

    None if the truth is not below the limit, or beyond `MOST_ROWS`.

    With k events allowed, the fewest rows are n_k, the least n with P(Bin(n, limit) ≤ k) ≤ risk;
    the chance P(Bin(n_k, truth) ≤ k) grows with k. Between n_k and n_{k+1} it falls, so a
    larger number could do worse than the least; the next sufficient round number is returned.
    """
    if truth >= limit:
        return None
    if limit >= 1:  # any rate is at most 1
        return _round_up(1)
    events = _first(
        range(MOST_ROWS),
        lambda k: _at_most(k, _fewest_rows(k, limit, risk), truth) >= POWER,
    )
    rows = _round_up(_fewest_rows(events, limit, risk))
    while rows <= MOST_ROWS and chance_for_rate(rows, limit, truth, risk) < POWER:
        rows = _round_up(rows + 1)
    return rows if rows <= MOST_ROWS else None


def _fewest_rows(events: int, limit: float, risk: float) -> int:
    """Return the least n with P(Bin(n, limit) ≤ k) ≤ risk.

    With n · limit ≤ k the chance is a half at least, and by Chernoff's bound it is within the risk
    at n · limit = k + l + √(l² + 2kl), where l = −log risk.
    """
    log = -math.log(risk)
    most = (events + log + math.sqrt(log * (log + 2 * events))) / limit
    least = events / limit if risk < 0.5 else 0.0
    first = max(events + 1, math.floor(min(least, MOST_OF_ALL)))
    # Never listed: bisection asks a range for single places.
    numbers = range(first, max(first, math.ceil(min(most, MOST_OF_ALL))) + 1)
    place = _first(numbers, lambda rows: _at_most(events, rows, limit) <= risk)
    return numbers[min(place, len(numbers) - 1)]


def _first(candidates: Sequence[Any], is_enough: Callable[[Any], bool]) -> int:
    """Return the index of the first sufficient candidate; all later ones must be as well."""
    return bisect_left(candidates, 1, key=lambda one: int(is_enough(one)))


def _at_most(events: int, trials: int, rate: float) -> float:
    """P(Bin(n, p) ≤ k) for k < n."""
    return float(special.betaincc(events + 1, trials - events, rate))


def _round_up(rows: float) -> int:
    """Return the next round number: steps of 5, from 500 on 25, then 100, then 1 000."""
    steps = (step for below, step in ((500, 5), (5_000, 25), (50_000, 100)) if rows < below)
    step = next(steps, 1_000)
    return math.ceil(rows / step) * step


def rows_needed(
    evidence: Evidence, limit: Limit, truth: float, risk: float, *, approximate_allowed: bool
) -> int | None:
    """About how many rows the smallest cell needs for a certificate with probability 0.8.

    `truth` is the value that the pipeline is taken to have; all cells grow alike. None if it is
    not within the limit, if nothing can be certified of such evidence, or if it takes too many.
    """
    if isinstance(evidence, Rate):
        # A limit from below is one from above on the complement.
        turned = (1 - limit.bound, 1 - truth) if limit.at_least else (limit.bound, truth)
        return rows_for_rate(*turned, risk)
    room = limit.turned(limit.bound) - limit.turned(truth)
    cell = smallest(evidence)
    if cell is None or not cell.rows:
        return None
    factor = _factor_needed(evidence, limit, room, risk, approximate_allowed=approximate_allowed)
    return None if factor is None else _round_up(cell.rows * factor)


def bound_on_most_rows(
    evidence: Evidence, limit: Limit, risk: float, *, approximate_allowed: bool
) -> float:
    """Return the bound of `MOST_ROWS` rows with the same value; NaN without one.

    Several cells, as of groups, have none: their bounds on so many rows take seconds.
    """
    counted = cells(evidence)
    if len(counted) != 1 or not counted[0].rows:
        return math.nan
    grown = stretch(evidence, max(1.0, MOST_ROWS / counted[0].rows))
    bounds = expected_bounds(grown, risk, approximate_allowed=approximate_allowed)
    return math.nan if bounds is None else bounds.lower if limit.at_least else bounds.upper


def _factor_needed(
    evidence: Evidence, limit: Limit, room: float, risk: float, *, approximate_allowed: bool
) -> float | None:
    """Return the factor on the number of rows at which the bound just fits between value and limit.

    It must fit in 80 % of all cases: its half-width plus the 80 % quantile of the value's error
    must be at most this room. Both shrink about as 1 / √rows: from
    factor to factor · (what is asked / room)² comes near in a few rounds, and bisection ends it.
    """
    rows = sum(cell.rows for cell in cells(evidence))
    too_few, enough, factor = 0.0, math.inf, 1.0
    for _ in range(ROUNDS):
        if room <= 0 or factor * rows > MOST_ROWS:
            return None
        grown = stretch(evidence, factor)
        asked = half_width(grown, limit, risk, approximate_allowed=approximate_allowed)
        asked += _unlucky(grown, limit)
        if asked <= room:
            enough = factor
            # The square-root law is rough where exact bounds jump: at most fourfold, at least 2 % a
            # step.
            factor *= min(max((asked / room) ** 2, 0.25), 0.98)
        else:
            too_few = factor
            factor *= max(min((asked / room) ** 2, 4.0), 1.02)
        if not too_few < factor < enough:  # the width jumps where another bound takes over
            factor = math.sqrt(max(too_few, 1 / rows) * enough)
        # The number is rounded about as coarsely when it is told.
        if enough < 1.02 * max(too_few, 1 / rows):
            break
    return enough if math.isfinite(enough) else None


def _unlucky(evidence: Evidence, limit: Limit) -> float:
    """Return the POWER quantile of the value's error.

    Any two groups may open a gap, so they share the probability.
    """
    groups = len({cell.where for cell in cells(evidence)})
    # Each end of a two-sided 60 % interval is a one-sided 80 % quantile.
    found = interval(evidence, 2 * POWER - 1, shown=groups)
    if found is None:
        return math.inf
    return abs((found.lower if limit.at_least else found.upper) - evidence.value)
