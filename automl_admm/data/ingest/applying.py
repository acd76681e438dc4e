"""Read any table by the facts of training."""

from __future__ import annotations

from typing import Any

from automl_admm.data.conforming import Place, row_of
from automl_admm.data.ingest.records import Ingest


def make_columns(frame: Any, ingest: Ingest, place: Place = row_of) -> Any:
    """Return the columns that pipelines take, made of the raw columns of a frame.

    Plain columns are expected in the types of training already. Columns without a reading are left
    out. A cell that cannot be read raises a DataError with its place.
    """
    del place
    return frame if ingest.is_plain else frame[[reading.name for reading in ingest.readings]]
