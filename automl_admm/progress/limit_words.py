"""Values of limits in words, with their bounds: kept or broken is told by the sign between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import LAST_DIGITS, Limit
from automl_admm.progress.visible_text import in_a_line

DIGITS = range(4, 18)


def tell_value(limit: Limit, value: float) -> str:
    """Say the value of a limit beside its bound; a broken one has an exclamation mark.

    >>> tell_value(Limit("fpr", 0.05), 0.041), tell_value(Limit("fpr", 0.05), 0.0621)
    ('0.041 <= 0.05', '0.0621 > 0.05 !')
    """
    if math.isnan(value):
        return "not measured !"
    signs = (">=", "<") if limit.at_least else ("<=", ">")
    sign, mark = (signs[0], "") if limit.holds(value) else (signs[1], " !")
    said, bound = _told_apart(limit, value)
    return f"{said} {sign} {bound}{mark}"


def _told_apart(limit: Limit, value: float) -> tuple[str, str]:
    """Return a value and its bound in the fewest digits that tell on which side of it the value is.

    0.05 > 0.05 would be no news, and 0.1235 <= 0.123481 would be wrong. The bound has more digits
    than its limit is written with where no others tell it.
    """
    side = _side(value, limit.bound)
    bounds = limit.said_bound, f"{limit.bound:.15g}"
    pairs = ((f"{value:.{digits}g}", bound) for bound in bounds for digits in DIGITS)
    found = (pair for pair in pairs if _side(*map(float, pair)) == side)
    return next(found, (repr(value), repr(limit.bound)))


def _side(value: float, bound: float) -> int:
    """Return 1 above a bound, -1 below it, and 0 for the same number but for rounding."""
    if abs(value - bound) <= LAST_DIGITS * abs(bound):
        return 0
    return 1 if value > bound else -1


def tell_limits(evaluation: Evaluation, limits: Sequence[Limit]) -> Iterator[str]:
    """Say the value of each limit."""
    for limit, value in zip(limits, evaluation.constraints, strict=True):
        yield f"{in_a_line(limit.name)} {tell_value(limit, value)}"
