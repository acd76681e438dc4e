"""The rows that `fit` takes of a table that is too large for its budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.api.going_on import asked_before
from automl_admm.data.row_portions import Portion, portion_within, read_portion
from automl_admm.runs.config import RunConfig


def portion_of(config: RunConfig, X: Any, target: Any) -> Portion | None:
    """Return the rows to take: those of earlier sessions, else as many as there is time for.

    None stands for all rows; the later check of the data reports a malformed table.
    """
    is_table = isinstance(X, np.ndarray) or hasattr(X, "iloc")
    if not is_table or len(X.shape) != 2 or np.shape(target) != X.shape[:1]:
        return None
    if not config.resumed or config.place is None:
        return portion_within(X, config.seconds, config.begun)
    portion = read_portion(asked_before(config).get("portion"))
    return portion if portion is not None and portion.rows == len(target) else None
