"""Labelled rows for a report, given in Python as a frame or as the name of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.messages import say_value

if TYPE_CHECKING:
    from automl_admm.report.rows.given import RowsAsked


def rows_asked(run: Path, data: Any, groups: Sequence[str]) -> RowsAsked | None:
    """Return the rows, read as the run read its own; None without any."""
    from automl_admm.data.reading.streams import title_of
    from automl_admm.data.reading.tables import place_in
    from automl_admm.report.rows.given import RowsAsked
    from automl_admm.runs.finish.model_file import read_rows
    from automl_admm.store.run_folder import RunFolder

    groups = (groups,) if isinstance(groups, str) else tuple(groups)
    if data is None:
        if groups:
            raise ConfigurationError(
                "groups compares rows of a table, and there is none.", hint="Give data, too."
            )
        return None
    if isinstance(data, str | os.PathLike):
        source, folder = Path(data), RunFolder(run)
        frame = read_rows(folder.read(folder.model_manifest), source)
        return RowsAsked(frame, title_of(source), source, groups, place_in(source))
    if not hasattr(data, "columns") or not hasattr(data, "iloc"):
        raise ConfigurationError(
            f"data must be a frame with the target in it, or a file, not {say_value(data)}."
        )
    return RowsAsked(data, "data", None, groups)
