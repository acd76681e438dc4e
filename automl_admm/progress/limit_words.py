"""Values of limits in words, with their bounds: kept or broken is told by the sign between them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
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
    return f"{_apart(value, limit.bound)} {sign} {limit.bound:g}{mark}"


def _apart(value: float, bound: float) -> str:
    """Return a value with the digits that tell it from the bound: 0.05 > 0.05 would be no news."""
    texts = (f"{value:.{digits}g}" for digits in DIGITS)
    return next((text for text in texts if value == bound or float(text) != bound), repr(value))


def tell_limits(evaluation: Evaluation, limits: Sequence[Limit]) -> Iterator[str]:
    """Say the value of each limit."""
    for limit, value in zip(limits, evaluation.constraints, strict=True):
        yield f"{in_a_line(limit.name)} {tell_value(limit, value)}"
