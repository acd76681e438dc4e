"""The encoding that the user named for the training file of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.data.reading.encodings import is_utf8_name
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.store.file_schemas import OF_RUN


def encoding_before(manifest: Mapping[str, Any]) -> NamedEncoding | None:
    """Return the encoding that the user named; None for UTF-8, as its text is known as such."""
    request = manifest[OF_RUN]["request"]
    name = request.get("encoding")
    if name is None or is_utf8_name(name):
        return None
    return NamedEncoding(name, request.get("found_encoding"))
