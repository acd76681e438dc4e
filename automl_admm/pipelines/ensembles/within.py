"""Limits that predictions tell and no threshold moves, on the mean of several predictions.

A gap of AUROC, a calibration error or the error of a quantity is what the predictions make it: an
ensemble keeps such a limit only if its members are chosen for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

from automl_admm.core.evidence import Evidence
from automl_admm.core.fold_means import means_over_folds
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import violation
from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import Excess
from automl_admm.pipelines.ensembles.rated import Part
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.pipelines.thresholds.single import evidence_or_nan, settled
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint, ConstraintFunction

if TYPE_CHECKING:
    from automl_admm.pipelines.work import PipelineWork

# The evidence of each limit on a part.
Found = Sequence[Evidence]


def still_limits(work: PipelineWork) -> list[tuple[Constraint, Limit]]:
    """Return the constraints that predictions alone tell and no threshold moves, with their aims.

    A quantity has no thresholds.
    """
    aims = work.aims or tuple(one.limit for one in work.constraints)
    has_classes = work.table.classes is not None
    return [
        (one, aim)
        for one, aim in zip(work.constraints, aims, strict=True)
        if one.is_told and not (has_classes and moves(one))
    ]


@dataclass(frozen=True, eq=False)
class Within:
    """The limits of a run that an average keeps by its members alone, and what they aim at."""

    work: PipelineWork
    constraints: tuple[Constraint, ...]
    aims: tuple[Limit, ...]
    # By part; selections on several parts meet the same means again.
    bases: dict[int, _Base] = field(default_factory=dict)
    known: dict[tuple[int, bytes], Found] = field(default_factory=dict)

    @classmethod
    def of(cls, work: PipelineWork) -> Within | None:
        """Return the limits that no threshold moves; None if there are none."""
        pairs = still_limits(work)
        found = cls(work, tuple(one for one, _ in pairs), tuple(aim for _, aim in pairs))
        return found if pairs else None

    def on(self, parts: Sequence[Part]) -> Excess:
        """Return the function from a prediction of all rows to its excess on some parts."""
        return lambda prediction: self.excess([self.seen(prediction, one) for one in parts])

    def excess(self, found: Sequence[Found]) -> float:
        """Return how far parts are outside the limits together; infinite without a value."""
        return violation(means_over_folds(found).tolist(), self.aims)

    def seen(self, prediction: Array, part: Part) -> Found:
        """Return the evidence of each limit on a part; that of NaN where one has no value."""
        answers = prediction[part.places]
        key = id(part), sha256(answers.tobytes()).digest()
        if key not in self.known:
            self.known[key] = self._base(part).measured(answers)
        return self.known[key]

    def _base(self, part: Part) -> _Base:
        if id(part) not in self.bases:
            self.bases[id(part)] = _Base.of(self.work, self.constraints, part)
        return self.bases[id(part)]


@dataclass(frozen=True, eq=False)
class _Base:
    """The rows of a part, with everything but predictions, and the functions of the limits."""

    part: Part
    shown: EvaluatedPipeline
    functions: tuple[ConstraintFunction, ...]

    @classmethod
    def of(cls, work: PipelineWork, constraints: Sequence[Constraint], part: Part) -> _Base:
        """Groups of rows are found here, once for all predictions; X is not looked at."""
        rows = part.rows
        shown = EvaluatedPipeline(
            None,
            None,
            rows.y,
            None,
            fit_seconds=0.0,
            predict_seconds=0.0,
            sensitive=rows.sensitive,
            weights=rows.roles.weights,
            origins=work.origins,
        )
        return cls(part, shown, tuple(settled(one.function, shown) for one in constraints))

    def measured(self, answers: Array) -> Found:
        """Return the evidence of each limit on these predictions."""
        is_quantity = self.part.rows.classes is None
        decisions = answers if is_quantity else None
        told = replace(self.shown, predictions=answers, decisions=decisions)
        return [evidence_or_nan(one, told) for one in self.functions]
