"""The walk: pipelines are tested in a fixed order, and the best of those that pass is shipped.

The order is *safest first*, every pipeline is tested at the full risk, and the walk stops at the
first failure. A false certificate then needs the first truly infeasible pipeline in this order to
pass its own test, with probability at most the risk (fixed-sequence testing; Angelopoulos et al.
2021, Learn then Test). The order must be fixed on the search's rows alone.

*Best first*, stopping at the first success, would not do at the full risk: every failure gives
another pipeline a chance, and the risks add up. The risk would have to be split among the
candidates (risk / 2, risk / 4, … or a tenth each). `benchmarks/certificates.py` compares these. A
split certifies more often if the pipelines' mistakes are independent, and less often if they are
alike, as on shared test rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from automl_admm.certify.walk.verdicts import Finding, all_certified

MOST_CONTENDERS = 10


@dataclass(frozen=True, slots=True)
class Contender:
    """A candidate for a certificate, as seen on the search's rows.

    `score` is better if larger. `slack` measures safety: the smallest distance to a limit, in
    half-widths (see `slack_of`).
    """

    key: str
    score: float
    slack: float


@dataclass(frozen=True, slots=True)
class Step:
    """A tested contender and its findings, limit by limit."""

    contender: Contender
    findings: tuple[Finding, ...]

    @property
    def is_certified(self) -> bool:
        """True if it may be claimed to be within all limits."""
        return all_certified(self.findings)


@dataclass(frozen=True, slots=True)
class Walk:
    """All tested contenders in order, and the best of those that passed, if any."""

    steps: tuple[Step, ...]
    chosen: Step | None


def order(contenders: Sequence[Contender]) -> tuple[Contender, ...]:
    """At most ten contenders, safest first, each with a better score than those before it.

    Dominated contenders (less safe and no better than another) are left out (Pareto testing). Of
    the rest those within the limits are thinned evenly, with both ends kept; without any, only the
    safest is tried.
    """
    front: list[Contender] = []
    # The key breaks ties, so that verifying finds the same order.
    for one in sorted(contenders, key=lambda one: (-one.slack, -one.score, one.key)):
        if not front or one.score > front[-1].score:
            front.append(one)
    inside = [one for one in front if one.slack > 0] or front[:1]
    places = np.linspace(0, len(inside) - 1, min(len(inside), MOST_CONTENDERS))
    return tuple(inside[place] for place in np.round(places).astype(int))


def walk(
    ordered: Sequence[Contender], test: Callable[[Contender], Sequence[Finding] | None]
) -> Walk:
    """Test in order until one fails, and choose the best of those that passed.

    A contender without a test (None) is passed over. This is sound only if the decision to skip it
    does not use the certification rows.
    """
    steps: list[Step] = []
    for contender in ordered:
        findings = test(contender)
        if findings is None:
            continue
        steps.append(Step(contender, tuple(findings)))
        # A test after a failure would need a share of the risk of its own.
        if not steps[-1].is_certified:
            break
    passed = [step for step in steps if step.is_certified]
    chosen = max(passed, key=lambda step: step.contender.score, default=None)
    return Walk(tuple(steps), chosen)
