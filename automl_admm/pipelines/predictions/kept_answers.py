"""The out-of-fold answers of an evaluation as its file has them, with every digit.

A score by rank depends on the last digits: rounded, probabilities near 1 become ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from automl_admm.core.space import Array
from automl_admm.pipelines.predictions.measured import Seen

SCORES = "decision_function"


def answers_of(seen: Sequence[Seen]) -> dict[str, Any]:
    """Return the arrays of a file: the predictions, and scores if a metric may ask for them.

    Many a metric prefers the scores of `decision_function` to probabilities, which follow from them
    but have more ties. If it exists and nobody asked for it, its array is empty.
    """
    found = {"predictions": np.concatenate([one.part.predictions for one in seen])}
    if any(hasattr(one.pipeline, SCORES) for one in seen):
        found[SCORES] = _scores(seen)
    return found


def _scores(seen: Sequence[Seen]) -> Array:
    known = [one.answers.answer(SCORES) for one in seen]
    if any(scores is None for scores in known):
        return np.empty(0)
    found = [np.asarray(scores) for scores in known]
    # A fold whose training rows lack a class has scores of another shape.
    is_alike = len({scores.shape[1:] for scores in found}) == 1
    return np.concatenate(found) if is_alike else np.empty(0)
