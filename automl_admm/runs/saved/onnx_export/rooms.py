"""Rooms for rounding in the decisions of a model in ONNX."""

from __future__ import annotations

from typing import Any

from automl_admm.runs.saved.onnx_export.outputs import ROOM, inside, is_forest, is_mean
from automl_admm.runs.saved.onnx_export.trees import WORD

# Values in double precision are no further apart.
EQUAL = 1e-9
# Where a row is truly so near, less room may be right.
LESS_ROOM = (1e-6, 1e-7)
# They keep values in double precision; others of their kind have single precision.
DOUBLE = ("ArrayFeatureExtractor", "Imputer", "LabelEncoder", "OneHotEncoder")


def rooms_of(model: Any, graph: Any, difference: float) -> tuple[float, ...]:
    """Return the rooms to try for a model with such a `difference`; the widest first.

    Only a mean has narrower ones, unless all its members are forests: rows may lie on a threshold
    there, as shares of trees do.
    """
    mean = inside(model)
    if not hasattr(model, "classes_") or not is_mean(mean):
        return (ROOM,)
    if difference <= EQUAL and _is_in_double(graph):
        # Where nothing is rounded, even ties are decided as `predict` does, by its rounding.
        return (EQUAL, 0.0) if difference > 0.0 else (0.0,)
    return (ROOM,) if all(map(is_forest, mean.estimators_)) else (ROOM, *LESS_ROOM)


def _is_in_double(graph: Any) -> bool:
    """Return True if no step of a graph rounds to single precision, but as scikit-learn does."""
    return not any(map(_rounds, graph.node))


def _rounds(node: Any) -> bool:
    from onnx import TensorProto

    if any(WORD in name for name in node.output):
        return False
    if node.domain == "ai.onnx.ml":
        return node.op_type not in DOUBLE
    if node.op_type == "Cast":
        return any(one.i == TensorProto.FLOAT for one in node.attribute)
    return False
