"""What a constraint saw on some rows, kept so that its value and an exact bound follow from it.

A number alone says nothing of how sure it is. A constraint function therefore may return one of
these records: the search uses its `value`, a certificate tests what stands behind it. A function
that returns a bare number is an `Estimate`, which no certificate can rest on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from automl_admm.core.messages import say_value
from automl_admm.core.space import Array


@runtime_checkable
class Evidence(Protocol):
    """Anything that has a value; NaN says that the rows do not tell."""

    @property
    def value(self) -> float:
        """The constraint's value on these rows."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A number that is the same on any rows: a size, a count of columns."""

    value: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number of which nothing more is known."""

    value: float


@dataclass(frozen=True, slots=True)
class Rate:
    """So many events in so many independent trials; `of` says which rows the trials are."""

    events: int
    trials: int
    of: str = "rows"

    @property
    def value(self) -> float:
        """events / trials."""
        return self.events / self.trials if self.trials else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Mean:
    """The mean of independent values that cannot lie outside of [lowest, highest]."""

    values: Array
    lowest: float
    highest: float

    @property
    def value(self) -> float:
        """Their mean."""
        return float(np.mean(self.values)) if len(self.values) else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """Scores of positive and of negative rows: what an AUROC is computed from."""

    positives: Array
    negatives: Array

    @property
    def value(self) -> float:
        """AUROC = P(s⁺ > s⁻) + ½ P(s⁺ = s⁻)."""
        if not len(self.positives) or not len(self.negatives):
            return math.nan
        # Looked up in order, a million scores take a quarter of the time.
        ordered, sought = np.sort(self.negatives), np.sort(self.positives)
        below = np.searchsorted(ordered, sought, side="left")
        at_most = np.searchsorted(ordered, sought, side="right")
        return float(np.mean(below + at_most) / (2 * len(ordered)))


@dataclass(frozen=True, slots=True, eq=False)
class Timing:
    """Seconds, or parts of them, of calls made one after the other; the limit is on a quantile."""

    values: Array
    quantile: float

    @property
    def value(self) -> float:
        """The quantile."""
        return float(np.quantile(self.values, self.quantile)) if len(self.values) else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """The largest value of a group minus the smallest (the papers' disparity)."""

    groups: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """max − min over groups; NaN if a group's rows do not tell."""
        values = _values(self.groups.values())
        return max(values) - min(values) if values else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """The smallest value of a group divided by the largest (the four-fifths rule)."""

    groups: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """min / max over groups; 1 if all are 0."""
        values = _values(self.groups.values())
        if not values:
            return math.nan
        return min(values) / max(values) if max(values) > 0 else 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Largest:
    """The largest of several (equalized odds: of the gaps in TPR and in FPR)."""

    parts: Mapping[str, Evidence]

    @property
    def value(self) -> float:
        """Their maximum."""
        values = _values(self.parts.values())
        return max(values) if values else math.nan


def _values(evidence: Iterable[Evidence]) -> list[float]:
    """All values, or none if one of them is unknown."""
    values = [one.value for one in evidence]
    return [] if any(map(math.isnan, values)) else values


def as_evidence(found: object) -> Evidence:
    """What a constraint function returned; a bare number is an estimate.

    What is neither raises a TypeError that shows it. A number of NumPy's or a text has no `value`.
    """
    if isinstance(found, Evidence):
        return found
    try:
        return Estimate(float(found))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(f"it returned {say_value(found)} where a number is due") from None


def why_unknown(evidence: Evidence) -> str:
    """Why the rows do not tell the value, in words; empty if they do."""
    if not math.isnan(evidence.value):
        return ""
    if isinstance(evidence, Gap | Ratio):
        return _first_unknown(evidence.groups, "group")
    if isinstance(evidence, Largest):
        return _first_unknown(evidence.parts, "")
    return _what_is_missing(evidence)


def explain_unknown(evidence: Evidence) -> str:
    """The same as a clause that stands alone: "it has no negative rows"."""
    reason = why_unknown(evidence)
    return f"it {reason}" if reason.startswith(("has ", "gives ")) else reason


def _first_unknown(parts: Mapping[str, Evidence], kind: str) -> str:
    for name, part in parts.items():
        reason = why_unknown(part)
        if reason:
            return f"{kind} '{name}' {reason}" if kind else reason
    return "there is nothing to compare"


def _what_is_missing(evidence: Evidence) -> str:
    """Which rows there are none of, as what could be said of a group of rows."""
    if isinstance(evidence, Rate) and not evidence.trials:
        return f"has no {evidence.of}"
    if isinstance(evidence, Ranking):
        return f"has no {'positive' if not len(evidence.positives) else 'negative'} rows"
    if isinstance(evidence, Mean | Timing) and not len(evidence.values):
        return "has no rows"
    return "gives no number"
