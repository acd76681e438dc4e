"""The folder of a task: made before it starts, gone when it is handed out unless it is kept."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from automl_admm.problem import Status
from automl_admm.protocols import Finished, Task


class Folders:
    """Makes the folders of tasks below `scratch`, or below a temporary folder of its own."""

    def __init__(self, scratch: Path | None) -> None:
        self._own = tempfile.TemporaryDirectory(prefix="automl-admm-") if scratch is None else None
        self.scratch = Path(self._own.name if self._own else scratch or "").absolute()

    def make(self, task: Task) -> Path:
        """An empty folder; what an earlier task of this number left is no result of this one."""
        folder = self.scratch / f"task-{task.number}"
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        return folder

    def hand_out(self, finished: Finished, folder: Path, *, keep: bool) -> Finished:
        """Add the folder to what is handed out, or remove it."""
        if keep and finished.status is Status.SUCCESS:
            return replace(finished, folder=folder)
        shutil.rmtree(folder, ignore_errors=True)
        return finished

    def close(self) -> None:
        """Remove the temporary folder, if there is one."""
        if self._own is not None:
            with contextlib.suppress(OSError):  # a dying process may still write below it
                self._own.cleanup()
