"""Calibrated probabilities and decisions, added to the graph of the model inside."""

from __future__ import annotations

from typing import Any

import numpy as np

from automl_admm.pipelines.as_code import without_thresholds
from automl_admm.pipelines.calibrated import Numbers, without_calibration
from automl_admm.runs.saved.onnx_export.nodes import Nodes

# Probabilities nearer to 0 or 1 have no logarithm of their odds in single precision.
LEAST = 1e-7
# They decide by the mean of the probabilities of many trees.
FORESTS = ("RandomForestClassifier", "ExtraTreesClassifier")
BY_SCORES = "decision_function"
# A session adds the shares of hundreds of trees in single precision, in an order that hangs on its
# threads and rows: a row so near to a threshold, or to another class, counts as on it.
# This is enough for the 500 trees that a forest has at most, and for a mean of such forests, whose
# error is no larger than the largest of its members; a small sum has a smaller error.
ROOM, OF_SUM = 1e-5, 1e-4
# Other models have the error of a few roundings to single precision.
OF_ROUNDING = 4e-7


def inside(model: Any) -> Any:
    """Return the model without the additions of `add_outputs` to its graph.

    Of a mean of calibrated models each member adds its own.
    """
    undecided = _undecided(model)
    return undecided if is_mean(undecided) else without_calibration(undecided)[0]


def is_mean(model: Any) -> bool:
    """Return True for an average of fitted pipelines."""
    kind = type(model).__name__
    return kind == "VotingRegressor" or (kind == "VotingClassifier" and model.voting == "soft")


def add_outputs(graph: Any, model: Any, room: float = ROOM) -> None:
    """Let a graph of `inside(model)` answer as the model does; both have labels and probabilities.

    Scores are taken as the logarithms of the odds, log(p / (1 - p)). If a model has others, the
    comparison of its answers shows it.
    """
    undecided = _undecided(model)
    numbers = None if is_mean(undecided) else without_calibration(undecided)[1]
    if numbers is None and undecided is model:
        if hasattr(model, "classes_") and decides_by_mean(model):
            _decide_by_mean(Nodes(graph), graph.output[1].name, model, room)
        return
    nodes = Nodes(graph)
    chance = nodes.column_of(graph.output[1].name, 1)
    if numbers is not None:
        chance = _calibrated(nodes, chance, numbers)
        _give_chances(nodes, chance, graph.output[1])
    if undecided is model:
        # Where nobody set a threshold, a row on one half is of the first class.
        labels = labels_of(model.classes_)
        _decide(nodes, chance, 0.5 + _room(model, 0.5, room), (labels[1:], labels[:1]))
    else:
        _decide_by_threshold(nodes, graph.output[1].name, chance, model, room)


def _give_chances(nodes: Nodes, chance: str, output: Any) -> None:
    """Let the probabilities be the last class's and 1 without it."""
    other = nodes.add("Sub", nodes.number(1.0), chance)
    both = nodes.add("Concat", other, chance, axis=1)
    nodes.give(1, nodes.add("Cast", both, to=output.type.tensor_type.elem_type))


def _decide_by_threshold(nodes: Nodes, chances: str, chance: str, model: Any, room: float) -> None:
    """Let the label be the called one from a threshold on; it may be that of the first class."""
    labels, threshold = labels_of(model.classes_), float(model.threshold)
    if model.pos_label != labels[0]:
        bar = threshold - _room(model, threshold, room)
        _decide(nodes, chance, bar, (labels[1:], labels[:1]))
        return
    # The probability of the first class has the error of the other one.
    bar = threshold - _room(model, 1.0 - threshold, room)
    _decide(nodes, nodes.column_of(chances, 0), bar, (labels[:1], labels[1:]))


def _decide(nodes: Nodes, chance: str, bar: float, labels: tuple[Any, Any]) -> None:
    """Let the label be the first of two from a bar on, else the second."""
    called, other = map(nodes.array, labels)
    is_called = nodes.add("GreaterOrEqual", chance, nodes.number(bar))
    nodes.give(0, nodes.add("Where", is_called, called, other))


def _room(model: Any, chance: float, room: float) -> float:
    """Return how far from a probability of the last class its value in a session may be."""
    is_sum = decides_by_mean(inside(model))
    return min(room, OF_SUM * abs(chance)) if is_sum else OF_ROUNDING * abs(chance)


def labels_of(classes: Any) -> Any:
    """Return labels in a type of ONNX: whole numbers or texts."""
    labels = np.asarray(classes)
    return labels.astype(np.int64 if labels.dtype.kind in "iub" else object)


def decides_by_mean(model: Any) -> bool:
    """Return True if a classifier takes the class of the highest mean."""
    return is_mean(model) or is_forest(model)


def is_forest(model: Any) -> bool:
    """Return True if the last step of a classifier is a forest."""
    last = model[-1] if hasattr(model, "steps") else model
    return type(last).__name__ in FORESTS


def _decide_by_mean(nodes: Nodes, chances: str, model: Any, room: float) -> None:
    """Let the label be that of the most probable class; of equals the first, as `predict` says."""
    from onnx import TensorProto

    chances = nodes.as_double(chances)
    least = nodes.add("Sub", nodes.highest(chances), nodes.number(room))
    is_highest = nodes.add("GreaterOrEqual", chances, least)
    place = nodes.add("ArgMax", nodes.add("Cast", is_highest, to=TensorProto.INT32), axis=1)
    nodes.give(0, nodes.add("Gather", nodes.array(labels_of(model.classes_)), place))


def _undecided(model: Any) -> Any:
    """Return the model inside of a finite threshold on probabilities; another one as it is."""
    is_one = type(model).__name__ == "FixedThresholdClassifier" and np.isfinite(model.threshold)
    is_one = is_one and model.response_method == "predict_proba"
    return without_thresholds(model) if is_one else model


def _calibrated(nodes: Nodes, chance: str, numbers: Numbers) -> str:
    """Return σ(slope · s + intercept) of a probability, or of the logarithm of its odds."""
    slope, intercept, response = numbers
    score = chance
    if response == BY_SCORES:
        inner = nodes.add("Max", chance, nodes.number(LEAST))
        inner = nodes.add("Min", inner, nodes.number(1.0 - LEAST))
        odds = nodes.add("Div", inner, nodes.add("Sub", nodes.number(1.0), inner))
        score = nodes.add("Log", odds)
    scaled = nodes.add("Mul", score, nodes.number(slope))
    return nodes.add("Sigmoid", nodes.add("Add", scaled, nodes.number(intercept)))
