"""Labelled rows for a report, given in Python as a frame or as the name of a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from automl_admm.core.errors import ConfigurationError

if TYPE_CHECKING:
    from automl_admm.report.rows.given import RowsAsked


def rows_asked(run: Path, data: Any, groups: Sequence[str]) -> RowsAsked | None:
    """Return the rows, read as the run read its own; None without any."""
    from automl_admm.api.given_tables import read_given
    from automl_admm.report.rows.given import RowsAsked
    from automl_admm.store.run_folder import RunFolder

    groups = (groups,) if isinstance(groups, str) else tuple(groups)
    if data is None:
        if groups:
            raise ConfigurationError(
                "groups compares rows of a table, and there is none.", hint="Give data, too."
            )
        return None
    folder = RunFolder(run)
    given = read_given(data, "data", folder.read(folder.model_manifest))
    return RowsAsked(given.frame, given.title, given.source, groups, given.place)
