"""Pseudo-counts of other tables, as z-solvers use them: a score of selections, and draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from automl_admm.core.priors import ArmPrior, Arms
from automl_admm.core.space import Choice, Decision, SearchSpace, Selection, draw

# Keeps the logarithm of an arm that was never good finite.
LEAST = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """The arms of a space with pseudo-counts; an arm without is as good as the others' mean.

    In a draw the other tables together count as many `pulls` of an arm.
    """

    space: SearchSpace
    arms: Arms
    scores: dict[tuple[str, str], float]
    pulls: float

    @classmethod
    def of(cls, space: SearchSpace, arms: Arms, pulls: float) -> Lessons:
        """Return the lessons for a space; arms that it does not have are ignored."""
        scores: dict[tuple[str, str], float] = {}
        for decision in space.decisions:
            known = _known(decision, arms)
            if known:
                usual = math.log(float(np.mean([max(one.mean, LEAST) for one in known.values()])))
                for arm, one in known.items():
                    scores[arm] = math.log(max(one.mean, LEAST)) - usual
        return cls(space, arms, scores, pulls)

    def score(self, selection: Selection) -> float:
        """Return Σ log(mean of an arm / mean of its decision's arms), 0 if nothing is known."""
        picks = ((name, pick) for name, pick in selection if isinstance(pick, str))
        return sum(self.scores.get(arm, 0.0) for arm in picks)

    def draw(self, rng: np.random.Generator) -> Selection:
        """Draw a selection by Thompson sampling from the pseudo-counts alone."""
        picks = {decision.name: draw(decision, rng) for decision in self.space.decisions}
        for decision in self.space.decisions:
            if isinstance(decision, Choice):
                labels = decision.alternatives
                omegas = {label: self.omega(decision.name, label, rng) for label in labels}
                picks[decision.name] = max(omegas, key=omegas.__getitem__)
        return self.space.complete(picks)

    def omega(self, decision: str, label: str, rng: np.random.Generator) -> float:
        """Draw ω ~ Beta(1 + good, 1 + bad) of an arm, uniform for one without pseudo-counts."""
        one = self.arms.get((decision, label))
        if one is None:
            return float(rng.random())
        return float(rng.beta(1.0 + self.pulls * one.good, 1.0 + self.pulls * one.bad))


def _known(decision: Decision, arms: Arms) -> dict[tuple[str, str], ArmPrior]:
    if not isinstance(decision, Choice):
        return {}
    labels = ((decision.name, label) for label in decision.alternatives)
    return {arm: arms[arm] for arm in labels if arm in arms}
