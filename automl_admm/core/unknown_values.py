"""The reason why the value of some evidence is unknown, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping

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
    Timing,
    Weighted,
)


def why_unknown(evidence: Evidence) -> str:
    """Return the reason for an unknown value, in words; empty for a known one."""
    if not math.isnan(evidence.value):
        return ""
    if isinstance(evidence, Gap | Ratio):
        return _first_unknown(evidence.groups, "group")
    if isinstance(evidence, Largest | Smallest | Average):
        return _first_unknown(evidence.parts)
    return _what_is_missing(evidence)


def explain_unknown(evidence: Evidence) -> str:
    """Return the reason as a clause of its own: "it has no negative rows"."""
    reason = why_unknown(evidence)
    return f"it {reason}" if reason.startswith(("has ", "gives ")) else reason


def _first_unknown(parts: Mapping[str, Evidence], kind: str = "") -> str:
    for name, part in parts.items():
        reason = why_unknown(part)
        if reason and kind:
            return f"{kind} '{name}' {reason}"
        if reason:
            # A reason that names its group, its class or its column needs no other name.
            names = any(word in reason for word in ("class", "in column '"))
            is_named = names or not reason.startswith(("has ", "gives "))
            return reason if is_named else f"{name} {reason}"
    return "there is nothing to compare"


def _what_is_missing(evidence: Evidence) -> str:
    """Return the kind of rows missing, as a statement about a group of rows."""
    if (isinstance(evidence, Rate) and not evidence.trials) or isinstance(evidence, F1 | Weighted):
        return f"has no {evidence.of}"
    if isinstance(evidence, Ranking):
        return f"has no {'positive' if not len(evidence.positives) else 'negative'} rows"
    if _has_no_rows(evidence):
        return "has no rows"
    if isinstance(evidence, Estimate) and evidence.why:
        return f"gives no number: {evidence.why}"
    if isinstance(evidence, Explained):
        return "has no two different true values"
    is_pair = isinstance(evidence, RankCorrelation)
    return "has no two rows with a number in the column" if is_pair else "gives no number"


def _has_no_rows(evidence: Evidence) -> bool:
    if isinstance(evidence, Mean | Timing | Quantile):
        return not len(evidence.values)
    if isinstance(evidence, RootMeanSquare | Explained):
        return not len(evidence.errors)
    return isinstance(evidence, Calibration) and not len(evidence.truth)
