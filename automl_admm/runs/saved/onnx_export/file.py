"""The model of a run as an ONNX file, kept only if it predicts as the model does."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.runs.finish.model_file import rows_for_the_model
from automl_admm.runs.saved.onnx_export.conversion import TOLERANCE, as_onnx, decided
from automl_admm.runs.saved.onnx_export.diagnosis import otherwise, unwritable
from automl_admm.runs.saved.onnx_export.new_texts import refusal_of_new, with_new_cells
from automl_admm.runs.saved.onnx_export.outputs import ROOM, inside, is_mean
from automl_admm.runs.saved.onnx_export.rooms import rooms_of
from automl_admm.runs.saved.onnx_export.session import JOINED, answers_of, ask, feeds_of, session_of
from automl_admm.runs.saved.onnx_export.told import Told

EXTRA = ("skl2onnx", "onnxruntime")
MOST_ROWS = 5_000
# By the numbers that ONNX has for types.
NUMPY_TYPES = {1: "float32", 8: "text", 11: "float64"}


@dataclass(frozen=True)
class OnnxModel:
    """The content of an ONNX file, compared on so many `rows` with these `columns`.

    `inputs` has the names of a session's inputs, each with the type of its values.
    """

    content: bytes
    columns: tuple[str, ...]
    inputs: Mapping[str, str]
    rows: int
    difference: float

    def tell(self) -> str:
        """Describe the inputs of a session."""
        if tuple(self.inputs) == (JOINED,) != self.columns:
            names, kind = ", ".join(self.columns), self.inputs[JOINED]
            shape = f"an array of {kind} with {len(self.columns)} columns in this order"
            return f"it takes one input named '{JOINED}', {shape}: {names}"
        each = ", ".join(f"{name} ({kind})" for name, kind in self.inputs.items())
        return f"it takes an input for each column, an array of one column: {each}"


def check_onnx() -> None:
    """Raise if the packages of the extra are not installed."""
    absent = [name for name in EXTRA if find_spec(name) is None]
    if absent:
        raise ConfigurationError(
            f"writing ONNX needs {' and '.join(absent)}.", hint="pip install 'automl-admm[onnx]'"
        )


def convert(pipeline: Any, rows: Any, manifest: Mapping[str, Any]) -> OnnxModel:
    """Return a fitted model as ONNX; raise if it cannot be converted, or predicts otherwise.

    `rows` are as the pipeline takes them, and best those of training. `manifest` describes the
    model: it tells the cause of a threshold.
    """
    import pandas as pd

    _refuse_fractions(pipeline)
    places = np.unique(np.linspace(0, len(rows) - 1, MOST_ROWS).astype(int))
    frame = pd.DataFrame(rows).iloc[places]
    frame.columns = frame.columns.astype(str)
    given = frame if hasattr(rows, "columns") else np.asarray(rows)[places]
    with unheard_warnings(), warnings.catch_warnings(action="ignore"):
        with rows_for_the_model(pipeline, given):
            told = Told.of(pipeline, given)
        kept = _nearest(pipeline, given, frame, told)
        if kept is None:
            raise unwritable(pipeline, given, frame, manifest)
        if not kept.difference <= TOLERANCE:
            raise otherwise(pipeline, given, frame, kept.difference)
    with (
        unheard_warnings(),
        warnings.catch_warnings(action="ignore"),
        rows_for_the_model(pipeline, given),
    ):
        _check_new_cells(pipeline, kept, frame, is_frame=hasattr(rows, "columns"))
    return kept


def _nearest(pipeline: Any, given: Any, frame: Any, told: Told) -> OnnxModel | None:
    """Convert in each precision of inputs, and return the nearest; None if there is none.

    Members of a mean take their own precisions inside of it.
    """
    found = None
    for number, in_double in ((np.float64, False), (np.float32, False), (np.float64, True)):
        if in_double and found is not None and found.difference <= TOLERANCE:
            break
        tried = _tried(pipeline, given, frame, told, number, in_double=in_double)
        found = min(filter(None, (found, tried)), key=lambda one: one.difference, default=None)
        if is_mean(inside(pipeline)):
            break
    return found


def _check_new_cells(pipeline: Any, written: OnnxModel, frame: Any, *, is_frame: bool) -> None:
    """Raise if a session predicts otherwise for a new text or a gap."""
    number = np.float64 if "float64" in written.inputs.values() else np.float32
    session = session_of(written.content)
    for name, cell, changed in with_new_cells(frame):
        given = changed if is_frame else changed.to_numpy()
        try:
            told = Told.of(pipeline, given)
        except Exception:  # noqa: BLE001, S112 - rows that the model itself refuses have no answer
            continue
        try:
            answers = ask(session, feeds_of(changed, number))
        except Exception as problem:
            raise refusal_of_new(name, cell) from problem
        if not told.difference(answers) <= TOLERANCE:
            raise refusal_of_new(name, cell)


def _refuse_fractions(pipeline: Any) -> None:
    """Raise for labels such as 1.0: ONNX has texts and whole numbers."""
    labels = np.asarray(getattr(pipeline, "classes_", ()))
    if labels.size and labels.dtype.kind == "f":
        raise ConfigurationError(
            f"the labels are floating-point numbers, such as {labels[0]}, and ONNX has none.",
            hint="Make them whole numbers or texts and fit again, or use pipeline.py of the run.",
        )


def _tried(
    pipeline: Any, given: Any, frame: Any, told: Told, number: Any, *, in_double: bool
) -> OnnxModel | None:
    """Convert with inputs of a precision; None if the converter or the runtime cannot do that."""
    feeds = feeds_of(frame, number)
    content, apart = b"", float("inf")
    try:
        bare = as_onnx(pipeline, given, feeds, in_double=in_double)
        values = told.apart(answers_of(decided(bare, pipeline, ROOM), feeds))
        for room in rooms_of(pipeline, bare.graph, values):
            content = decided(bare, pipeline, room)
            apart = told.difference(answers_of(content, feeds))
            if np.isfinite(apart):
                break
    except Exception:  # noqa: BLE001 - the converter and the runtime raise of all kinds
        return None
    return OnnxModel(content, tuple(feeds), _inputs(content), len(frame), apart)


def _inputs(content: bytes) -> Mapping[str, str]:
    """Return the inputs of a model, each with numpy's type for its values."""
    from onnx import load_from_string

    found = load_from_string(content).graph.input
    return {one.name: NUMPY_TYPES[one.type.tensor_type.elem_type] for one in found}
