"""The test of one limit, and its finding in words."""

from __future__ import annotations

import math
from dataclasses import replace

from automl_admm.certify.bounds.bounds import Bounds, approximate_bounds, exact_bounds
from automl_admm.certify.bounds.row_counts import counts, smallest
from automl_admm.certify.plan.power import MOST_ROWS, bound_on_most_rows, rows_needed
from automl_admm.certify.walk.findings import Finding, Verdict
from automl_admm.certify.walk.looks import Look
from automl_admm.core.evidence import (
    Calibration,
    Estimate,
    Evidence,
    Explained,
    Gap,
    Mean,
    Quantile,
    Ranking,
    Rate,
    Ratio,
    RootMeanSquare,
)
from automl_admm.core.limits import Limit
from automl_admm.core.unknown_values import why_unknown

_CONTRADICTIONS: dict[type, str] = {
    Mean: "its values lie outside of the range that it states",
    Ranking: "some of its scores are no numbers",
    Calibration: "some of its probabilities are not between 0 and 1",
    Rate: "it counts more events than trials",
}


def judge(
    evidence: Evidence, limit: Limit, risk: float, *, approximate_allowed: bool = True
) -> Finding:
    """Test one limit: a certificate is wrong with probability at most `risk`.

    The exact bound is tried first. If it does not pass, an approximate bound is tried, provided
    that it is known and allowed, and the finding says so.
    """
    exact = exact_bounds(evidence, risk)
    approximate = approximate_bounds(evidence, risk) if approximate_allowed else None
    known = [bounds for bounds in (exact, approximate) if bounds is not None]
    for bounds in known:
        if limit.holds(_near(bounds, limit)):
            return _finding(evidence, Verdict.CERTIFIED, limit, bounds)
    for bounds in known:
        if not limit.holds(_far(bounds, limit)):
            return _finding(evidence, Verdict.VIOLATED, limit, bounds)
    if known:
        # The last is the approximate one if there is one: it needs fewer rows.
        return _uncertain(evidence, limit, known[-1], risk)
    reason = why_not_estimable(evidence)
    nothing = Bounds(math.nan, math.nan, method="")
    return replace(_finding(evidence, Verdict.NOT_ESTIMABLE, limit, nothing), reason=reason)


def judge_in(look: Look, evidence: Evidence, limit: Limit) -> Finding:
    """Test one limit in a look, at the confidence of the limit if it has its own."""
    risk = look.risk_of(limit)
    found = judge(evidence, limit, risk)
    return found if limit.confidence is None else replace(found, risk=risk)


def _near(bounds: Bounds, limit: Limit) -> float:
    """The bound on the limit's side."""
    return bounds.lower if limit.at_least else bounds.upper


def _far(bounds: Bounds, limit: Limit) -> float:
    """Return the bound on the side without a limit."""
    return bounds.upper if limit.at_least else bounds.lower


def _finding(evidence: Evidence, verdict: Verdict, limit: Limit, bounds: Bounds) -> Finding:
    """Return a finding decided by one of the bounds; it needs no more rows."""
    # A violation is shown by the bound on the far side.
    is_upper = limit.at_least == (verdict is Verdict.VIOLATED)
    bound = bounds.upper if is_upper else bounds.lower
    return Finding(
        limit=str(limit),
        value=evidence.value,
        bound=bound,
        verdict=verdict,
        method=bounds.method,
        is_approximate=bounds.is_approximate,
        counts=counts(evidence),
        reason=_bound_in_words(bounds, bound),
    )


def _bound_in_words(bounds: Bounds, bound: float) -> str:
    if bounds.lower == bounds.upper:  # a fact
        return f"it is {bound:.4g}"
    return f"it is {'at most' if bound == bounds.upper else 'at least'} {bound:.4g}"


def _uncertain(evidence: Evidence, limit: Limit, bounds: Bounds, risk: float) -> Finding:
    """Too few rows to tell, and how many would do if the value seen is the true one."""
    is_approximate = bounds.is_approximate
    rows = rows_needed(evidence, limit, evidence.value, risk, approximate_allowed=is_approximate)
    found = _finding(evidence, Verdict.NOT_CERTIFIED, limit, bounds)
    words = _rows_in_words(evidence, limit, rows) or _too_close(
        limit,
        evidence.value,
        bound_on_most_rows(evidence, limit, risk, approximate_allowed=is_approximate),
    )
    return replace(found, rows_needed=rows, reason=f"insufficient evidence: {words}")


def _rows_in_words(evidence: Evidence, limit: Limit, rows: int | None) -> str:
    """Say how many rows there should be; nothing if no number of them would do."""
    if not limit.holds(evidence.value):
        return f"its value of {evidence.value:.4g} is outside, which more rows do not mend"
    cell = smallest(evidence)
    if rows is None or cell is None:
        return ""
    return f"it needs about {rows} {cell}; there are {cell.rows}"


def _too_close(limit: Limit, value: float, bound: float) -> str:
    """Say that a value is too close to its limit, and what a table as large as any would prove."""
    words = f"its value of {value:.4g} is too close for any number of rows"
    if math.isnan(bound) or limit.holds(bound):
        return words
    side = "at least" if limit.at_least else "at most"
    return f"{words} up to {MOST_ROWS}, which would prove {side} {bound:.4g}"


def _has_no_largest(evidence: Evidence) -> bool:
    if isinstance(evidence, Mean):
        return math.isinf(evidence.highest - evidence.lowest)
    return isinstance(evidence, RootMeanSquare | Explained) and math.isinf(evidence.largest_square)


def _may_be_negative(evidence: Evidence) -> bool:
    if isinstance(evidence, Mean | Quantile):
        return evidence.lowest < 0
    return isinstance(evidence, Explained) or evidence.value < 0


def why_not_estimable(evidence: Evidence) -> str:
    """Say why no bound is known for the evidence."""
    unknown = why_unknown(evidence)
    if unknown:
        return f"the evidence {unknown}" if unknown.startswith(("has ", "gives ")) else unknown
    if _has_no_largest(evidence):
        return "no largest value is stated, and its values are too few or alike to guess one"
    if type(evidence) in _CONTRADICTIONS:
        return _CONTRADICTIONS[type(evidence)]
    if isinstance(evidence, Estimate) and evidence.why:
        return evidence.why
    return _why_not_compared(evidence) or "no exact test is known for it"


def _why_not_compared(evidence: Evidence) -> str:
    """Say why nothing is known of a comparison of groups, if that is the reason."""
    if isinstance(evidence, Gap | Ratio) and len(evidence.groups) < 2:
        return "there is one group alone, and nothing to compare it with"
    if isinstance(evidence, Ratio) and any(map(_may_be_negative, evidence.groups.values())):
        return "no bound is known for a ratio of values that may be negative"
    return ""
