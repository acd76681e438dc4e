"""Decisions of a pipeline on rows, and models that decide one class for all of them.

Such a model keeps many limits by saying nothing: no false positives, no gap between any groups. It
is marked, and counts as within no limit.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from automl_admm.core.evaluations import ONE_CLASS
from automl_admm.pipelines.build import predict_scores
from automl_admm.pipelines.labels import UNDECIDED, leaves_undecided, number_decided
from automl_admm.pipelines.predictions.checks import (
    check_predictions,
    check_probabilities,
    number_labels,
    turn,
)
from automl_admm.pipelines.predictions.measured import Seen, Table
from automl_admm.pipelines.predictions.plain_decisions import told_decisions
from automl_admm.pipelines.thresholds.single import response_of
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline

# A pipeline that decides more than one class shows it in the first rows, as a rule.
FIRST_ROWS, GROWTH = 1000, 10
ORDER_SEED = 0
LEAST_SECONDS = 0.5


def decisions_of(pipeline: Any, rows: Table) -> Any:
    """Return the predictions of the rows as class numbers; as a rule they are known already.

    A row that a model leaves undecided has UNDECIDED; of any other model None is no label.
    """
    found = np.asarray(pipeline.predict(rows.X))
    if rows.classes is not None:
        number = partial(number_labels, classes=rows.classes)
        found = number_decided(found, number) if leaves_undecided(pipeline) else number(found)
    check_predictions(found, len(rows.y))
    return found


def predict_unseen(pipeline: Any, rows: Table) -> Any:
    """Return probabilities, else scores, else the class numbers of decisions, all checked."""
    response = response_of(pipeline)
    if not response:
        return decisions_of(pipeline, rows)
    predictions = np.asarray(predict_scores(pipeline, rows.X))
    check_predictions(predictions, len(rows.y))
    if response == "predict_proba" and rows.classes is not None:
        check_probabilities(predictions, len(rows.classes))
    return turn(predictions, rows.classes)


def describe_decisions(seen: Sequence[Seen]) -> dict[str, Any]:
    """Return the rates of two classes, and the single decided class, if it is one for all rows.

    Unknown decisions follow from the scores; only if these call all rows the same is the pipeline
    asked.
    """
    classes = seen[0].rows.classes
    if classes is None:
        return {}
    decisions = [told_decisions(one) for one in seen]
    if _only_class(seen, decisions) is not None:
        decisions = [_asked(one) for one in seen]
    only = _only_class(seen, decisions)
    y = np.concatenate([one.rows.y for one in seen])
    weights = None
    if seen[0].rows.roles.weights is not None:
        weights = np.concatenate([one.rows.roles.weights for one in seen])
    decided = np.concatenate(decisions)
    rates = {"decisions": rates_of(y, decided, weights)} if len(classes) == 2 else {}
    return rates if only is None else rates | {ONE_CLASS: str(classes[only])}


def rates_of(y: Any, decisions: Any, weights: Any = None) -> dict[str, float | None]:
    """Return recall and selection rate of numbered decisions; None without rows.

    If some rows are left undecided, both are of the decided rows, and their shares of all rows and
    of the positive ones come with them.
    """
    called, positive, is_decided = decisions == 1, y == 1, decisions != UNDECIDED
    found = {
        "recall": share_among(positive & is_decided, called, weights),
        "selection_rate": share_among(is_decided, called, weights),
    }
    if is_decided.all():
        return found
    every = np.ones(len(called), dtype=bool)
    return found | {
        "undecided": share_among(every, ~is_decided, weights),
        "undecided_positives": share_among(positive, ~is_decided, weights),
    }


def only_class(rows: Table, decisions: Any) -> str | None:
    """Return the class decided for all rows of several classes; None if there is no such one."""
    decided = np.unique(decisions[decisions != UNDECIDED])
    if rows.classes is None or len(decided) != 1 or len(np.unique(rows.y)) < 2:
        return None
    return str(rows.classes[int(decided[0])])


def share_among(rows: Any, called: Any, weights: Any) -> float | None:
    """Return the share of these rows that is called so, by their weights; None without rows."""
    if not rows.any():
        return None
    return float(np.average(called[rows], weights=None if weights is None else weights[rows]))


def one_class_of(pipeline: Any, table: Table, seconds: float) -> str | None:
    """Return the class decided for all rows of a table; None if there are several.

    The rows come in a random order, and more of them only as long as all are called the same. An
    open question after these `seconds` is taken for several.
    """
    if table.classes is None:
        return None
    begun, rows = time.perf_counter(), np.random.default_rng(ORDER_SEED).permutation(len(table.y))
    first, size, known = 0, FIRST_ROWS, set[int]()
    while first < len(rows):
        part = table.part(rows[first : first + size])
        known |= set(map(int, decisions_of(pipeline, part))) - {UNDECIDED}
        first, size = first + size, size * GROWTH
        # Asking may take as long as the fit did: it comes when time is shortest.
        is_late = time.perf_counter() - begun > max(seconds, LEAST_SECONDS)
        if len(known) > 1 or (is_late and first < len(rows)):
            return None
    return str(table.classes[known.pop()]) if known else None


def _asked(seen: Seen) -> Any:
    """The decisions of the pipeline itself."""
    if seen.part.decisions is not None:
        return np.asarray(seen.part.decisions)
    return decisions_of(seen.answers, seen.rows)


def _only_class(seen: Sequence[Seen], decisions: Sequence[Any]) -> int | None:
    """Return the class number decided for all rows; if folds differ, the most frequent one.

    Folds with constant scores may differ: the class of such a model depends on its training rows.
    A fold of one row shows nothing, as any model has one score there.
    """
    known = [set(map(int, np.unique(found))) - {UNDECIDED} for found in decisions]
    if any(len(classes) != 1 for classes in known):
        return None
    first = [classes.pop() for classes in known]
    telling = [one.part for one in seen if len(one.rows.y) > 1]
    if len(set(first)) > 1 and not (telling and all(map(_is_constant, telling))):
        return None
    return max(set(first), key=first.count)


def _is_constant(part: EvaluatedPipeline) -> bool:
    """Return True if the pipeline decides the same for all rows."""
    predictions = np.asarray(part.predictions)
    return bool((predictions == predictions[:1]).all())
