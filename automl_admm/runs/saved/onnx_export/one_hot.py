"""One-hot encoders in ONNX, with new texts, gaps and rare levels as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from automl_admm.runs.saved.onnx_export.nodes import Nodes
from automl_admm.runs.saved.onnx_export.own_converters import Converter, nodes_in

GAP = ""


def of_one_hot(*, in_double: bool = False) -> dict[type, Converter]:
    """Return the converter of one-hot encoders.

    With `in_double` their answers have double precision, as the converter joins columns of both
    precisions in the single one.

    That of skl2onnx lets every new text fail, writes a gap as the text "nan", and refuses
    rare levels in an input of several columns.
    """
    tell_shape = _tell_double if in_double else _tell_shape
    return {OneHotEncoder: Converter(_write, tell_shape)}


def _tell_shape(operator: Any) -> None:
    from skl2onnx.common.data_types import FloatTensorType
    from skl2onnx.shape_calculators.one_hot_encoder import (
        calculate_sklearn_one_hot_encoder_output_shapes as of_any,
    )

    if not _is_ours(operator):
        of_any(operator)
        return
    width = len(operator.raw_operator.get_feature_names_out())
    rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = FloatTensorType([rows, width])


def _tell_double(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    _tell_shape(operator)
    if _is_ours(operator):
        operator.outputs[0].type = DoubleTensorType(operator.outputs[0].type.shape)


def _write(scope: Any, operator: Any, container: Any) -> None:
    from onnx import TensorProto
    from skl2onnx.common.data_types import DoubleTensorType
    from skl2onnx.operator_converters.one_hot_encoder import convert_sklearn_one_hot_encoder

    if not _is_ours(operator):
        convert_sklearn_one_hot_encoder(scope, operator, container)
        return
    encoder, [output] = operator.raw_operator, operator.outputs
    is_double = isinstance(output.type, DoubleTensorType)
    kind = TensorProto.DOUBLE if is_double else TensorProto.FLOAT
    with nodes_in(scope, container, "one_hot") as nodes:
        columns = [one for given in operator.inputs for one in _columns_of(nodes, given)]
        parts = [_encoded(nodes, name, encoder, at) for at, name in enumerate(columns)]
        joined = nodes.add("Concat", *parts, axis=1)
        nodes.name(nodes.add("Cast", joined, to=kind), output.full_name)


def _is_ours(operator: Any) -> bool:
    """Return True for texts if new ones join the rare levels, or have no column."""
    from skl2onnx.common.data_types import StringTensorType

    encoder = operator.raw_operator
    joins = encoder.handle_unknown == "infrequent_if_exist" and encoder.drop is None
    return joins and all(isinstance(one.type, StringTensorType) for one in operator.inputs)


def _texts(levels: Any) -> list[str]:
    """Return levels as a session meets them: a gap is an empty text."""
    texts = [GAP if pd.isna(level) else str(level) for level in levels]
    if len(set(texts)) < len(texts):
        raise ValueError("two levels of a column are the same text, or a gap and an empty text")
    return texts


def _columns_of(nodes: Nodes, given: Any) -> list[str]:
    """Return each column of an input as an array of one column."""
    width = given.type.shape[1]
    if width == 1:
        return [given.full_name]
    return [nodes.add("Gather", given.full_name, nodes.whole(at), axis=1) for at in range(width)]


def _encoded(nodes: Nodes, column: str, encoder: Any, at: int) -> str:
    """Return the columns of the levels, then one of rare levels and new texts.

    The last is 1 if all others are 0: a session need not know the rare levels.
    """
    known = encoder.categories_[at]
    levels, has_truth = _texts(known), any(isinstance(one, bool | np.bool_) for one in known)
    show = _truth_values if has_truth else _shown
    # An encoder that may merge levels, and found none to merge, has None for the column.
    rare = getattr(encoder, "infrequent_categories_", {at: None})[at]
    if rare is None:
        return show(nodes, column, levels)
    merged = set(_texts(rare))
    shown = show(nodes, column, [level for level in levels if level not in merged])
    total = nodes.add("ReduceSum", shown, nodes.whole(1), keepdims=1)
    other = nodes.add("Sub", nodes.array(np.ones(1, dtype=np.float32)), total)
    return nodes.add("Concat", shown, other, axis=1)


def _truth_values(nodes: Nodes, column: str, levels: list[str]) -> str:
    """Return columns of truth values; a session refuses any other text, such as "true".

    With columns of 0 alone, "true" would be neither True nor False, without a word.
    """
    others = [text for text in ("False", "True", GAP) if text not in levels]
    shown = _shown(nodes, column, levels + others, zeros=0)
    return nodes.add("Gather", shown, nodes.whole(*range(len(levels))), axis=1)


def _shown(nodes: Nodes, column: str, levels: list[str], zeros: int = 1) -> str:
    """Return 0 and 1 for each level, of shape (rows, levels); other texts fail at 0 `zeros`."""
    cubes = nodes.add(
        "OneHotEncoder", column, domain="ai.onnx.ml", cats_strings=levels, zeros=zeros
    )
    return nodes.add("Reshape", cubes, nodes.whole(-1, len(levels)))
