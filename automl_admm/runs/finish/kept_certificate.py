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
from automl_admm.store.run_folder import OF_CERTIFIED, RunFolder, write_atomically
from automl_admm.store.whole_files import sync_folder

logger = logging.getLogger(__name__)

# The copy's name while another model is written: only a kill leaves it. With a number it is kept.
BEFORE = "certified-before"
IS_KEPT = (
    "the model that was saved is not certified: the certified one of an earlier session is kept "
    "in '%s'"
)
IS_DAMAGED = (
    "a session was stopped while it wrote another model, and the copy of the certified one, "
    "in '%s', was damaged since"
)


@contextmanager
def keeping_certified(folder: RunFolder, *, until_written: bool | None) -> Iterator[None]:
    """Keep the certified model of a folder, with its proof, while another one is written.

    `until_written` removes the copy once the next model is whole; else a line says where it is.
    """
    is_kept = _is_certified(folder)
    if is_kept:
        _copy(folder)
    yield
    if is_kept and until_written:
        _drop(folder)
    elif is_kept:
        _retain(folder)


def settle_certified(folder: RunFolder) -> None:
    """Bring the certified model back if a kill left another one half written in its place."""
    before = folder.path / BEFORE
    if not before.is_dir():
        return
    is_whole = _is_whole(folder)
    if is_whole and _is_certified(folder):
        _drop(folder)
    elif is_whole:
        _retain(folder)
    elif not _is_certified(RunFolder(before)):  # a damaged copy replaces nothing
        _retain(folder, IS_DAMAGED)
    else:
        _bring_back(folder)


def _copy(folder: RunFolder) -> None:
    # The next session removes what a kill leaves under this name.
    partial = _emptied_scratch(folder)
    partial.mkdir()
    for path in (*_files(folder), folder.looks):
        if path.is_file():
            write_atomically(partial / path.name, read_regular(path))
    partial.rename(folder.path / BEFORE)
    sync_folder(folder.path)


def _files(folder: RunFolder) -> tuple[Path, ...]:
    proof = (folder.certificate, folder.rows_set_aside, folder.row_hashes)
    return (*proof, folder.script, folder.model, folder.model_manifest)


def _emptied_scratch(folder: RunFolder) -> Path:
    scratch = folder.path / OF_CERTIFIED
    remove_tree(scratch)
    return scratch


def _drop(folder: RunFolder) -> None:
    # At once: a kill while its files are removed would leave a model without its proof.
    scratch = (folder.path / BEFORE).rename(_emptied_scratch(folder))
    remove_tree(scratch)


def _retain(folder: RunFolder, told: str = IS_KEPT) -> None:
    names = (folder.path / f"certified-{number}" for number in count(1))
    kept = (folder.path / BEFORE).rename(next(path for path in names if not path.exists()))
    sync_folder(folder.path)
    logger.warning(told, kept)


def _bring_back(folder: RunFolder) -> None:
    """Copy the files back, the manifest last: until then the model is torn, and a kill harmless.

    Looks stay as they are: none is ever taken back.
    """
    for path in _files(folder):
        kept = folder.path / BEFORE / path.name
        if kept.is_file():
            write_atomically(path, read_regular(kept))
        else:
            path.unlink(missing_ok=True)
    _drop(folder)
    logger.warning(
        "a session was stopped while it wrote another model: the certified one of an earlier "
        "session is back in its place"
    )


def _is_whole(folder: RunFolder) -> bool:
    """Return True if the model and the certificate, or its absence, are as the manifest says."""
    try:
        manifest = folder.read(folder.model_manifest)
        model = read_regular(folder.model)
        proof = read_regular(folder.certificate) if folder.certificate.exists() else None
    except (OSError, StoreError):
        return False
    there = (_digest(model), None if proof is None else _digest(proof))
    return there == (manifest.get("sha256"), manifest.get("certificate_sha256"))


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_certified(folder: RunFolder) -> bool:
    """Return True for a whole model with a certificate of its own."""
    try:
        certificate = read_certificate(folder.certificate)
        model = read_regular(folder.model)
    except (OSError, StoreError):
        return False
    return certificate.is_certified and _digest(model) == certificate.model_sha256
