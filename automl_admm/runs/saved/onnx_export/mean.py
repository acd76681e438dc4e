"""An average of pipelines in ONNX: each member as it is alone, and their mean in double precision.

The converter's own has all members in one precision; some of them do not have it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from automl_admm.runs.saved.onnx_export.graph import takes_together
from automl_admm.runs.saved.onnx_export.inputs import begin_names, name_apart
from automl_admm.runs.saved.onnx_export.member import Member, member_of
from automl_admm.runs.saved.onnx_export.nodes import Nodes
from automl_admm.runs.saved.onnx_export.outputs import labels_of
from automl_admm.runs.saved.onnx_export.session import JOINED

# The names that the converter has for the outputs of a single pipeline.
LABELS, CHANCES, QUANTITY = "label", "probabilities", "variable"


def mean_of(model: Any, given: Any, feeds: Mapping[str, Any]) -> Any:
    """Return an average of fitted pipelines as a model of ONNX; labels are added to it later.

    `given` are rows as the pipelines take them, and `feeds` the same rows for a session.
    """
    classes = getattr(model, "classes_", None)
    merged = _Merged(feeds, classes, is_joined=takes_together(model, feeds))
    weights = [1] * len(model.estimators_) if model.weights is None else model.weights
    values: dict[int, str] = {}
    total = ""
    for pipeline, weight in zip(model.estimators_, weights, strict=True):
        if id(pipeline) not in values:
            values[id(pipeline)] = merged.values_of(member_of(pipeline, given, feeds))
        # In the order of scikit-learn, so the sum is rounded as there.
        total = merged.plus(total, values[id(pipeline)], float(weight))
    return merged.finished(total, float(np.sum(weights)))


class _Merged:
    """A graph of an average; its members are added one by one.

    Without `classes` it answers one column of numbers.
    """

    def __init__(self, feeds: Mapping[str, Any], classes: Any | None, *, is_joined: bool) -> None:
        from onnx import GraphProto, TensorProto, helper

        self._classes = classes
        self._graph = GraphProto(name="mean")
        self._nodes = Nodes(self._graph, "automl_admm_mean")
        self._opsets: dict[str, int] = {}
        self._version = self._members = 0
        self._names = [JOINED] if is_joined else list(feeds)
        for place, values in zip(range(len(self._names)), feeds.values(), strict=False):
            kind = TensorProto.STRING if values.dtype == object else TensorProto.DOUBLE
            shape = [None, len(feeds) if is_joined else 1]
            given = helper.make_tensor_value_info(f"automl_admm_input_{place}", kind, shape)
            self._graph.input.append(given)

    def values_of(self, member: Member) -> str:
        """Add a member, and return the name of its values, in double precision."""
        self._members += 1
        graph = member.written.graph
        begin_names(graph, f"member_{self._members}_")
        self._give_inputs(graph, member.number)
        self._graph.node.extend(graph.node)
        self._graph.initializer.extend(graph.initializer)
        self._version = max(self._version, member.written.ir_version)
        for one in member.written.opset_import:
            self._opsets[one.domain] = max(one.version, self._opsets.get(one.domain, 0))
        values = self._nodes.as_double(member.values)
        if self._classes is None:
            return self._nodes.add("Reshape", values, self._nodes.whole(-1, 1))
        if member.places is not None:
            values = self._nodes.add("MatMul", values, self._nodes.array(member.places))
        return values

    def _give_inputs(self, graph: Any, number: Any) -> None:
        """Let a member take the inputs of the average, in its own precision."""
        from onnx import TensorProto

        kind = TensorProto.DOUBLE if number is np.float64 else TensorProto.FLOAT
        names = [
            self._nodes.add("Cast", one.name, to=kind)
            if one.type.tensor_type.elem_type == TensorProto.DOUBLE
            else one.name
            for one in self._graph.input
        ]
        if len(graph.input) < len(names):
            names = [self._nodes.add("Concat", *names, axis=1)]
        for taken, name in zip(graph.input, names, strict=True):
            self._nodes.name(name, taken.name)

    def plus(self, total: str, values: str, weight: float) -> str:
        """Return the sum of `total`, if any, and of weighted values."""
        weighted = self._nodes.add("Mul", values, self._nodes.number(weight))
        return self._nodes.add("Add", total, weighted) if total else weighted

    def finished(self, total: str, weights: float) -> Any:
        """Return the model of a sum of values, divided by the sum of their weights."""
        from onnx import helper

        mean = self._nodes.add("Div", total, self._nodes.number(weights))
        self._graph.output.extend(self._outputs())
        self._nodes.name(mean, self._graph.output[-1].name)
        name_apart(self._graph, self._names)
        opsets = [helper.make_opsetid(*one) for one in self._opsets.items()]
        return helper.make_model(self._graph, opset_imports=opsets, ir_version=self._version)

    def _outputs(self) -> list[Any]:
        from onnx import TensorProto, helper

        describe = helper.make_tensor_value_info
        if self._classes is None:
            return [describe(QUANTITY, TensorProto.DOUBLE, [None, 1])]
        is_text = labels_of(self._classes).dtype == object
        kind = TensorProto.STRING if is_text else TensorProto.INT64
        labels = describe(LABELS, kind, [None])
        return [labels, describe(CHANCES, TensorProto.DOUBLE, [None, len(self._classes)])]
