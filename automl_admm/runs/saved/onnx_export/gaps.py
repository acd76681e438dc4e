"""Filled gaps in ONNX in double precision: the runtime has no operator for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from automl_admm.runs.saved.onnx_export.own_converters import Converter, nodes_in


def of_gaps() -> dict[type, Converter]:
    """Return the converter of filled gaps."""
    return {SimpleImputer: Converter(_write, _tell_shape)}


def _tell_shape(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    rows = operator.inputs[0].get_first_dimension()
    imputer = operator.raw_operator
    width = len(imputer.statistics_) + len(_indicated(imputer))
    operator.outputs[0].type = DoubleTensorType([rows, width])


def _indicated(imputer: SimpleImputer) -> Any:
    """Return the places of the columns with another column to tell their gaps."""
    places = () if imputer.indicator_ is None else imputer.indicator_.features_
    return np.asarray(places, dtype=np.int64)


def _write(scope: Any, operator: Any, container: Any) -> None:
    imputer = operator.raw_operator
    values = np.asarray(imputer.statistics_, dtype=float)
    if not np.isnan(imputer.missing_values) or np.isnan(values).any():
        raise ValueError("the gaps are not filled with one number for each column")
    with nodes_in(scope, container, "filled") as nodes:
        given = nodes.as_double(nodes.add("Concat", *operator.input_full_names, axis=1))
        is_gap = nodes.add("IsNaN", given)
        filled = nodes.add("Where", is_gap, nodes.array(values[None]), given)
        if len(indicated := _indicated(imputer)):
            gaps = nodes.add("Gather", is_gap, nodes.array(indicated), axis=1)
            filled = nodes.add("Concat", filled, nodes.as_double(gaps), axis=1)
        nodes.name(filled, operator.outputs[0].full_name)
