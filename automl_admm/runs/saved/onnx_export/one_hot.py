"""One-hot encoders in ONNX, with new texts, gaps and rare levels as in scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

GAP = ""
# The numbers that ONNX has for types.
FLOAT, INT64, DOUBLE = 1, 7, 11


def of_one_hot(*, in_double: bool = False) -> dict[str, dict[Any, Any]]:
    """Return arguments for `convert_sklearn`: it writes one-hot encoders by this module.

    With `in_double` their answers have double precision, as the converter joins columns of both
    precisions in the single one.

    Its own converter lets every new text fail, writes a gap as the text "nan", and refuses
    rare levels in an input of several columns.
    """
    return {
        "custom_conversion_functions": {OneHotEncoder: _write},
        "custom_shape_calculators": {OneHotEncoder: _tell_double if in_double else _tell_shape},
    }


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
    from skl2onnx.common.data_types import DoubleTensorType
    from skl2onnx.operator_converters.one_hot_encoder import convert_sklearn_one_hot_encoder

    if not _is_ours(operator):
        convert_sklearn_one_hot_encoder(scope, operator, container)
        return
    nodes = _Nodes(scope, container)
    encoder = operator.raw_operator
    columns = [one for put in operator.inputs for one in nodes.columns_of(put)]
    parts = [nodes.encoded(name, encoder, at) for at, name in enumerate(columns)]
    joined = nodes.add("Concat", *parts, axis=1)
    is_double = isinstance(operator.outputs[0].type, DoubleTensorType)
    kind = DOUBLE if is_double else FLOAT
    nodes.add("Cast", joined, result=operator.output_full_names[0], to=kind)


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


def _are_truth_values(levels: Any) -> bool:
    return any(isinstance(level, bool | np.bool_) for level in levels)


class _Nodes:
    """Adds the nodes of one encoder to a graph."""

    def __init__(self, scope: Any, container: Any) -> None:
        self._scope = scope
        self._container = container

    def columns_of(self, given: Any) -> list[str]:
        """Return each column of an input as an array of one column."""
        width = given.type.shape[1]
        if width == 1:
            return [given.full_name]
        return [
            self.add("Gather", given.full_name, self._constant(INT64, [at]), axis=1)
            for at in range(width)
        ]

    def encoded(self, column: str, encoder: Any, at: int) -> str:
        """Return the columns of the levels, then one of rare levels and new texts.

        The last is 1 if all others are 0: a session need not know the rare levels.
        """
        levels = _texts(encoder.categories_[at])
        show = self._truth_values if _are_truth_values(encoder.categories_[at]) else self._shown
        # An encoder that may merge levels, and found none to merge, has None for the column.
        rare = getattr(encoder, "infrequent_categories_", {at: None})[at]
        if rare is None:
            return show(column, levels)
        merged = set(_texts(rare))
        shown = show(column, [level for level in levels if level not in merged])
        total = self.add("ReduceSum", shown, self._constant(INT64, [1]), keepdims=1)
        other = self.add("Sub", self._constant(FLOAT, [1.0]), total)
        return self.add("Concat", shown, other, axis=1)

    def _truth_values(self, column: str, levels: list[str]) -> str:
        """Return columns of truth values; a session refuses any other text, such as "true".

        With columns of 0 alone, "true" would be neither True nor False, without a word.
        """
        others = [text for text in ("False", "True", GAP) if text not in levels]
        shown = self._shown(column, levels + others, zeros=0)
        return self.add("Gather", shown, self._constant(INT64, [*range(len(levels))]), axis=1)

    def _shown(self, column: str, levels: list[str], zeros: int = 1) -> str:
        """Return 0 and 1 for each level, of shape (rows, levels); other texts fail at 0 `zeros`."""
        named = [level.encode() for level in levels]
        cubes = self.add(
            "OneHotEncoder", column, op_domain="ai.onnx.ml", cats_strings=named, zeros=zeros
        )
        return self.add("Reshape", cubes, self._constant(INT64, [-1, len(levels)]))

    def add(self, kind: str, *inputs: str, result: str | None = None, **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        output: str = result or self._scope.get_unique_variable_name("one_hot")
        name = self._scope.get_unique_operator_name(kind)
        self._container.add_node(kind, list(inputs), [output], name=name, **attributes)
        return output

    def _constant(self, kind: int, values: list[Any]) -> str:
        name: str = self._scope.get_unique_variable_name("one_hot_constant")
        self._container.add_initializer(name, kind, [len(values)], values)
        return name
