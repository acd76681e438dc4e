"""Rows of a run in its script: a text with a bit a row."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from automl_admm.pipelines.ensembles.fold_models import shipped_folds
from automl_admm.runs.finish.outcome import PipelineResult

WIDTH = 88


def packed_rows(is_kept: Any) -> str:
    """Return code that tells for each row if it is one of those given."""
    packed = base64.b85encode(zlib.compress(np.packbits(is_kept).tobytes(), 9)).decode()
    parts = (packed[at : at + WIDTH] for at in range(0, len(packed), WIDTH))
    wrapped = "\n".join(f'    "{part}"' for part in parts)
    return f"unpack_rows(\n{wrapped},\n    {len(is_kept)},\n)"


def packed_folds(outcome: PipelineResult) -> list[str]:
    """Return code for the rows of each shipped fold model; nothing for a fit on all rows.

    Of a file that was read in part the rows are unknown to the script.
    """
    work, config = outcome.preparation.work, outcome.preparation.config
    if outcome.refit.of_folds is None or config.share is not None:
        return []
    found = []
    for place in shipped_folds(work.splits, work.table.roles):
        is_learned = np.zeros(len(work.table.y), dtype=bool)
        is_learned[np.asarray(work.splits[place][0], dtype=np.intp)] = True
        found.append(packed_rows(is_learned))
    return found


def fold_lines(folds: list[str]) -> list[str]:
    """Return the lines in `fit` that tell the rows of each fold."""
    rows = [f"        {one}".replace("\n", "\n        ") + "," for one in folds]
    told = "    # The rows of each fold, among those that the run trained on."
    return [told, "    folds = [", *rows, "    ]"]


def whole_target(outcome: PipelineResult) -> Any:
    """Return the target of all rows, in their order, classes as numbers."""
    prepared, work = outcome.preparation, outcome.preparation.work
    whole = np.empty(prepared.rows, dtype=work.table.y.dtype)
    places = np.asarray(prepared.set_aside, dtype=np.intp)
    is_kept = np.ones(prepared.rows, dtype=bool)
    is_kept[places] = False
    whole[is_kept] = work.table.y
    if work.held_out is not None:
        whole[places] = work.held_out.y
    return whole
