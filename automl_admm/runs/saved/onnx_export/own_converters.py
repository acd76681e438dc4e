"""Converters of steps, handed to skl2onnx in place of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from automl_admm.runs.saved.onnx_export.nodes import Nodes

# The versions of operators that common runtimes know.
OPSET = {"": 18, "ai.onnx.ml": 3}


@dataclass(frozen=True)
class Converter:
    """Two functions as skl2onnx calls them: to write a step, and to tell types of its outputs."""

    write: Callable[[Any, Any, Any], None]
    tell_shape: Callable[[Any], None]


def as_arguments(converters: Mapping[type, Converter]) -> dict[str, dict[type, Any]]:
    """Return arguments for `convert_sklearn`: it writes these classes by their converters."""
    return {
        "custom_conversion_functions": {kind: one.write for kind, one in converters.items()},
        "custom_shape_calculators": {kind: one.tell_shape for kind, one in converters.items()},
    }


@contextmanager
def nodes_in(scope: Any, container: Any, word: str) -> Iterator[Nodes]:
    """Yield nodes for a step, and hand those that were added to skl2onnx.

    The names of their results begin with a word.
    """
    from onnx import GraphProto

    graph = GraphProto()
    yield Nodes(graph, scope.get_unique_variable_name(word), scope.onnx_variable_names)
    container.nodes.extend(graph.node)
    container.initializers.extend(graph.initializer)
    # The versions are those of the whole graph in the end.
    container.node_domain_version_pair_sets.update(OPSET.items())
