"""The checks that a certificate and a file of a model are those of the folder of a run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automl_admm.certify.certificate import Certificate
from automl_admm.core.run import RunState
from automl_admm.store.file_schemas import SCRIPT_SHA256
from automl_admm.store.json_content import read_file
from automl_admm.store.run_folder import RunFolder


def is_of_the_model(
    folder: RunFolder, certificate: Certificate, manifest: Mapping[str, Any] | None
) -> bool:
    """Return True if neither a certificate nor the file of its model has changed since the run."""
    if manifest is None or certificate.model_sha256 != manifest["sha256"]:
        return False
    if not folder.model.exists() or digest(folder.model) != certificate.model_sha256:
        return False
    return bool(manifest["certificate_sha256"] == digest(folder.certificate))


def tell_swapped(
    folder: RunFolder, content: Mapping[str, Any], manifest: Mapping[str, Any] | None
) -> str | None:
    """Say that the file of a model is another one than `model.json` describes; None if it is not.

    A run that goes on may be writing both.
    """
    is_written = content.get("state") != RunState.RUNNING and folder.model.exists()
    if manifest is None or not is_written or digest(folder.model) == manifest["sha256"]:
        return None
    return (
        f"{folder.model.name} is not the file that the run wrote: all that is said of the model is "
        "of another one. Restore it, or fit again."
    )


def tell_other_script(folder: RunFolder, manifest: Mapping[str, Any] | None) -> str | None:
    """Say that a script is not the one of the model beside it; None if it is."""
    if manifest is None or not folder.script.exists():
        return None
    if digest(folder.script) == manifest[SCRIPT_SHA256]:
        return None
    return f"'{folder.script}' is not the script that the run wrote for its model"


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(read_file(path)).hexdigest()
