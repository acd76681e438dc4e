"""More nodes for a graph of ONNX."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from automl_admm.runs.saved.onnx_export.inputs import results_of


class Nodes:
    """Adds nodes to a graph; the names of their results begin with a word.

    None is a name of the graph or one of `others`.
    """

    def __init__(self, graph: Any, word: str = "automl_admm", others: Iterable[str] = ()) -> None:
        self._graph = graph
        ends = (one.name for one in (*graph.input, *graph.output))
        taken = {*others, *ends, *results_of(graph)}
        names = (f"{word}_{count}" for count in itertools.count(1))
        self._names = (name for name in names if name not in taken)

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operator, and return the name of its output."""
        from onnx import helper

        name = next(self._names)
        self._graph.node.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def array(self, values: Any) -> str:
        """Add a constant."""
        from onnx import numpy_helper

        name = next(self._names)
        self._graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def number(self, value: float) -> str:
        """Add a constant number of double precision."""
        return self.array(np.array([value]))

    def whole(self, *values: int) -> str:
        """Add a constant array of whole numbers."""
        return self.array(np.array(values, dtype=np.int64))

    def column_of(self, chances: str, place: int) -> str:
        """Return the probability of the class at a place, in double precision, one column."""
        return self.as_double(self.add("Gather", chances, self.whole(place), axis=1))

    def as_double(self, name: str) -> str:
        """Return a value in double precision."""
        from onnx import TensorProto

        return self.add("Cast", name, to=TensorProto.DOUBLE)

    def highest(self, chances: str) -> str:
        """Return the highest probability of a row, one column."""
        return self.add("ReduceMax", chances, self.whole(1), keepdims=1)

    def name(self, value: str, name: str) -> None:
        """Give a value one more name."""
        from onnx import helper

        self._graph.node.append(helper.make_node("Identity", [value], [name]))

    def give(self, place: int, name: str) -> None:
        """Let an output of the graph be this value instead; labels are one a row."""
        output = self._graph.output[place]
        inner = next(self._names)
        for node in self._graph.node:
            node.output[:] = [inner if one == output.name else one for one in node.output]
            node.input[:] = [inner if one == output.name else one for one in node.input]
        if place == 0:
            name = self.add("Squeeze", name, self.whole(1))
        self.name(name, output.name)
