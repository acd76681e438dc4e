"""The result of a constraint function as evidence; counts that no rows have are refused."""

from __future__ import annotations

import math

from automl_admm.core.evidence import (
    F1,
    Average,
    Calibration,
    Estimate,
    Evidence,
    Explained,
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
)
from automl_admm.core.messages import say_value
from automl_admm.core.plain_evidence import in_plain_numbers


def as_evidence(found: object, rows: int | None = None) -> Evidence:
    """Return a constraint function's result as evidence; a bare number is an estimate.

    A whole count is an int then, and an end of a range a float, whatever its author wrote.
    Anything else raises a TypeError that shows it, and so does a number as a text.
    Counts that rows cannot have, in a rate or in a part of a comparison, raise a ValueError, and so
    do those of more rows than the function was given, if `rows` has their number.
    """
    if isinstance(found, Evidence):
        _demand_counts(found, given=math.inf if rows is None else rows)
        return in_plain_numbers(found)
    return Estimate(as_number(found))


def as_number(found: object) -> float:
    """Return the result of a function as a number; a text, even of a number, is a TypeError.

    >>> as_number(True)
    1.0
    """
    try:
        # Not isinstance of a number: NumPy's numbers are numbers, too.
        if not isinstance(found, str | bytes):
            return float(found)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        pass
    raise TypeError(f"it returned {say_value(found)} where a number is due")


def _demand_counts(evidence: Evidence, given: float) -> None:
    match evidence:
        case Rate(events, trials):
            _demand_whole(events, trials, "events", "trials")
        case F1(hits, rows):
            _demand_whole(hits, rows, "hits", "rows")
        case Gap(parts) | Ratio(parts) | Largest(parts) | Smallest(parts) | Average(parts):
            for part in parts.values():
                _demand_counts(part, given)
    counted = rows_of(evidence)
    if counted > given:
        shown = say_value(int(counted)) if math.isfinite(counted) else counted
        raise ValueError(f"it counts {shown} rows where it was given {given:.0f}")


def rows_of(evidence: Evidence) -> float:
    """Return the number of independent rows that a certificate would take it for."""
    match evidence:
        case Rate(trials=rows) | F1(rows=rows) | RankCorrelation(rows=rows):
            return rows
        case (
            Mean(values=values)
            | Quantile(values=values)
            | RootMeanSquare(errors=values)
            | Explained(errors=values)
            | Calibration(truth=values)
        ):
            return len(values)
        case Ranking(positives, negatives):
            return len(positives) + len(negatives)
        case Average(parts, are_apart=True):  # no row counts in two of them
            return sum(map(rows_of, parts.values()))
        case Gap(parts) | Ratio(parts) | Largest(parts) | Smallest(parts) | Average(parts):
            return max(map(rows_of, parts.values()), default=0)
    return 0


def _demand_whole(some: float, total: float, what: str, of: str) -> None:
    if 0 <= some <= total and some % 1 == 0 and total % 1 == 0:
        return
    raise ValueError(
        f"it counts {say_value(some)} {what} of {say_value(total)} {of}, where whole numbers are "
        f"due, and no more {what} than {of}"
    )
