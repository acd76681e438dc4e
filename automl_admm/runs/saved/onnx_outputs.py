"""Calibrated probabilities and decisions, added to the graph of the model inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.pipelines.as_code import without_thresholds
from automl_admm.pipelines.calibrated import Numbers, without_calibration

# Probabilities nearer to 0 or 1 have no logarithm of their odds in single precision.
LEAST = 1e-7
# They decide by the mean of the probabilities of many trees.
FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier")
BY_SCORES = "decision_function"
# A session adds the shares of hundreds of trees in single precision, in an order that hangs on its
# threads and rows: what is so near to a threshold, or to another class, lies on it.
# This is enough for the 500 trees that a forest has at most; a small sum has a smaller error.
ROOM, OF_SUM = 1e-5, 1e-4
# Other models have the error of a few roundings to single precision.
OF_ROUNDING = 4e-7


def inside(model: Any) -> Any:
    """Return the model without what `add_outputs` adds to its graph."""
    return without_calibration(_undecided(model))[0]


def add_outputs(graph: Any, model: Any) -> None:
    """Let a graph of `inside(model)` answer as the model does; both have labels and probabilities.

    Scores are taken as the logarithms of the odds, log(p / (1 - p)). Where a model has others, the
    comparison of its answers shows it.
    """
    undecided = _undecided(model)
    numbers = without_calibration(undecided)[1]
    if numbers is None and undecided is model:
        if _is_forest(model):
            _decide_by_mean(_Nodes(graph), graph.output[1].name, model)
        return
    nodes = _Nodes(graph)
    chance = nodes.last_of(graph.output[1].name)
    if numbers is not None:
        chance = nodes.calibrated(chance, numbers)
        other = nodes.add("Sub", nodes.number(1.0), chance)
        both = nodes.add("Concat", other, chance, axis=1)
        nodes.give(1, nodes.cast_like(both, graph.output[1]))
    labels = _labels(model)
    last, first = nodes.array(labels[1:]), nodes.array(labels[:1])
    is_first = undecided is not model and model.pos_label == labels[0]
    if undecided is model:
        # Where nobody set a threshold, a row on one half is of the first class.
        bar = 0.5 + _room(model, 0.5)
    else:
        bar = float(model.threshold)
        # The probability of the first class has the error of the other one.
        bar -= _room(model, 1.0 - bar if is_first else bar)
    called = nodes.add("Sub", nodes.number(1.0), chance) if is_first else chance
    if is_first:
        last, first = first, last
    is_called = nodes.add("GreaterOrEqual", called, nodes.number(bar))
    nodes.give(0, nodes.add("Where", is_called, last, first))


def _room(model: Any, chance: float) -> float:
    """Return how far from a probability of the last class its value in a session may be."""
    undecorated = inside(model)
    is_sum = _is_forest(undecorated) or type(undecorated).__name__ == "VotingClassifier"
    return min(ROOM, OF_SUM * abs(chance)) if is_sum else OF_ROUNDING * abs(chance)


def _labels(model: Any) -> Any:
    labels = np.asarray(model.classes_)
    return labels.astype(np.int64 if labels.dtype.kind in "iub" else object)


def _is_forest(model: Any) -> bool:
    last = model[-1] if hasattr(model, "steps") else model
    return type(last).__name__ in FORESTS


def _decide_by_mean(nodes: _Nodes, chances: str, model: Any) -> None:
    """Let the label be that of the most probable class; of equals the first, as `predict` says."""
    from onnx import TensorProto

    chances = nodes.add("Cast", chances, to=TensorProto.DOUBLE)
    least = nodes.add("Sub", nodes.highest(chances), nodes.number(ROOM))
    is_highest = nodes.add("GreaterOrEqual", chances, least)
    place = nodes.add("ArgMax", nodes.add("Cast", is_highest, to=TensorProto.INT32), axis=1)
    nodes.give(0, nodes.add("Gather", nodes.array(_labels(model)), place))


def _undecided(model: Any) -> Any:
    """Return the model inside of a finite threshold on probabilities; another one as it is."""
    is_one = type(model).__name__ == "FixedThresholdClassifier" and np.isfinite(model.threshold)
    return without_thresholds(model) if is_one and _is_of_chances(model) else model


def _is_of_chances(model: Any) -> bool:
    return bool(model.response_method == "predict_proba")


class _Nodes:
    """Adds nodes to a graph whose outputs are labels and probabilities of two classes."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._count = 0

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        from onnx import helper

        name = self._name()
        self._graph.node.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def array(self, values: Any) -> str:
        """Add a constant."""
        from onnx import numpy_helper

        name = self._name()
        self._graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def number(self, value: float) -> str:
        """Add a constant number of double precision."""
        return self.array(np.array([value]))

    def last_of(self, chances: str) -> str:
        """Return the probability of the last class, in double precision, one column."""
        from onnx import TensorProto

        column = self.add("Gather", chances, self.array(np.array([1], dtype=np.int64)), axis=1)
        return self.add("Cast", column, to=TensorProto.DOUBLE)

    def highest(self, chances: str) -> str:
        """Return the highest probability of a row, one column."""
        axes = self.array(np.array([1], dtype=np.int64))
        return self.add("ReduceMax", chances, axes, keepdims=1)

    def calibrated(self, chance: str, numbers: Numbers) -> str:
        """Return σ(slope · s + intercept) of a probability, or of the logarithm of its odds."""
        slope, intercept, response = numbers
        score = chance
        if response == BY_SCORES:
            inner = self.add("Max", chance, self.number(LEAST))
            inner = self.add("Min", inner, self.number(1.0 - LEAST))
            odds = self.add("Div", inner, self.add("Sub", self.number(1.0), inner))
            score = self.add("Log", odds)
        scaled = self.add("Mul", score, self.number(slope))
        return self.add("Sigmoid", self.add("Add", scaled, self.number(intercept)))

    def cast_like(self, name: str, output: Any) -> str:
        """Return a value in the type of an output."""
        return self.add("Cast", name, to=output.type.tensor_type.elem_type)

    def give(self, place: int, name: str) -> None:
        """Let an output of the graph be this value instead; labels are one a row."""
        output = self._graph.output[place]
        inner = self._name()
        for node in self._graph.node:
            node.output[:] = [inner if one == output.name else one for one in node.output]
            node.input[:] = [inner if one == output.name else one for one in node.input]
        from onnx import helper

        if place == 0:
            name = self.add("Squeeze", name, self.array(np.array([1], dtype=np.int64)))
        self._graph.node.append(helper.make_node("Identity", [name], [output.name]))

    def _name(self) -> str:
        self._count += 1
        return f"automl_admm_{self._count}"
