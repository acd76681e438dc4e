"""Rows to predict with categories that the fit of an estimator did not see."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.core.errors import NewValuesWarning
from automl_admm.data.trained_levels import NewLevels, find_levels
from automl_admm.runs.finish.outcome import PipelineResult

# From the warning to the caller of `predict`, past that and the method that checks its rows.
TO_CALLER = 4


def levels_of(outcome: PipelineResult) -> dict[str, list[str]]:
    """Return the categories and tags that the model learned from, by their columns."""
    work = outcome.preparation.work
    return find_levels(work.table.X, (*work.context.categorical, *work.context.tags))


def warn_of_new_values(levels: Mapping[str, Sequence[str]], rows: Any) -> None:
    """Warn, in the name of the caller of `predict`, of columns with many new values."""
    new_levels = NewLevels.of_levels(levels)
    new_levels.add(rows)
    for line in new_levels.lines():
        warnings.warn(line, NewValuesWarning, stacklevel=TO_CALLER)
