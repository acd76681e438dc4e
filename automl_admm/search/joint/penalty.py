"""The joint search's prices of losses and violations, for solvers without constraints."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import best_of, spread, violation
from automl_admm.search.protocol import Book

# A violation of 0.1, a tenth of a limit, then costs one unit of losses.
FIRST_WEIGHT = 10.0
# Twice the least exact weight: at that weight itself the best would only tie.
MARGIN = 2.0
# The largest factor between two weights.
STEEPEST = 10.0
# Fewer candidates say little about the price of a violation.
FIRST_REVIEW = 8


class Penalty(NamedTuple):
    """The unit of losses, and the weight of Σ_m violation_m beside losses in that unit.

    At first a breach by a tenth of a limit weighs as much as a usual gain.
    """

    unit: float
    weight: float = FIRST_WEIGHT

    @classmethod
    def first(cls, evaluations: Iterable[Evaluation]) -> Penalty:
        """Return the penalty at the beginning of a search."""
        return cls(spread(evaluation.loss for evaluation in evaluations))

    def mended(self, evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> Penalty:
        """Return a penalty that makes the best evaluation the cheapest; itself if it does already.

        A penalty is exact if weight · unit is above max_e (f_best − f_e) / (v_e − v_best), over all
        e with a lower loss f and a larger violation v. One step raises it at most tenfold, because
        a breach by a hair makes that ratio arbitrarily large.
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
    """Review the penalty each time the number of known candidates has doubled."""

    book: Book
    limits: Sequence[Limit]
    penalty: Penalty
    due: float

    @classmethod
    def of(cls, book: Book, limits: Sequence[Limit]) -> Review:
        """Replay the known observations so that the penalty is as large as after a fresh run."""
        penalty = Penalty.first(book.evaluations)
        # One round for each doubling since the first review.
        for _ in range((len(book.keys) // FIRST_REVIEW).bit_length()):
            penalty = penalty.mended(book.evaluations, limits)
        return cls(book, limits, penalty, max(FIRST_REVIEW, 2 * len(book.keys)))

    def mends(self, *_: object) -> bool:
        """Return True if a review was due and changed the penalty."""
        if not self.limits or len(self.book.keys) < self.due:
            return False
        # Doubling keeps the number of fresh starts logarithmic in the evaluations.
        self.due = 2 * len(self.book.keys)
        before, self.penalty = self.penalty, self.penalty.mended(self.book.evaluations, self.limits)
        return self.penalty != before


def _steepness(
    best: Evaluation, evaluations: Sequence[Evaluation], limits: Sequence[Limit]
) -> float:
    """Return the least price of a violation, in losses, with nothing cheaper than the best."""
    least = violation(best.constraints, limits)
    better = (e for e in evaluations if e.ok and e.loss < best.loss)
    pairs = ((best.loss - e.loss, violation(e.constraints, limits) - least) for e in better)
    return max((gain / breach for gain, breach in pairs if breach > 0.0), default=0.0)
