"""Tables with the target in them, given in Python as a frame or as the name of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value
from automl_admm.data.conforming import conform, with_gaps_by_texts
from automl_admm.data.python_rows import plain_rows
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.table_schema import read_schema
from automl_admm.runs.finish.trained_rows import TrainedRows
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.store.file_schemas import OF_RUN


def read_given(data: Any, name: str, manifest: Mapping[str, Any]) -> GivenTable:
    """Return a table for a model, by its manifest: a file is read as its run read its own."""
    if isinstance(data, str | os.PathLike):
        # No line here says how a text of two readings was read, so such a text is refused.
        return GivenTable.of_file(Path(data), manifest, FileOptions(must_be_sure=True))
    frame = plain_rows(data)
    if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
        raise ConfigurationError(
            f"{name} must be a frame with the target in it, or a file, not {say_value(data)}."
        )
    named = TrainedRows.of_model(manifest).named(frame)
    return GivenTable(_typed(named, manifest), name, manifest=manifest)


def _typed(frame: Any, manifest: Mapping[str, Any]) -> Any:
    """Return a frame with features and sensitive columns in the types of training, as in a file.

    The target and columns with a role have readers of their own.
    """
    sensitive = manifest[OF_RUN]["settings"]["sensitive"]
    schema = read_schema(manifest).part([*manifest["columns"], *sensitive])
    return conform(with_gaps_by_texts(frame, schema), schema)
