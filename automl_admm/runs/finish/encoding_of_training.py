"""The encoding that the user named for the training file of a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from automl_admm.data.reading.encodings import is_utf8_name, told_by_bytes
from automl_admm.data.reading.named_encoding import NamedEncoding
from automl_admm.data.trained_levels import LEVELS
from automl_admm.store.file_schemas import OF_RUN


def encoding_before(manifest: Mapping[str, Any]) -> NamedEncoding | None:
    """Return the encoding that the user named for the training file of a model.

    Text in UTF-8 is known as such, and the first versions wrote none. Where an earlier version
    noted nothing on the bytes of the file, the texts that the model keeps may tell.
    """
    request = manifest.get(OF_RUN, {}).get("request", {})
    name = request.get("encoding")
    if name is None or is_utf8_name(name):
        return None
    return NamedEncoding(name, request.get("found_encoding") or _told_by_texts(manifest, name))


def _told_by_texts(manifest: Mapping[str, Any], name: str) -> str | None:
    """Return the encoding of a model's texts in the bytes of its training file, if they tell it."""
    written = "\n".join(_texts(manifest)).encode(name, "ignore")
    return None if written.isascii() else told_by_bytes([written], name)


def _texts(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of columns, the classes and the categories."""
    columns = manifest.get("schema") or ()
    yield from map(str, manifest.get("columns") or ())
    yield from map(str, manifest.get("classes") or ())
    yield from chain(*(manifest.get(LEVELS) or {}).values())
    for column in columns:
        yield from map(str, (column["name"], *(column.get("categories") or ())))
