"""A change of a run as one step: cut short, it is undone or ended by the next session.

The log is put aside first and `run.json` is written last. In between `change.json` stands for the
step: while `run.json` is still the old one, the old log is brought back.
"""

from __future__ import annotations

import hashlib
import logging
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import StoreError
from automl_admm.core.messages import resume_command
from automl_admm.execution.task_folders import remove_tree
from automl_admm.store.file_schemas import SCHEMAS
from automl_admm.store.files import StoreFiles, free_name
from automl_admm.store.json_content import read_content
from automl_admm.store.run_folder import RunFolder, write_json
from automl_admm.store.sqlite.lock import RunLock
from automl_admm.store.sqlite.log import SqliteStore
from automl_admm.store.whole_files import sync_folder

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change under way: the settings before it, the copy of the log, and lost predictions."""

    settings_sha256: str
    log: Path
    is_void: bool


def begin_change(folder: RunFolder, *, is_void: bool) -> Path:
    """Note the beginning; return the place for a copy of the log.

    With `is_void` the kept predictions are removed when the change ends.
    """
    log = free_name(folder.store)
    sha256 = _hash_of_settings(folder)
    write_json(folder.change, {"settings_sha256": sha256, "log": log.name, "void": is_void})
    return log


def end_change(folder: RunFolder) -> None:
    """End a change, if there is one, after `run.json` says what is new."""
    change = _read(folder)
    if change is None:
        return
    if change.is_void:
        remove_tree(folder.predictions)
    folder.change.unlink()
    sync_folder(folder.path)


def settle_change(folder: RunFolder) -> None:
    """Undo or end the change of a session that was cut short; raise if that session still runs."""
    if _read(folder) is None or _is_ended(folder):
        return
    with closing(SqliteStore(folder.store, write=True)) as store:
        change = _read(folder)
        if change is None:  # another process was quicker
            return
        if change.log.exists():
            store.bring_back(change.log)
            told = "a session ended while it changed what the run in '%s' is about: %s"
            logger.warning(told, folder.path, "the evaluations before it are back")
        folder.change.unlink()
        change.log.unlink(missing_ok=True)
        sync_folder(folder.path)


def _is_ended(folder: RunFolder) -> bool:
    """End a change that `run.json` tells of; True if there is none any more.

    The lock alone is taken: to open the log would touch it.
    """
    folder.read(folder.settings)  # else a folder that is refused would have another lock
    lock = RunLock(StoreFiles(folder.store).lock)
    try:
        change = _read(folder)  # it may have ended while its process let go of the lock
        if change is not None and _hash_of_settings(folder) != change.settings_sha256:
            end_change(folder)
        return not folder.change.exists()
    finally:
        lock.release()


def refuse_half_changed(folder: RunFolder) -> None:
    """Raise if the log is of a change that goes on, or that was cut short."""
    change = _read(folder)
    if change is None or not change.log.exists():
        return
    if _hash_of_settings(folder) == change.settings_sha256:
        raise StoreError(
            f"the run in '{folder.path}' is in the middle of a change of its data or settings: its "
            f"evaluations are in '{change.log.name}'.",
            hint=f"Bring them back with: {resume_command(folder.path)}",
        )


def _read(folder: RunFolder) -> _Change | None:
    try:
        found = read_content(folder.change, SCHEMAS[folder.change.name])
    except FileNotFoundError:
        return None
    # A name alone: a file from elsewhere could name one outside of the folder.
    log = folder.path / Path(found["log"]).name
    return _Change(found["settings_sha256"], log, found["void"])


def _hash_of_settings(folder: RunFolder) -> str:
    folder.read(folder.settings)  # a missing or damaged one is told in our words
    return hashlib.sha256(folder.settings.read_bytes()).hexdigest()
