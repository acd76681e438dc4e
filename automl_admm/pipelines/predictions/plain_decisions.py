"""Decisions of plain `predict`, told from probabilities or scores where nobody asked for them.

Rows on the default threshold itself are many: neighbours, trees and small forests have few
different probabilities, and one half is among them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.pipelines.labels import sorted_order
from automl_admm.pipelines.predictions.checks import turn
from automl_admm.pipelines.predictions.measured import Seen
from automl_admm.pipelines.thresholds.single import DEFAULTS


def decide_plainly(predictions: Any, classes: Any) -> Any:
    """Return the class numbers that scikit-learn's `predict` decides; of equals the first label.

    First is first among the sorted labels: a tie is positive only if the positive class is that.
    """
    # Turned twice, the columns are those of the sorted labels again.
    found = turn(predictions, classes)
    is_one = found.ndim == 1
    places = found > DEFAULTS["decision_function"] if is_one else found.argmax(axis=1)
    return sorted_order(classes)[places.astype(np.intp)]


def told_decisions(seen: Seen) -> Any:
    """Return the class numbers decided: those of the thresholds or of `predict`, else told."""
    if seen.part.decisions is not None:
        return np.asarray(seen.part.decisions)
    return decide_plainly(seen.part.predictions, seen.rows.classes)
