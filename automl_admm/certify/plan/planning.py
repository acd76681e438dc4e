"""The number of rows to set aside before the search, and the limits it is too small for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from automl_admm.certify.bounds.row_counts import smallest, stretch
from automl_admm.certify.plan.power import expected_bounds, half_width, most_events, rows_needed
from automl_admm.certify.walk.verdicts import why_not_estimable
from automl_admm.core.evidence import (
    Evidence,
    Fact,
    Gap,
    Largest,
    Mean,
    Rate,
    RootMeanSquare,
    Smallest,
    Timing,
)
from automl_admm.core.limits import Limit

LARGEST_FRACTION = 0.4  # the search keeps more than half of the rows
IMPOSSIBLE = "nothing can certify"
# Shares of the way from the extreme of a value to its limit.
HALFWAY, NEAR = 0.5, 0.75


@dataclass(frozen=True, slots=True)
class Demand:
    """A limit, and an example of its evidence on all rows: of a plain pipeline, or made up.

    The rows are to certify a model so far from the extreme to the limit; its value is `aimed` so
    near where a threshold can bring it there. `risk` is that of a limit with its own confidence;
    None is the risk of the plan.
    """

    limit: Limit
    evidence: Evidence
    aimed: float = HALFWAY
    risk: float | None = None


@dataclass(frozen=True, slots=True)
class RowPlan:
    """The share of the rows to set aside, and a sentence for every limit it is too small for.

    `impossible` are the limits without a known test: no number of rows certifies them.
    """

    fraction: float
    shortfalls: tuple[str, ...]
    impossible: tuple[str, ...] = ()


def plan(
    demands: Sequence[Demand],
    risk: float,
    *,
    fraction: float | None = None,
    least: float = 0.0,
) -> RowPlan:
    """Plan the share of rows to set aside, and name the limits it is too small for.

    The default `fraction` is the smallest with 80 % power for models as near to every limit as it
    is aimed at, but `least` at least and 40 % at most. Limits that no number of rows certifies do
    not count. A fraction is too small if a model halfway to the limit has less power.
    """
    needed = [_fraction_needed(demand, HALFWAY, risk) for demand in demands]
    if fraction is None:
        wanted = [
            _fraction_needed(demand, demand.aimed, risk)
            for demand, share in zip(demands, needed, strict=True)
            if math.isfinite(share)
        ]
        largest = max(wanted, default=0.0)
        # Rounded upwards: the planned power must not be lost in the third digit.
        fraction = max(least, math.ceil(min(LARGEST_FRACTION, largest) * 1000) / 1000)
    said = [
        _shortfall(demand, fraction, risk)
        for demand, share in zip(demands, needed, strict=True)
        if share > fraction
    ]
    return RowPlan(fraction, tuple(said), tuple(one for one in said if one.startswith(IMPOSSIBLE)))


def _shortfall(demand: Demand, fraction: float, risk: float) -> str:
    """Say in a sentence why this fraction of the rows is too small for a limit."""
    limit, evidence, risk = demand.limit, demand.evidence, demand.risk or risk
    if expected_bounds(evidence, risk, approximate_allowed=True) is None:
        return f"{IMPOSSIBLE} {limit}: {why_not_estimable(evidence)}."
    return _few_rows(limit, stretch(evidence, fraction), risk)


def _fraction_needed(demand: Demand, aimed: float, risk: float) -> float:
    """Return the share of the rows to certify a model so near to the limit; infinite if none does.

    Facts and calls take no rows. It is 1 where only a model without an error has enough in any
    table.
    """
    limit, evidence, cell = demand.limit, demand.evidence, smallest(demand.evidence)
    risk = demand.risk or risk
    if isinstance(evidence, Fact | Timing):
        return 0.0
    known = expected_bounds(evidence, risk, approximate_allowed=True) is not None
    if not known or cell is None:
        return math.inf
    needed = partial(rows_needed, evidence, limit, approximate_allowed=True)
    rows = needed(_at(limit, aimed), risk)
    if rows is None:
        return math.inf if needed(_at(limit, 0.0), risk) is None else 1.0
    return rows / cell.rows if cell.rows else math.inf


def _at(limit: Limit, share: float) -> float:
    """Return the value at this share of the way from the extreme (0 if unknown) to the limit."""
    return share * limit.bound + (1 - share) * (limit.extreme or 0.0)


def _few_rows(limit: Limit, evidence: Evidence, risk: float) -> str:
    """Say that the rows are too few, and how many would be enough."""
    best = _at_its_best(evidence, limit)
    is_possible = can_pass(limit, best, risk, approximate_allowed=True)
    is_possible = is_possible or _is_gap_within_reach(limit, evidence, risk)
    # If even the best value fails, the rows for the best value are the ones to name.
    seen, truth = (evidence, HALFWAY) if is_possible else (best, 0.0)
    needed = partial(rows_needed, seen, limit, approximate_allowed=True)
    rows = needed(_at(limit, truth), risk)
    verb = "are few to" if is_possible else "cannot"
    needs = "no number of rows would do" if rows is None else f"needs about {rows}"
    return f"your {_in_words(evidence)} {verb} certify {limit} ({needs})."


def _at_its_best(evidence: Evidence, limit: Limit) -> Evidence:
    """Return evidence without an error on as many rows, if errors have a largest size.

    Bounds on them hang on their spread, so errors of a plain pipeline do not tell such a model's
    bound. Other evidence stays.
    """
    if isinstance(evidence, RootMeanSquare) and math.isfinite(evidence.largest_square):
        return replace(evidence, errors=np.zeros(len(evidence.errors)))
    if not isinstance(evidence, Mean) or limit.extreme is None:
        return evidence
    has_ends = math.isfinite(evidence.highest - evidence.lowest)
    best = np.full(len(evidence.values), limit.extreme)
    return replace(evidence, values=best) if has_ends else evidence


def can_pass(limit: Limit, evidence: Evidence, risk: float, *, approximate_allowed: bool) -> bool:
    """Return True if the best possible value would pass on rows with this evidence."""
    if isinstance(evidence, Rate):
        # A rate of at least b is a rate of its complement of at most 1 − b.
        bound = 1 - limit.bound if limit.at_least else limit.bound
        return most_events(evidence.trials, bound, risk) >= 0
    return half_width(evidence, limit, risk, approximate_allowed=approximate_allowed) <= limit.room


def _is_gap_within_reach(limit: Limit, evidence: Evidence, risk: float) -> bool:
    """Return True for a gap of rates that rates of 0 would prove, however wide its bound is now."""
    parts = evidence.groups.values() if isinstance(evidence, Gap) else ()
    is_of_rates = bool(parts) and all(isinstance(part, Rate) for part in parts)
    return is_of_rates and not is_out_of_reach(limit, evidence, risk)


def is_out_of_reach(limit: Limit, evidence: Evidence, risk: float) -> bool:
    """Return True if a rate, or a gap or an extreme of rates, cannot pass at its best.

    A gap is at least as wide as the bound of its smallest group: the others may have a rate of 0.
    A limit above the largest part, or below the smallest one, is a limit on every part.
    Of other evidence nobody knows its best case beforehand.
    """
    if isinstance(evidence, Rate):
        return not can_pass(limit, evidence, risk, approximate_allowed=False)
    is_on_all = isinstance(evidence, Smallest if limit.at_least else Largest)
    if isinstance(evidence, Largest | Smallest) and is_on_all:
        return any(is_out_of_reach(limit, part, risk) for part in evidence.parts.values())
    if limit.at_least:
        return False
    parts = evidence.groups.values() if isinstance(evidence, Gap) else ()
    rates = [part for part in parts if isinstance(part, Rate)]
    return any(most_events(rate.trials, limit.bound, risk) < 0 for rate in rates)


def _in_words(evidence: Evidence) -> str:
    cell = smallest(evidence)
    return f"{cell.rows} {cell}" if cell else "rows"
