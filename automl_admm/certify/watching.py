"""Limits of a shipped model on rows that arrive over time: one is broken, holds, or is open."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from automl_admm.certify.bounds.anytime import anytime_bounds, anytime_range, risk_at
from automl_admm.certify.bounds.bounds import Bounds, approximate_bounds, exact_bounds
from automl_admm.core.evidence import Evidence
from automl_admm.core.limits import Limit

ANYWHERE = Bounds(-math.inf, math.inf, method="")


class State(StrEnum):
    """The standing of a limit after a look."""

    BROKEN = "broken"
    HOLDS = "holds"
    OPEN = "open"
    UNKNOWN = "no bound"


@dataclass(frozen=True, slots=True)
class Watched:
    """A limit after a look: its value on the rows of this look and on all, and what they show.

    The true value is between `lower` and `upper`, at all looks at once, but for the risk. `recent`
    is True if the rows of this look alone break it. That a limit holds is shown by one end, known
    more closely: so the range may reach beyond such a limit. `reason` says why there is no bound.
    """

    limit: str
    value: float
    pooled: float
    lower: float
    upper: float
    state: State
    method: str = ""
    is_approximate: bool = False
    recent: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Watch:
    """The risk of a false alarm in all looks together, and the number of this look.

    All `limits` share the risk of an alarm, also those that a look does not tell. That all hold is
    a claim at the whole risk, because it is wrong only if the claim about a broken one is. A limit
    with a confidence of its own is claimed at that.
    """

    risk: float
    look: int
    limits: int

    def judge(self, limit: Limit, lot: Evidence, pooled: Evidence) -> Watched:
        """Judge a limit by the rows of this look, `lot`, and by all rows so far, `pooled`.

        One half of the risk of an alarm goes to each: all rows see a small breach that lasts, the
        rows of a look see one that is new.
        """
        alarm = self.risk / (2 * max(self.limits, 1))
        claim = self.risk if limit.confidence is None else 1.0 - limit.confidence
        claimed = anytime_bounds(pooled, claim, self.look)
        surely = anytime_bounds(pooled, alarm, self.look)
        alone = _bounds(lot, risk_at(self.look, alarm))
        recent = _is_outside(alone, limit)
        # Such as a gap of one group alone: a range of it would say nothing.
        if claimed is None or math.isnan(pooled.value):
            state = State.BROKEN if recent else State.UNKNOWN
            return Watched(
                str(limit), lot.value, pooled.value, math.nan, math.nan, state, recent=recent
            )
        # Two ends miss more often than the one of the claim; it may be known alone.
        ends = anytime_range(pooled, claim, self.look) or ANYWHERE
        state = State.OPEN
        if recent or _is_outside(surely, limit):
            state = State.BROKEN
        elif limit.holds(claimed.lower if limit.at_least else claimed.upper):
            state = State.HOLDS
        return Watched(
            str(limit),
            lot.value,
            pooled.value,
            ends.lower,
            ends.upper,
            state,
            claimed.method,
            claimed.is_approximate or ends.is_approximate,
            recent,
        )


def _bounds(evidence: Evidence, risk: float) -> Bounds | None:
    return exact_bounds(evidence, risk) or approximate_bounds(evidence, risk)


def _is_outside(bounds: Bounds | None, limit: Limit) -> bool:
    """Return True if the whole range of the true value is outside of the limit."""
    if bounds is None:
        return False
    return not limit.holds(bounds.upper if limit.at_least else bounds.lower)
