"""Rows as a session of ONNX takes them, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from automl_admm.data.plain_columns import has_numbers

# The name of all columns where the first step takes them together.
JOINED = "columns"


def feeds_of(frame: Any, number: Any) -> dict[str, Any]:
    """Return the columns of rows as inputs, with numbers of this precision."""
    return {name: feed_of(column, number) for name, column in frame.items()}


def feed_of(column: Any, number: Any) -> Any:
    """Return a column as an input of ONNX: numbers, or texts with "" for missing ones."""
    if has_numbers(column):
        return column.to_numpy(dtype=number).reshape(-1, 1)
    cells = column.astype(object)
    texts = cells.where(cells.notna(), "").map(str)
    return texts.to_numpy(dtype=object).reshape(-1, 1)


def in_precision(feeds: Mapping[str, Any], number: Any) -> dict[str, Any]:
    """Return inputs with numbers of another precision; texts stay."""
    return {
        name: values if values.dtype == object else values.astype(number)
        for name, values in feeds.items()
    }


def answers_of(content: bytes, feeds: Mapping[str, Any]) -> list[Any]:
    """Return the answers of a model in ONNX."""
    return ask(session_of(content), feeds)


def session_of(content: bytes) -> Any:
    """Return a session of the runtime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Without a number its threads are bound to all cores, and it complains if one is not ours.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def ask(session: Any, feeds: Mapping[str, Any]) -> list[Any]:
    """Return the answers of a session."""
    wanted = [one.name for one in session.get_inputs()]
    values = list(feeds.values())
    if wanted == [JOINED]:
        values = [np.hstack(values)]
    # By their order: the converter may have named one otherwise.
    return list(session.run(None, dict(zip(wanted, values, strict=True))))
