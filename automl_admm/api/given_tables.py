"""Tables with the target in them, given in Python as a frame or as the name of a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value
from automl_admm.data.conforming import Place, row_of
from automl_admm.data.python_rows import plain_rows
from automl_admm.data.reading.file_options import FileOptions
from automl_admm.data.reading.streams import title_of
from automl_admm.data.reading.tables import place_in
from automl_admm.runs.finish.model_file import read_rows
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class GivenTable:
    """A table, its name in messages, the place of a row in it, and its file if it has one."""

    frame: Any
    title: str
    source: Path | None = None
    place: Place = row_of

    @classmethod
    def read(
        cls, folder: RunFolder, data: Any, name: str, manifest: Mapping[str, Any] | None = None
    ) -> GivenTable:
        """Return the rows, those of a file read as the run read its own.

        Whoever has read the manifest of its model before gives it.
        """
        if isinstance(data, str | os.PathLike):
            source = Path(data)
            read_by = folder.read(folder.model_manifest) if manifest is None else manifest
            # No line here says how a text of two readings was read, so such a text is refused.
            sure = FileOptions(must_be_sure=True)
            frame = read_rows(read_by, source, options=sure)
            return cls(frame, title_of(source), source, place_in(source))
        frame = plain_rows(data)
        if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
            raise ConfigurationError(
                f"{name} must be a frame with the target in it, or a file, not {say_value(data)}."
            )
        return cls(frame, name)
