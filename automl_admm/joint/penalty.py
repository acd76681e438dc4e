"""What a joint search prices losses and violations at, for solvers that know no constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from automl_admm.problem import Evaluation, Limit
from automl_admm.ranking import best_of, spread, violation

FIRST_WEIGHT = 10.0
MARGIN = 2.0
STEEPEST = 10.0


class Penalty(NamedTuple):
    """The unit of losses, and the weight of Σ_m violation_m beside losses in it.

    At first a breach by a tenth of a limit weighs as much as a usual gain.
    """

    unit: float
    weight: float = FIRST_WEIGHT

    @classmethod
    def first(cls, evaluations: Iterable[Evaluation]) -> Penalty:
        """The penalty that a search begins with."""
        return cls(spread(evaluation.loss for evaluation in evaluations))

    def mended(self, evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> Penalty:
        """One by which what is best is the cheapest of all, too; itself, if it is by this one.

        A penalty is exact if weight · unit is above max_e (f_best − f_e) / (v_e − v_best), over
        all e with a lower loss f and a larger violation v. A step is tenfold at most: a breach by
        a hair makes that ratio as large as may be.
        """
        best = best_of(evaluations, limits)
        if best is None:
            return self
        needed, slope = _steepness(best, evaluations, limits), self.weight * self.unit
        if needed <= slope:
            return self
        unit = spread(evaluation.loss for evaluation in evaluations if evaluation.ok)
        return Penalty(unit, min(MARGIN * needed, STEEPEST * slope) / unit)


def _steepness(
    best: Evaluation, evaluations: Sequence[Evaluation], limits: Sequence[Limit]
) -> float:
    """What a violation must cost at least, as a loss, so that nothing is cheaper than the best."""
    least = violation(best.constraints, limits)
    better = (e for e in evaluations if e.ok and e.loss < best.loss)
    pairs = ((best.loss - e.loss, violation(e.constraints, limits) - least) for e in better)
    return max((gain / breach for gain, breach in pairs if breach > 0.0), default=0.0)
