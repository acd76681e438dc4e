"""A model or an average of models as a graph of ONNX with its probabilities and labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from automl_admm.runs.saved.onnx_export.graph import graph_of
from automl_admm.runs.saved.onnx_export.mean import mean_of
from automl_admm.runs.saved.onnx_export.outputs import add_outputs, inside, is_mean

# A model in ONNX computes some steps in single precision.
TOLERANCE = 1e-4


def as_onnx(model: Any, given: Any, feeds: Mapping[str, Any], *, in_double: bool = False) -> Any:
    """Return `inside(model)` as a model of ONNX; an average has its own precisions."""
    inner = inside(model)
    if is_mean(inner):
        return mean_of(inner, given, feeds)
    return graph_of(model, feeds, in_double=in_double)


def decided(bare: Any, model: Any, room: float) -> bytes:
    """Return a model in ONNX with its probabilities and labels; the bare one stays as it is."""
    found = type(bare)()
    found.CopyFrom(bare)
    add_outputs(found.graph, model, room)
    return bytes(found.SerializeToString())
