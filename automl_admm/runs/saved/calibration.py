"""The width of prediction intervals of a saved model, from labelled rows that it never had."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.core.messages import say_count
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.intervals import half_width, least_count
from automl_admm.runs.finish.model_file import rows_for_the_model
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.labelled_rows import open_run
from automl_admm.runs.saved.natural_twins import tell_copies
from automl_admm.runs.saved.row_origin import count_learned, find_origin
from automl_admm.store.run_folder import RunFolder

# Of rows that nobody had so many may equal one of the run's by chance.
BY_CHANCE = 0.01


@dataclass(frozen=True, slots=True)
class Calibration:
    """The half width of all intervals, and the number of rows that it comes from.

    If the run was told that rows belong together, they are of so many `groups`. With a `doubt`
    nobody knows if the model learned from these rows. `given_twice` is a sentence if more of them
    equal others among them than chance explains.
    """

    half_width: float
    rows: int
    doubt: str | None
    groups: int | None = None
    given_twice: str | None = None


def calibrate(folder: RunFolder, given: GivenTable, coverage: float) -> Calibration:
    """Return the width of intervals around the predictions of a run's model.

    Rows that the model learned from are refused: its errors on them are too small. Where rows
    belong together, the intervals are for rows of new groups. The rows are read by the manifest of
    the model that predicts, so that no other one tells the width.
    """
    run = open_run(folder, given)
    table = run.table(run.counted(given.frame.reset_index(drop=True)))
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
        told = f"the model learned from {learned} of these {len(table.y)} rows"
        raise DataError(
            f"{given.title}: {told}, and intervals by them would be too narrow.",
            hint="Give labelled rows that were not in the table of the run.",
        )
    with unheard_warnings(), rows_for_the_model(run.pipeline, table.X):
        errors = np.asarray(run.pipeline.predict(table.X), dtype=float) - np.asarray(table.y)
    clusters = table.roles.clusters
    groups = None if clusters is None else len(np.unique(clusters))
    found = half_width(errors, coverage, clusters)
    if math.isinf(found):
        counted = say_count(len(table.y), "row") if groups is None else say_count(groups, "group")
        raise DataError(
            f"{given.title}: {counted} {'is' if counted.startswith('1 ') else 'are'} too few for "
            f"intervals that hold {100 * coverage:g} % of new ones; it takes "
            f"{least_count(coverage)}."
        )
    given_twice = tell_copies(run.row_hashes(table), run)
    return Calibration(found, len(table.y), origin.doubt, groups, given_twice)
