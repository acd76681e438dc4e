"""Standard errors of evidence: how far its value is from that of other rows, about."""

from __future__ import annotations

import math

from automl_admm.core.evidence import Evidence, Gap, Largest, Rate, Smallest


def standard_error(evidence: Evidence) -> float:
    """Return the standard error of a rate, or of a comparison of rates; NaN of anything else.

    Of k events in n trials it is √(p (1 − p) / n) with p = (k + ½) / (n + 1), which is not 0 for
    k = 0. A gap has that of the difference of its two outermost groups.

    >>> round(standard_error(Rate(50, 100)), 3)
    0.05
    """
    if isinstance(evidence, Rate):
        if not evidence.trials:
            return math.nan
        share = (evidence.events + 0.5) / (evidence.trials + 1.0)
        return math.sqrt(share * (1.0 - share) / evidence.trials)
    if isinstance(evidence, Gap):
        groups = sorted(evidence.groups.values(), key=lambda one: one.value)
        return math.hypot(*map(standard_error, (groups[0], groups[-1]))) if groups else math.nan
    if isinstance(evidence, Largest | Smallest):
        chosen = max if isinstance(evidence, Largest) else min
        parts = evidence.parts.values()
        return standard_error(chosen(parts, key=lambda one: one.value)) if parts else math.nan
    return math.nan
