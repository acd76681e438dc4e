"""The check that a certificate is of the model in the folder of its run."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from automl_admm.certify.certificate import Certificate
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
    return manifest.get("certificate_sha256") in (None, digest(folder.certificate))


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(read_file(path)).hexdigest()
