"""A certified model of an earlier session, put aside before one without a proof takes its place.

It was proven for the limits of its session, and its look is spent: nobody could have it back.
"""

from __future__ import annotations

import hashlib
import logging
from itertools import count
from pathlib import Path

from automl_admm.certify.certificate import read_certificate
from automl_admm.core.errors import StoreError
from automl_admm.execution.task_folders import read_regular
from automl_admm.store.run_folder import RunFolder, write_atomically

logger = logging.getLogger(__name__)


def keep_certified(folder: RunFolder) -> Path | None:
    """Copy the certified model of a folder, with what proves it, into a folder of its own.

    Return the path of that; None if the folder has no certified model.
    """
    if not _is_certified(folder):
        return None
    kept = next(
        path for number in count(1) if not (path := folder.path / f"certified-{number}").exists()
    )
    kept.mkdir()
    proof = (folder.certificate, folder.rows_set_aside, folder.row_hashes, folder.looks)
    for path in (folder.model, folder.model_manifest, folder.script, *proof):
        if path.is_file():
            write_atomically(kept / path.name, read_regular(path))
    logger.warning(
        "this session certified no model: the certified one of an earlier session is kept in '%s'",
        kept,
    )
    return kept


def _is_certified(folder: RunFolder) -> bool:
    """Return True for a whole model with a certificate of its own."""
    try:
        certificate = read_certificate(folder.certificate)
        model = read_regular(folder.model)
    except (OSError, StoreError):
        return False
    is_own = hashlib.sha256(model).hexdigest() == certificate.model_sha256
    return certificate.is_certified and is_own
