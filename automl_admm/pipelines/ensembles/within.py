"""Limits that predictions tell and no threshold moves, on the mean of several predictions.

A gap of AUROC, a calibration error or the error of a quantity is what the predictions make it: an
ensemble keeps such a limit only if its members are chosen for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from automl_admm.core.evidence import Evidence
from automl_admm.core.fold_means import means_over_folds, without_rows
from automl_admm.core.limits import Limit
from automl_admm.core.space import Array
from automl_admm.pipelines.ensembles.greedy import Holds
from automl_admm.pipelines.ensembles.rated import Part, Rows
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

    A quantity has no thresholds. A limit relative to a baseline has no number where this is asked.
    """
    aims = work.aims or tuple(one.limit for one in work.constraints)
    has_classes = work.table.classes is not None
    return [
        (one, aim)
        for one, aim in zip(work.constraints, aims, strict=True)
        if one.is_told and one.of_baseline is None and not (has_classes and moves(one))
    ]


@dataclass(frozen=True, eq=False)
class Within:
    """The limits of a run that an average keeps by its members alone, and what they aim at.

    They are measured as in an evaluation: on all rows of a fold, of a holdout on the rows of its
    parts together.
    """

    work: PipelineWork
    constraints: tuple[Constraint, ...]
    aims: tuple[Limit, ...]
    # Selections on several parts meet the same rows, and the same means on them, again.
    bases: dict[bytes, _Base] = field(default_factory=dict)

    @classmethod
    def of(cls, work: PipelineWork) -> Within | None:
        """Return the limits that no threshold moves; None if there are none."""
        pairs = still_limits(work)
        found = cls(work, tuple(one for one, _ in pairs), tuple(aim for _, aim in pairs))
        return found if pairs else None

    def on(self, parts: Sequence[Part]) -> Holds:
        """Return the function that tells if a prediction of all rows is within, on some parts."""
        folds: dict[int, list[Rows]] = {}
        for part in parts:
            folds.setdefault(part.fold, []).append(part.whole)
        bases = [self._base(np.sort(np.concatenate(some))) for some in folds.values()]
        return lambda prediction: self.holds([one.seen(prediction) for one in bases])

    def holds(self, found: Sequence[Found]) -> bool:
        """Return True if several folds are within the limits together."""
        pairs = zip(self.aims, means_over_folds(found).tolist(), strict=True)
        return all(aim.holds(value) for aim, value in pairs)

    def seen(self, prediction: Array, places: Rows) -> Found:
        """Return the evidence of each limit on some rows; that of NaN where one has no value."""
        return self._base(places).seen(prediction)

    def _base(self, places: Rows) -> _Base:
        """Return what is known of some rows, found once for all predictions."""
        key = _digest(places)
        if key not in self.bases:
            self.bases[key] = self._made(places)
        return self.bases[key]

    def _made(self, places: Rows) -> _Base:
        numbers = np.concatenate([np.asarray(valid) for _, valid in self.work.splits])
        rows = self.work.table.part(numbers[places])
        shown = EvaluatedPipeline(
            None,
            None,
            rows.y,
            None,
            fit_seconds=0.0,
            predict_seconds=0.0,
            sensitive=rows.sensitive,
            weights=rows.roles.weights,
            origins=self.work.origins,
        )
        functions = tuple(settled(one.function, shown) for one in self.constraints)
        return _Base(places, shown, functions, is_quantity=rows.classes is None)


def _digest(array: Array | Rows) -> bytes:
    """Return what an array is known by: of many rows its own bytes would take much memory."""
    return sha256(np.ascontiguousarray(array).data).digest()


@dataclass(frozen=True, eq=False)
class _Base:
    """Some rows with everything but predictions, and the functions of the limits."""

    places: Rows
    shown: EvaluatedPipeline
    functions: tuple[ConstraintFunction, ...]
    is_quantity: bool
    known: dict[bytes, Found] = field(default_factory=dict)

    def seen(self, prediction: Array) -> Found:
        """Return the evidence of each limit, measured once for each prediction of all rows."""
        answers = prediction[self.places]
        key = _digest(answers)
        if key not in self.known:
            self.known[key] = self._measured(answers)
        return self.known[key]

    def _measured(self, answers: Array) -> Found:
        decisions = answers if self.is_quantity else None
        told = replace(self.shown, predictions=answers, decisions=decisions)
        # There are hundreds of predictions, and evidence may hold a number of each row.
        return [without_rows(evidence_or_nan(one, told)) for one in self.functions]
