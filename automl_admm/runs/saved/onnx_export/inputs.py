"""The inputs of a graph in ONNX, under the names of the user's columns."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def name_inputs(graph: Any, names: Sequence[str]) -> None:
    """Give the inputs of a graph these names, in their order.

    The converter makes identifiers of them: "petal length (cm)" becomes "petal_length__cm_". A
    column named as a result inside of the graph, such as "label", keeps the converter's.
    """
    taken = set(results_of(graph))
    pairs = zip(graph.input, names, strict=True)
    renamed = {one.name: name for one, name in pairs if name not in taken}
    for one in graph.input:
        one.name = renamed.get(one.name, one.name)
    _rename(graph, renamed)


def name_apart(graph: Any, names: Sequence[str]) -> None:
    """Give the inputs of a graph these names; one that is a result's, too, gets a number: "label1".

    As the converter does it.
    """
    taken = {*results_of(graph), *(one.name for one in graph.output)}
    found: list[str] = []
    for name in names:
        others = taken | set(found) | set(names) - {name}
        tried = (name if count == 0 else f"{name}{count}" for count in itertools.count())
        found.append(next(one for one in tried if one not in others))
    name_inputs(graph, found)


def begin_names(graph: Any, word: str) -> None:
    """Let all names inside of a graph begin with a word, so that it can be a part of another."""
    names = {one.name for one in graph.input} | set(results_of(graph))
    renamed = {name: word + name for name in names if name}
    for one in (*graph.input, *graph.output):
        one.name = renamed.get(one.name, one.name)
    for node in graph.node:
        node.name = word + node.name if node.name else ""
    _rename(graph, renamed)
    _rename_results(graph, renamed)


def _inner(node: Any) -> Iterator[Any]:
    """Yield the graphs inside of a node."""
    for attribute in node.attribute:
        yield from (attribute.g, *attribute.graphs)


def results_of(graph: Any) -> Iterator[str]:
    """Yield the names of all results and constants of a graph."""
    yield from (one.name for one in graph.initializer)
    for node in graph.node:
        yield from node.output
        for inner in _inner(node):
            yield from (one.name for one in inner.input)
            yield from results_of(inner)


def _rename(graph: Any, renamed: Mapping[str, str]) -> None:
    """Let all nodes of a graph, and of the graphs inside of them, take the renamed inputs."""
    for node in graph.node:
        node.input[:] = [renamed.get(name, name) for name in node.input]
        for inner in _inner(node):
            _rename(inner, renamed)


def _rename_results(graph: Any, renamed: Mapping[str, str]) -> None:
    """Rename the results and constants of a graph, and of the graphs inside of its nodes."""
    for one in graph.initializer:
        one.name = renamed.get(one.name, one.name)
    for node in graph.node:
        node.output[:] = [renamed.get(name, name) for name in node.output]
        for inner in _inner(node):
            for one in (*inner.input, *inner.output):
                one.name = renamed.get(one.name, one.name)
            _rename_results(inner, renamed)
