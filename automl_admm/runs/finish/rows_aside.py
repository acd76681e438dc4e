"""The files of the rows set aside: their places, the run's own measurements, and hashes of rows."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from automl_admm.constraints.group_comparison import Grouped
from automl_admm.core.evidence import Evidence, Timing
from automl_admm.data.row_hashes import RowHashes
from automl_admm.runs.prepare.preparation import Preparation
from automl_admm.runs.provenance import machine, row_hashes_of
from automl_admm.store.file_schemas import RUN_ID
from automl_admm.store.run_folder import RunFolder, write_atomically, write_json


def write_rows_aside(
    folder: RunFolder, run_id: str | None, prepared: Preparation, evidence: Sequence[Evidence]
) -> None:
    """Write the places of rows set aside, the run's own measurements, and the hashes of its rows.

    Each row has a number to tell it from others.
    """
    aside, places = prepared.aside, [int(place) for place in prepared.set_aside]
    content: dict[str, Any] = {
        **({} if run_id is None else {RUN_ID: run_id}),
        "rows": prepared.rows,
        "places": places,
        "fraction": None if aside is None else aside.fraction,
        "groups": {
            str(one.limit): list(one.function.names)
            for one in prepared.constraints
            if isinstance(one.function, Grouped)
        },
        "measured": {
            str(one.limit): _as_plain(seen)
            for one, seen in zip(prepared.constraints, evidence, strict=False)
            if one.kind == "measured"
        },
    }
    if content["measured"]:
        content["machine"] = machine()
    if prepared.work.tested is not None:
        content["tested"] = [int(place) for place in prepared.work.tested]
    write_json(folder.rows_set_aside, content)
    file, hashes = io.BytesIO(), _hashes(prepared)
    for kind in (hashes.exact, hashes.canonical, hashes.placed, hashes.written):
        np.save(file, kind)
    write_atomically(folder.row_hashes, file.getvalue())


def _as_plain(evidence: Evidence) -> float | list[float] | None:
    if isinstance(evidence, Timing):
        return [float(value) for value in evidence.values]
    return float(evidence.value) if math.isfinite(evidence.value) else None


def _hashes(prepared: Preparation) -> RowHashes:
    """Return the hashes of every row of the data, in their order."""
    hashes = RowHashes(*np.zeros((4, prepared.rows), dtype=np.uint64))
    aside = np.zeros(prepared.rows, dtype=bool)
    aside[prepared.set_aside] = True
    for places, table in ((~aside, prepared.work.table), (aside, prepared.work.held_out)):
        if table is not None:
            found = row_hashes_of(table)
            hashes.exact[places], hashes.canonical[places] = found.exact, found.canonical
            hashes.placed[places], hashes.written[places] = found.placed, found.written
    return hashes
