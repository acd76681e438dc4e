"""The width of prediction intervals of a saved model, from labelled rows that it never had."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.data.conforming import Place, row_of
from automl_admm.pipelines.intervals import half_width
from automl_admm.runs.finish.model_file import rows_for_the_model
from automl_admm.runs.saved.labelled_rows import open_run
from automl_admm.runs.saved.row_origin import count_learned, find_origin
from automl_admm.store.run_folder import RunFolder

# Of rows that nobody had so many may equal one of the run's by chance.
BY_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Calibration:
    """The half width of all intervals, and the number of rows that it comes from.

    With a `doubt` nobody knows if the model learned from these rows.
    """

    half_width: float
    rows: int
    doubt: str | None


def calibrate(
    folder: RunFolder, frame: Any, coverage: float, data: str, place: Place = row_of
) -> Calibration:
    """Return the width of intervals around the predictions of a run's model.

    Rows that the model learned from are refused: its errors on them are too small.
    """
    run = open_run(folder, frame, data, place)
    table = run.table(run.counted(frame.reset_index(drop=True)))
    if table.classes is not None:
        raise ConfigurationError(
            "intervals are for a quantity, and this model predicts classes.",
            hint="Its probabilities say how sure it is.",
        )
    if table.roles.weights is not None:
        raise ConfigurationError("intervals heed no weights of rows, and the run has some.")
    origin, _ = find_origin(run, table, len(table.y), None)
    learned = count_learned(run, origin) or 0
    if learned > BY_CHANCE * len(table.y):
        raise DataError(
            f"{data}: the model learned from {learned} of these {len(table.y)} rows, "
            "and intervals by them would be too narrow.",
            hint="Give labelled rows that were not in the table of the run.",
        )
    with rows_for_the_model():
        errors = np.asarray(run.pipeline.predict(table.X), dtype=float) - np.asarray(table.y)
    found = half_width(errors, coverage)
    if math.isinf(found):
        rows_are = "1 row is" if len(table.y) == 1 else f"{len(table.y)} rows are"
        raise DataError(
            f"{data}: {rows_are} too few for intervals that hold "
            f"{100 * coverage:g} % of new ones; it takes {math.ceil(coverage / (1 - coverage))}."
        )
    return Calibration(found, len(table.y), origin.doubt)
