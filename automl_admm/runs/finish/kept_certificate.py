"""A certified model of an earlier session, put aside before another one takes its place.

It was proven for the limits of its session, and its look is spent: nobody could have it back.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from automl_admm.certify.certificate import read_certificate
from automl_admm.core.errors import StoreError
from automl_admm.execution.task_folders import read_regular, remove_tree
from automl_admm.store.run_folder import SCRATCH, RunFolder, sync_folder, write_atomically

logger = logging.getLogger(__name__)


@contextmanager
def keeping_certified(folder: RunFolder, *, until_written: bool | None) -> Iterator[None]:
    """Keep the certified model of a folder, with what proves it, in a folder of its own.

    If the next one is certified, too, it is kept `until_written`: a kill leaves one of them whole.
    """
    kept = _keep(folder) if _is_certified(folder) else None
    yield
    if kept is not None and until_written:
        remove_tree(kept)
    elif kept is not None:
        logger.warning(
            "this session certified no model: the certified one of an earlier session is kept in "
            "'%s'",
            kept,
        )


def _keep(folder: RunFolder) -> Path:
    names = (folder.path / f"certified-{number}" for number in count(1))
    kept = next(path for path in names if not path.exists() or _is_the_same(path, folder))
    if kept.exists():  # by a session that was killed
        return kept
    # The next session removes what a kill leaves under this name.
    partial = folder.path / f"{SCRATCH}certified"
    remove_tree(partial)
    partial.mkdir()
    proof = (folder.certificate, folder.rows_set_aside, folder.row_hashes, folder.looks)
    for path in (folder.model, folder.model_manifest, folder.script, *proof):
        if path.is_file():
            write_atomically(partial / path.name, read_regular(path))
    partial.rename(kept)
    sync_folder(folder.path)
    return kept


def _is_the_same(kept: Path, folder: RunFolder) -> bool:
    """Return True if a folder holds the certificate that a run has now, which names its model."""
    try:
        return read_regular(RunFolder(kept).certificate) == read_regular(folder.certificate)
    except OSError:
        return False


def _is_certified(folder: RunFolder) -> bool:
    """Return True for a whole model with a certificate of its own."""
    try:
        certificate = read_certificate(folder.certificate)
        model = read_regular(folder.model)
    except (OSError, StoreError):
        return False
    is_own = hashlib.sha256(model).hexdigest() == certificate.model_sha256
    return certificate.is_certified and is_own
