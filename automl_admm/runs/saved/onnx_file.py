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
from automl_admm.runs.saved.onnx_inputs import name_inputs
from automl_admm.runs.saved.onnx_new_texts import refusal_of_new, with_new_cells
from automl_admm.runs.saved.onnx_one_hot import of_one_hot
from automl_admm.runs.saved.onnx_outputs import add_outputs, inside
from automl_admm.runs.saved.onnx_refusal import refusal_of, refusal_of_gaps

EXTRA = ("skl2onnx", "onnxruntime")
# The versions of operators that common runtimes know.
OPSET = {"": 18, "ai.onnx.ml": 3}
MOST_ROWS = 5_000
# A model in ONNX computes some steps in single precision.
TOLERANCE = 1e-4
# The name of all columns where the first step takes them together.
JOINED = "columns"
# By the numbers that ONNX has for types.
NUMPY_TYPES = {1: "float32", 8: "text", 11: "float64"}


@dataclass(frozen=True)
class OnnxModel:
    """The content of an ONNX file, compared on so many `rows` with these `columns`.

    `inputs` has the names that a session takes, each with the type of its values.
    """

    content: bytes
    columns: tuple[str, ...]
    inputs: Mapping[str, str]
    rows: int
    difference: float

    def tell(self) -> str:
        """Say what a session takes."""
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
        found = [_tried(pipeline, given, frame, number) for number in (np.float64, np.float32)]
        kept = min(filter(None, found), key=lambda one: one.difference, default=None)
        if kept is None:
            raise _unwritable(pipeline, frame, manifest)
    if not kept.difference <= TOLERANCE:
        raise ConfigurationError(
            "the model predicts otherwise in ONNX: "
            + (
                f"its values differ by up to {kept.difference:.2g}."
                if np.isfinite(kept.difference)
                else "some rows get another class."
            ),
            hint="Gaps in text columns and rounding to single precision are the usual causes.",
        )
    with unheard_warnings(), warnings.catch_warnings(action="ignore"), rows_for_the_model():
        _check_new_cells(pipeline, kept, frame, is_frame=hasattr(rows, "columns"))
    return kept


def _check_new_cells(pipeline: Any, written: OnnxModel, frame: Any, *, is_frame: bool) -> None:
    """Raise if a session predicts otherwise for a new text or a gap."""
    number = np.float64 if "float64" in written.inputs.values() else np.float32
    session = _session(written.content)
    for name, cell, changed in with_new_cells(frame):
        given = changed if is_frame else changed.to_numpy()
        # Rows that the model itself refuses have no prediction to compare.
        if not _predicts(pipeline, given):
            continue
        try:
            answers = _ask(session, _feeds(changed, number))
        except Exception as problem:
            raise refusal_of_new(name, cell) from problem
        if not _difference(pipeline, given, answers) <= TOLERANCE:
            raise refusal_of_new(name, cell)


def _predicts(pipeline: Any, rows: Any) -> bool:
    try:
        pipeline.predict(rows)
    except Exception:  # noqa: BLE001 - components raise of all kinds
        return False
    return True


def _refuse_fractions(pipeline: Any) -> None:
    """Raise for labels such as 1.0: ONNX has texts and whole numbers."""
    labels = np.asarray(getattr(pipeline, "classes_", ()))
    if labels.size and labels.dtype.kind == "f":
        raise ConfigurationError(
            f"the labels are floating-point numbers, such as {labels[0]}, and ONNX has none.",
            hint="Make them whole numbers or texts and fit again, or use pipeline.py of the run.",
        )


def _tried(pipeline: Any, given: Any, frame: Any, number: Any) -> OnnxModel | None:
    """Convert with inputs of a precision; None if the converter or the runtime cannot do that."""
    feeds = _feeds(frame, number)
    try:
        content = _as_onnx(pipeline, feeds)
        answers = _answers(content, feeds)
    except Exception:  # noqa: BLE001 - the converter and the runtime raise of all kinds
        return None
    with rows_for_the_model():
        apart = _difference(pipeline, given, answers)
    return OnnxModel(content, tuple(feeds), _inputs(content), len(frame), apart)


def _unwritable(pipeline: Any, frame: Any, manifest: Mapping[str, Any]) -> ConfigurationError:
    """Return an error that names the first step with which a pipeline fails."""
    from sklearn.pipeline import Pipeline

    pipeline = inside(pipeline)
    if _is_ensemble(pipeline):
        return ConfigurationError(
            "the ensemble cannot be written as ONNX with these columns.",
            hint="Fit with --no-ensemble, or use pipeline.py of the run.",
        )
    feeds = _feeds(frame, np.float32)
    steps = pipeline.steps if isinstance(pipeline, Pipeline) else [("", pipeline)]
    for count, (name, step) in enumerate(steps, start=1):
        model = Pipeline(steps[:count]) if name else pipeline
        try:
            _answers(_as_onnx(model, feeds), feeds)
        except Exception as problem:  # noqa: BLE001 - whatever it raises, this is the step
            if gaps := _gaps_in_the_way(model, frame):
                return refusal_of_gaps(gaps)
            return refusal_of(name, step, problem, manifest)
    return ConfigurationError(
        "the model cannot be written as ONNX, though each of its steps can: the runtime refuses "
        "them together.",
        hint="Use pipeline.py of the run.",
    )


def _gaps_in_the_way(model: Any, frame: Any) -> list[str]:
    """Return the columns of text with gaps if a model can be written without these gaps."""
    feeds = _feeds(frame, np.float32)
    texts = [name for name, values in feeds.items() if values.dtype == object]
    gaps = [name for name in texts if frame[name].isna().any() and frame[name].notna().any()]
    filled = {name: _feed(frame[name].bfill().ffill(), np.float32) for name in gaps}
    try:
        _answers(_as_onnx(model, feeds | filled), feeds | filled)
    except Exception:  # noqa: BLE001 - the converter and the runtime raise of all kinds
        return []
    return gaps


def _feeds(frame: Any, number: Any) -> dict[str, Any]:
    return {name: _feed(column, number) for name, column in frame.items()}


def _feed(column: Any, number: Any) -> Any:
    """Return a column as an input of ONNX: numbers, or texts with "" for missing ones."""
    from pandas.api import types

    if types.is_numeric_dtype(column.dtype) and not types.is_bool_dtype(column.dtype):
        return column.to_numpy(dtype=number).reshape(-1, 1)
    cells = column.astype(object)
    texts = cells.where(cells.notna(), "").map(str)
    return texts.to_numpy(dtype=object).reshape(-1, 1)


def _as_onnx(model: Any, feeds: Mapping[str, Any]) -> bytes:
    from skl2onnx import convert_sklearn
    from skl2onnx.common import data_types

    kinds = {
        "object": data_types.StringTensorType,
        "float64": data_types.DoubleTensorType,
        "float32": data_types.FloatTensorType,
    }
    types = {name: kinds[str(values.dtype)] for name, values in feeds.items()}
    inputs = [(name, kind([None, 1])) for name, kind in types.items()]
    if len(set(types.values())) == 1 and not _parts_columns(model):
        inputs = [(JOINED, next(iter(types.values()))([None, len(types)]))]
    options = {"zipmap": False} if hasattr(model, "classes_") else None
    found = convert_sklearn(
        inside(model), None, inputs, options=options, target_opset=OPSET, **of_one_hot()
    )
    for one in found.opset_import:
        # The converter names the least that its own operators need, not those of `add_outputs`.
        one.version = OPSET.get(one.domain, one.version)
    name_inputs(found.graph, [name for name, _ in inputs])
    add_outputs(found.graph, model)
    return bytes(found.SerializeToString())


def _parts_columns(model: Any) -> bool:
    """Return True if the first step takes its columns one by one, by their names.

    So does an ensemble if one of its pipelines does.
    """
    model = inside(model)
    if _is_ensemble(model):
        return any(_parts_columns(member) for member in model.estimators_)
    first = model
    while hasattr(first, "steps"):
        first = first.steps[0][1]
    return hasattr(first, "transformers")


def _is_ensemble(model: Any) -> bool:
    from sklearn.ensemble import VotingClassifier, VotingRegressor

    return isinstance(model, VotingClassifier | VotingRegressor)


def _inputs(content: bytes) -> Mapping[str, str]:
    """Return the inputs of a model, each with the type that numpy has for its values."""
    from onnx import load_from_string

    found = load_from_string(content).graph.input
    return {one.name: NUMPY_TYPES[one.type.tensor_type.elem_type] for one in found}


def _answers(content: bytes, feeds: Mapping[str, Any]) -> list[Any]:
    return _ask(_session(content), feeds)


def _session(content: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Without a number its threads are bound to all cores, and it complains if one is not ours.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _ask(session: Any, feeds: Mapping[str, Any]) -> list[Any]:
    wanted = [one.name for one in session.get_inputs()]
    values = list(feeds.values())
    if wanted == [JOINED]:
        values = [np.hstack(values)]
    # By their order: the converter may have named one otherwise.
    return list(session.run(None, dict(zip(wanted, values, strict=True))))


def has_truth_values(model: Any) -> bool:
    """Return True if the labels are truth values; the converter writes them as 0 and 1."""
    return np.asarray(getattr(model, "classes_", ())).dtype == bool


def _difference(pipeline: Any, rows: Any, answers: list[Any]) -> float:
    """Return the largest difference of values; infinite if a label differs.

    Numbers of a regression are compared in relation to their size.
    """
    told = np.asarray(pipeline.predict(rows))
    found = np.asarray(answers[0]).reshape(told.shape)
    if has_truth_values(pipeline):
        told, found = told.astype(int), found.astype(int)
    if not hasattr(pipeline, "classes_"):
        scale = np.maximum(np.abs(told), float(np.std(told)) or 1.0)
        return float(np.max(np.abs(found - told) / scale))
    if [str(one) for one in found] != [str(one) for one in told]:
        return float("inf")
    if not hasattr(pipeline, "predict_proba"):
        return 0.0
    return float(np.max(np.abs(np.asarray(answers[1]) - pipeline.predict_proba(rows))))
