"""Types of this package that have moved: models saved before still name their old modules."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

SCHEMA = "schema.json"
# Old name → new name. Only types of ours: where others move theirs is for skops to know.
MOVED: Mapping[str, str] = MappingProxyType(
    {
        "automl_admm.evaluation.stacking.StackedPredictions": (
            "automl_admm.pipelines.stacking.StackedPredictions"
        ),
        "automl_admm.limits.group_classifier.GroupThresholdClassifier": (
            "automl_admm.constraints.group_classifier.GroupThresholdClassifier"
        ),
    }
)


def name_anew(content: bytes) -> bytes:
    """Return a model's file with moved types under their new names, and all else as it is.

    The file on the disk keeps its bytes: its hash stands in the manifest and the certificate.
    """
    with ZipFile(io.BytesIO(content)) as archive:
        schema = archive.read(SCHEMA).decode()
        if not any(old.rpartition(".")[0] in schema for old in MOVED):
            return content
        renamed = json.dumps(json.loads(schema, object_hook=_rename)).encode()
        buffer = io.BytesIO()
        with ZipFile(buffer, "w", ZIP_DEFLATED) as copy:
            for item in archive.infolist():
                copy.writestr(item, renamed if item.filename == SCHEMA else archive.read(item))
    return buffer.getvalue()


def _rename(node: dict[str, Any]) -> dict[str, Any]:
    """Give a node of the schema its new module and class, if its type has moved."""
    new = MOVED.get(f"{node.get('__module__')}.{node.get('__class__')}")
    if new is None:
        return node
    module, _, name = new.rpartition(".")
    return node | {"__module__": module, "__class__": name}
