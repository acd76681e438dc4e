"""The rows whose score moves by more than a number, told apart from rounding.

Rounding grows with the size of a score, and not with what its moves mean: times in milliseconds
are all near 10¹², and differ by some hundreds. So it is a few units in the last place of the score.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from automl_admm.core.evidence import Estimate, Rate
from automl_admm.plugins.records import ConstraintPlugin

UNITS = 8  # in the last place of a score: a smaller move is rounding
# Of the number that a move exceeds, or of the spread of the scores: so much rounding may hide.
OF_NUMBER, OF_SPREAD = 0.1, 1e-3
TOO_LARGE = "the scores, up to {:.3g}, are too large beside {} to tell a move from rounding"


def count_moves(
    before: Any, after: Any, of: str, *, least: float = 0.0, sign: float | None = None
) -> Rate | Estimate:
    """Return the share of rows with a score that moves by more than `least`, rounding apart.

    With a `sign` only moves in its direction count. The share is NaN, with a reason, if a move may
    be rounding and rounding is large beside the number or spread.
    """
    if not len(before):
        return Rate(0, 0, of)
    first, second = (
        np.asarray(one, dtype=float).reshape(len(before), -1) for one in (before, after)
    )
    moves = np.abs(second - first) if sign is None else sign * (second - first)
    sizes = np.maximum(np.abs(first), np.abs(second))
    rounding = UNITS * _unit(before, after) * sizes
    beyond = (moves > least + rounding).any(axis=1)
    hidden = OF_NUMBER * least if least else OF_SPREAD * np.std(first)
    in_doubt = ((moves > least) & ~(rounding <= hidden)).any(axis=1) & ~beyond
    if in_doubt.any():
        beside = f"{least:g}" if least else "their spread"
        return Estimate(math.nan, TOO_LARGE.format(np.max(sizes[in_doubt]), beside))
    return Rate(int(np.sum(beyond)), len(first), of)


def _unit(*scores: Any) -> float:
    """Return the distance of 1 from the next number, in the precision of the scores."""
    kinds = [kind for one in scores if (kind := np.asarray(one).dtype).kind == "f"]
    return max(float(np.finfo(kind).eps) for kind in (*kinds, np.dtype(float)))


def score_share(name: str, summary: str, **way: Any) -> ConstraintPlugin:
    """Return the record of such a limit, with the way in which it is measured."""
    return ConstraintPlugin(
        name=name,
        summary=summary,
        highest=1.0,
        kind="statistical",
        better="smaller",
        uses_decisions=False,
        **way,
    )
