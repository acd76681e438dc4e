"""The certificate of a run, and the question if it is of the very model in its folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from automl_admm.certify.certificate import Certificate
from automl_admm.store.json_content import read_file
from automl_admm.store.run_folder import RunFolder


def is_of_the_model(
    folder: RunFolder, certificate: Certificate, manifest: Mapping[str, Any] | None
) -> bool:
    """Return True if a certificate is unchanged, and so is the file of the model it is about."""
    if manifest is None or certificate.model_sha256 != manifest["sha256"]:
        return False
    if not folder.model.exists() or _digest(folder.model) != certificate.model_sha256:
        return False
    return manifest.get("certificate_sha256") in (None, _digest(folder.certificate))


def _digest(path: Any) -> str:
    return hashlib.sha256(read_file(path)).hexdigest()
