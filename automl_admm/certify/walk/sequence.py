"""Which pipelines are tested, in which order, and which of those that pass is shipped.

The order is *safest first*, every pipeline is tested at the full risk, and the walk stops at the
first that does not pass; of those that passed the best is shipped. A false certificate then needs
the first pipeline in this order that is truly outside to pass its own test, which has probability
at most the risk (fixed-sequence testing; Angelopoulos et al. 2021, Learn then Test). The order has
to be fixed on the search's rows alone.

Trying the *best* first and stopping at the first that passes would not do at the full risk: every
failure gives another pipeline a chance, and the risks add up. It would have to be split among the
candidates (risk / 2, risk / 4, … or a tenth each). `benchmarks/certificates.py` compares these. A
split certifies more often if the pipelines' mistakes are independent of each other, and less often
if they are alike, as they are in pipelines that are tested on the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.certify.walk.verdicts import Finding, all_certified

MOST_CONTENDERS = 10


@dataclass(frozen=True, slots=True)
class Contender:
    """A pipeline that may be certified, as the search's rows show it.

    `score` is better if larger. `slack` says how safe it seems: the smallest distance to a limit,
    in half-widths (see `slack_of`).
    """

    key: str
    score: float
    slack: float


@dataclass(frozen=True, slots=True)
class Step:
    """A contender that was tested, and what was found, limit by limit."""

    contender: Contender
    findings: tuple[Finding, ...]

    @property
    def is_certified(self) -> bool:
        """Whether it may be claimed to be within all limits."""
        return all_certified(self.findings)


@dataclass(frozen=True, slots=True)
class Walk:
    """All that was tested, in order, and the best of those that passed, if any did."""

    steps: tuple[Step, ...]
    chosen: Step | None


def order(contenders: Sequence[Contender]) -> tuple[Contender, ...]:
    """At most ten contenders, safest first, each with a better score than those before it.

    What is both less safe and no better than another need not be tested (Pareto testing). Of the
    rest those that seem to be within the limits are thinned evenly, with both ends kept; if there
    is none, the safest alone is tried.
    """
    front: list[Contender] = []
    for one in sorted(contenders, key=lambda one: (-one.slack, -one.score, one.key)):
        if not front or one.score > front[-1].score:
            front.append(one)
    inside = [one for one in front if one.slack > 0] or front[:1]
    places = np.linspace(0, len(inside) - 1, min(len(inside), MOST_CONTENDERS))
    return tuple(inside[place] for place in np.round(places).astype(int))


def walk(
    ordered: Sequence[Contender], test: Callable[[Contender], Sequence[Finding] | None]
) -> Walk:
    """Test in order until one does not pass, and choose the best of those that did.

    One that is not tested (None) is passed over. That leaves the risk as it is only if what it
    hangs on is known without the certification rows.
    """
    steps: list[Step] = []
    for contender in ordered:
        findings = test(contender)
        if findings is None:
            continue
        steps.append(Step(contender, tuple(findings)))
        if not steps[-1].is_certified:
            break
    passed = [step for step in steps if step.is_certified]
    chosen = max(passed, key=lambda step: step.contender.score, default=None)
    return Walk(tuple(steps), chosen)
