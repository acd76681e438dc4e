"""What a joint search prices losses and violations at, for solvers that know no constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from automl_admm.core.problem import Evaluation, Limit
from automl_admm.core.ranking import best_of, spread, violation
from automl_admm.search.protocol import Book

FIRST_WEIGHT = 10.0
MARGIN = 2.0
STEEPEST = 10.0
FIRST_REVIEW = 8


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


@dataclass
class Review:
    """Looks at the penalty again whenever twice as much is known."""

    book: Book
    limits: Sequence[Limit]
    penalty: Penalty
    due: float

    @classmethod
    def of(cls, book: Book, limits: Sequence[Limit]) -> Review:
        """One that has come as far as it would be by now if what is known had been new to it."""
        penalty = Penalty.first(book.evaluations)
        for _ in range((len(book.keys) // FIRST_REVIEW).bit_length()):
            penalty = penalty.mended(book.evaluations, limits)
        return cls(book, limits, penalty, max(FIRST_REVIEW, 2 * len(book.keys)))

    def mends(self, *_: object) -> bool:
        """Whether it is time, and the penalty is another now."""
        if not self.limits or len(self.book.keys) < self.due:
            return False
        self.due = 2 * len(self.book.keys)
        before, self.penalty = self.penalty, self.penalty.mended(self.book.evaluations, self.limits)
        return self.penalty != before


def _steepness(
    best: Evaluation, evaluations: Sequence[Evaluation], limits: Sequence[Limit]
) -> float:
    """What a violation must cost at least, as a loss, so that nothing is cheaper than the best."""
    least = violation(best.constraints, limits)
    better = (e for e in evaluations if e.ok and e.loss < best.loss)
    pairs = ((best.loss - e.loss, violation(e.constraints, limits) - least) for e in better)
    return max((gain / breach for gain, breach in pairs if breach > 0.0), default=0.0)
