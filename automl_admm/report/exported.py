"""The folder of a run for an exporter, and the folder that it writes into."""

from __future__ import annotations

from pathlib import Path

from automl_admm.core.errors import ConfigurationError, StoreError
from automl_admm.core.run import SavedRun
from automl_admm.report.view import RunView, read_view


def view_of(run: SavedRun) -> RunView:
    """Return the files of a run; raise if it has no folder."""
    if run.info.folder is None:
        raise StoreError("the run has no folder to export from.")
    return read_view(run.info.folder)


def folder_for(target: str) -> Path:
    """Make the folder that a target names, or raise."""
    folder = Path(target)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise ConfigurationError(
            f"the folder '{target}' cannot be made: {problem.strerror}.", hint="Name another one."
        ) from problem
    return folder
