"""The finding on one limit, as certificates and outputs have it.

It has no bounds in it, so that a command that only reads a certificate computes none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """The outcome of the test of a limit."""

    CERTIFIED = "certified"
    NOT_CERTIFIED = "not certified"
    VIOLATED = "violated"
    NOT_ESTIMABLE = "not estimable"


@dataclass(frozen=True, slots=True)
class Finding:
    """One limit on the certification rows: its value there, and the conclusion for new rows.

    `bound` decides the verdict: on the limit's side of the value, or for a violation on the other
    side; NaN if there is none. `rows_needed` is the necessary size of the smallest cell. `risk` is
    that of a test at a confidence of the limit's own; None is the risk of the look.
    """

    limit: str
    value: float
    bound: float
    verdict: Verdict
    method: str
    is_approximate: bool
    counts: Mapping[str, int] = field(default_factory=dict)
    rows_needed: int | None = None
    reason: str = ""
    risk: float | None = None

    @property
    def is_certified(self) -> bool:
        """True if the limit may be claimed to hold on new rows."""
        return self.verdict is Verdict.CERTIFIED

    def __str__(self) -> str:
        """Return the verdict as in every output; an approximate one is called so."""
        words = f"{self.limit}: {self.verdict}"
        if self.is_approximate:
            words += " (approximate)"
        return f"{words}: {self.reason}" if self.reason else words


def all_certified(findings: Sequence[Finding]) -> bool:
    """Return True if all limits may be claimed at once, at the risk of each single test.

    Their number needs no correction: if not all hold, one certain limit does not, and its own test
    passes with probability at most its risk; all of them pass with at most the same probability
    (an intersection-union test).
    """
    return bool(findings) and all(finding.is_certified for finding in findings)


def name_outcome(approximate: Sequence[bool]) -> str:
    """Say that all limits were certified, and of how many the bound `approximate` is no proof."""
    if not any(approximate):
        return "CERTIFIED"
    return f"CERTIFIED, {sum(approximate)} of {len(approximate)} by an approximate bound"
