"""A table for the model of a run, as it was read: from a file or in Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.data.conforming import Place, row_of
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.streams import title_of
from automl_admm.data.reading.tables import place_in
from automl_admm.runs.finish.model_file import read_rows
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True, eq=False)
class GivenTable:
    """A table, its name in messages, the place of a row in it, and its file if it has one.

    `manifest` is the one by which it was read: no other model answers.
    """

    frame: Any
    title: str
    place: Place = row_of
    manifest: Mapping[str, Any] | None = None
    source: Path | None = None

    @classmethod
    def of_file(
        cls, source: Path, manifest: Mapping[str, Any], options: FileOptions = NO_OPTIONS
    ) -> GivenTable:
        """Read a file as the run of a model read its own."""
        frame = read_rows(manifest, source, options=options)
        return cls(frame, title_of(source), place_in(source, options), manifest, source)

    def manifest_in(self, folder: RunFolder) -> Mapping[str, Any]:
        """Return the manifest by which the table was read, or else that in the folder."""
        return folder.read(folder.model_manifest) if self.manifest is None else self.manifest
