"""Evidence before the first fit: the expected evidence of a middling pipeline on the given rows.

The number of rows for a certificate, and the safety margin of a search inside its limits, must be
known before the first fit. They depend on the number of rows of each kind, known from the data,
and roughly on the quality of a pipeline, assumed here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from automl_admm.constraints.dry_run import TrialRows, as_asked, right, stand_in
from automl_admm.core.evidence import Evidence
from automl_admm.core.space import Array
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.foreign_calls import measured_by
from automl_admm.plugins.records import (
    Constraint,
)

# Φ(1.19 / √2) = 0.80: scores of the two classes that are so far apart have this AUROC.
APART = 1.19
RIGHT = 0.8
TINY = 1e-6  # of a standard deviation
SEED = 0  # fixed: the planned number of rows must not change from run to run


def imagine(constraints: Sequence[Constraint], rows: TrialRows) -> tuple[Evidence | None, ...]:
    """Return evidence for each limit measured on rows; None for costs and facts.

    As many rows are left undecided as a limit allows, and count for none of the others.
    """
    return _measured(constraints, _leaving(_middling(rows), most_undecided(constraints)))


def most_undecided(constraints: Iterable[Constraint]) -> float:
    """Return the share of rows that the limits let a model leave undecided; 0 without one."""
    allowed = (one.limit.bound for one in constraints if one.allows_undecided)
    return min(allowed, default=0.0)


def imagine_perfect(
    constraints: Iterable[Constraint], rows: TrialRows
) -> tuple[Evidence | None, ...]:
    """Return the evidence of perfect predictions for each limit measured on rows; None for others.

    >>> imagine_perfect([], TrialRows(None, [0, 1], None, 2))
    ()
    """
    return _measured(constraints, right(rows))


def imagine_nearly_perfect(constraint: Constraint, rows: TrialRows) -> Evidence | None:
    """Return the evidence of predictions of a quantity with very small errors.

    Approximate bounds need errors of some spread: those of a model without any are all alike.
    """
    y = np.asarray(rows.y, dtype=float)
    tiny = TINY * float(np.std(y)) * np.random.default_rng(SEED).normal(size=len(y))
    return _measured([constraint], stand_in(rows, y + tiny, y + tiny))[0]


def imagine_one_class(constraint: Constraint, rows: TrialRows) -> Iterator[Evidence | None]:
    """Yield the evidence of pipelines that decide one class for all rows, for each class.

    So the most rows are seen that a limit may rest on, if these hang on decisions.
    """
    for label in range(rows.classes):
        decisions = np.full(len(rows.y), label)
        evaluated = stand_in(rows, np.eye(rows.classes)[decisions], decisions)
        yield from _measured([constraint], evaluated)


def _measured(
    constraints: Iterable[Constraint], evaluated: EvaluatedPipeline
) -> tuple[Evidence | None, ...]:
    constraints = tuple(constraints)
    seen = as_asked(evaluated, constraints)
    return tuple(
        measured_by(constraint.function, seen) if constraint.kind == "statistical" else None
        for constraint in constraints
    )


def _middling(rows: TrialRows) -> EvaluatedPipeline:
    rng, y = np.random.default_rng(SEED), np.asarray(rows.y)
    if not rows.classes:
        # An error of half a standard deviation: R² = 0.75.
        predictions = y + 0.5 * float(np.std(y)) * rng.normal(size=len(y))
        return stand_in(rows, predictions, predictions)
    if rows.classes == 2:
        return stand_in(rows, *_two_classes(y, rng))
    # One in `classes` of these hits the true class, so a little more than RIGHT are right.
    strange = rng.integers(rows.classes, size=len(y))
    decisions = np.where(rng.random(len(y)) < RIGHT, y, strange)
    return stand_in(rows, np.eye(rows.classes)[decisions], decisions)


def _leaving(evaluated: EvaluatedPipeline, share: float) -> EvaluatedPipeline:
    """Leave this share of the rows undecided: of two classes those nearest to the threshold."""
    count = math.floor(share * len(evaluated.y))
    if not count:
        return evaluated
    decisions = np.array(evaluated.decisions)
    if evaluated.predictions.shape[1] == 2:
        nearest = np.argsort(np.abs(evaluated.scores - 0.5), kind="stable")
    else:
        nearest = np.random.default_rng(SEED).permutation(len(decisions))
    decisions[nearest[:count]] = UNDECIDED
    return replace(evaluated, decisions=decisions)


def _two_classes(y: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    """Probabilities of an AUROC of 0.8; as many rows are called positive as there are."""
    scores = APART * y + rng.normal(size=len(y))
    # Shifted so that the positives called are as many as there are: a middling threshold.
    excess = scores - np.quantile(scores, 1.0 - float(np.mean(y)))
    positive = 1.0 / (1.0 + np.exp(-excess))
    return np.column_stack([1.0 - positive, positive]), (excess > 0).astype(int)
