"""Check the answers of a fitted pipeline before anything is measured on them.

A component may be anybody's code: its answers may have another length, hold NaN, or labels unknown
to the target. Such an outcome is `invalid`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.core.errors import InvalidOutcome
from automl_admm.pipelines.labels import is_turned, sorted_order

NUMBERS = "fiub"
# Probabilities in single precision of a thousand classes add up to 1 within this.
ROUNDING = 1e-3
SHOWN_CHARACTERS = 40


def check_predictions(predictions: Any, rows: int) -> None:
    """Raise if these are not finite numbers, a row of them for each row asked about."""
    if predictions.dtype.kind not in NUMBERS:
        raise InvalidOutcome(f"the predictions are no real numbers but {predictions.dtype}")
    if predictions.shape[:1] != (rows,):
        given = len(predictions) if predictions.ndim else "one value"
        raise InvalidOutcome(f"the predictions are of the wrong length: {given} for {rows} rows")
    if not np.isfinite(predictions).all():
        raise InvalidOutcome("the predictions are not all finite")


def check_probabilities(probabilities: Any, classes: int) -> None:
    """Raise if a row does not hold the probabilities of classes.

    A class absent from the training rows may be left out.
    """
    if probabilities.ndim != 2 or probabilities.shape[1] > classes:
        raise InvalidOutcome(
            f"the probabilities have the shape {probabilities.shape} for {classes} classes"
        )
    if (probabilities < -ROUNDING).any() or (probabilities > 1 + ROUNDING).any():
        raise InvalidOutcome("the probabilities are not all between 0 and 1")
    if (np.abs(probabilities.sum(axis=1) - 1) > ROUNDING).any():
        raise InvalidOutcome("the probabilities do not add up to 1 in every row")


def number_labels(labels: Any, classes: Any) -> Any:
    """The places of predicted labels among the classes; raises if one is not there.

    A search for the place alone would take an unknown label for one of its neighbours.
    """
    found = np.asarray(labels)
    order = sorted_order(classes)
    try:
        places = np.searchsorted(classes, found, sorter=order)
        # A label beyond all others has no place; its neighbour then shows that it is unknown.
        places = order[np.minimum(places, len(classes) - 1)]
        is_known = np.asarray(classes)[places] == found
    except TypeError as problem:
        raise InvalidOutcome(f"the predicted labels are of another type: {problem}") from problem
    if not np.all(is_known):
        unknown = str(found[~is_known].flat[0])[:SHOWN_CHARACTERS]
        raise InvalidOutcome(f"the label '{unknown}' was predicted, which is not in the target")
    return places


def turn(predictions: Any, classes: Any) -> Any:
    """Probabilities or scores of a pipeline in the order of the classes, the positive one last."""
    found = np.asarray(predictions)
    if not is_turned(classes):
        return found
    if found.ndim == 1:
        return -found
    return found[:, ::-1]
