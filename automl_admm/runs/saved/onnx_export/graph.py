"""A fitted pipeline as a graph of ONNX, as the converter writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from automl_admm.runs.saved.onnx_export.gaps import of_gaps
from automl_admm.runs.saved.onnx_export.inputs import name_inputs
from automl_admm.runs.saved.onnx_export.one_hot import of_one_hot
from automl_admm.runs.saved.onnx_export.outputs import inside, is_mean
from automl_admm.runs.saved.onnx_export.own_converters import OPSET, as_arguments
from automl_admm.runs.saved.onnx_export.session import JOINED
from automl_admm.runs.saved.onnx_export.trees import of_trees


def graph_of(pipeline: Any, feeds: Mapping[str, Any], *, in_double: bool = False) -> Any:
    """Return `inside(pipeline)` as a model of ONNX; its inputs have the types of `feeds`.

    With `in_double` the trees in it add in double precision.
    """
    from skl2onnx import convert_sklearn
    from skl2onnx.common import data_types

    kinds = {
        "object": data_types.StringTensorType,
        "float64": data_types.DoubleTensorType,
        "float32": data_types.FloatTensorType,
    }
    types = {name: kinds[str(values.dtype)] for name, values in feeds.items()}
    inputs = [(name, kind([None, 1])) for name, kind in types.items()]
    if takes_together(pipeline, feeds):
        inputs = [(JOINED, next(iter(types.values()))([None, len(types)]))]
    model = inside(pipeline)
    # By the model itself: for an option by its name alone the converter looks up all names first.
    options = {id(model): {"zipmap": False}} if hasattr(pipeline, "classes_") else None
    own = of_one_hot(in_double=in_double)
    if in_double:
        own |= of_gaps() | of_trees()
    elif any(values.dtype == np.float64 for values in feeds.values()):
        refuse_endless(pipeline)
    found = convert_sklearn(
        model,
        None,
        inputs,
        options=options,
        target_opset=OPSET,
        **as_arguments(own),
    )
    for one in found.opset_import:
        # The converter names the least that its own operators need, not those that are added.
        one.version = OPSET.get(one.domain, one.version)
    name_inputs(found.graph, [name for name, _ in inputs])
    return found


def takes_together(model: Any, feeds: Mapping[str, Any]) -> bool:
    """Return True if a model in ONNX takes all columns as one input."""
    return len({values.dtype for values in feeds.values()}) == 1 and not _parts_columns(model)


def _parts_columns(model: Any) -> bool:
    """Return True if the first step takes its columns one by one, by their names.

    So does an average if one of its pipelines does.
    """
    first = inside(model)
    if is_mean(first):
        return any(map(_parts_columns, first.estimators_))
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    return hasattr(first, "transformers")


def refuse_endless(model: Any) -> None:
    """Raise if a tree of a model has an infinite threshold: it parts the gaps from all numbers.

    In double precision the converter of such a tree seeks a number next to it, and never ends.
    """
    for tree in _trees_inside(model, set()):
        if not np.isfinite(tree.threshold.astype(np.float32)).all():
            raise ValueError("a tree parts gaps from numbers by an infinite threshold")


def _trees_inside(part: Any, seen: set[int]) -> Iterator[Any]:
    """Yield the trees of scikit-learn in a model, at any depth."""
    if id(part) in seen:
        return
    seen.add(id(part))
    for name, one in _parts(part):
        if name == "tree_":
            yield one
        else:
            yield from _trees_inside(one, seen)


def _parts(part: Any) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of a model or the members of a collection, with their names if any."""
    if isinstance(part, BaseEstimator):
        yield from vars(part).items()
    elif isinstance(part, Mapping):
        yield from (("", one) for one in part.values())
    elif isinstance(part, list | tuple):
        yield from (("", one) for one in part)
    elif isinstance(part, np.ndarray) and part.dtype == object:
        yield from (("", one) for one in part.flat)
