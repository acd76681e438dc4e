"""A member of an average in ONNX, in the precision nearest to its own predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.pipelines.as_code import without_thresholds
from automl_admm.pipelines.ensembles.all_classes import AllClasses
from automl_admm.runs.saved.onnx_export.graph import graph_of
from automl_admm.runs.saved.onnx_export.outputs import add_outputs
from automl_admm.runs.saved.onnx_export.rooms import EQUAL
from automl_admm.runs.saved.onnx_export.session import answers_of, in_precision
from automl_admm.runs.saved.onnx_export.told import Told


@dataclass(frozen=True)
class Member:
    """A pipeline in ONNX, the precision of its inputs, and how far its values are from its own.

    `places` has a row for each of its classes: 1 in the place of that class in the average, else 0.
    It is None if both have the same classes.
    """

    written: Any
    number: Any
    difference: float
    places: Any = None

    @property
    def values(self) -> str:
        """The name of its probabilities, or of its predictions if it has none."""
        return str(self.written.graph.output[-1].name)


def member_of(pipeline: Any, given: Any, feeds: Mapping[str, Any]) -> Member:
    """Convert a member of an average; the converter and the runtime may raise.

    `given` are rows as the pipeline takes them, and `feeds` the same rows for a session.
    """
    inner, places = answering(pipeline)
    told, found, problems = Told.of(inner, given), [], []
    for number, in_double in ((np.float64, True), (np.float64, False), (np.float32, False)):
        try:
            written, apart = _converted(
                inner, told, in_precision(feeds, number), in_double=in_double
            )
            found.append(Member(written, number, apart, places))
            if apart <= EQUAL:
                break
        except Exception as problem:  # noqa: BLE001 - the converter and the runtime raise all kinds
            problems.append(problem)
    if not found:
        raise problems[-1]
    return min(found, key=lambda one: one.difference)


def answering(pipeline: Any) -> tuple[Any, Any | None]:
    """Return the model for the probabilities of a member, and their `places`."""
    # Its own threshold moves no probability.
    inner = without_thresholds(pipeline)
    if not isinstance(inner, AllClasses) or len(inner.estimator_.classes_) < 2:
        return inner, None
    places = (inner.estimator_.classes_[:, None] == inner.classes_).astype(float)
    return inner.estimator_, places


def _converted(
    pipeline: Any, told: Told, feeds: Mapping[str, Any], *, in_double: bool
) -> tuple[Any, float]:
    written = graph_of(pipeline, feeds, in_double=in_double)
    add_outputs(written.graph, pipeline)
    return written, told.apart(answers_of(written.SerializeToString(), feeds))
