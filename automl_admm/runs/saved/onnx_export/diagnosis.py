"""The reason why a model cannot be written as ONNX, or predicts otherwise there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from automl_admm.core.errors import ConfigurationError
from automl_admm.runs.saved.onnx_export.conversion import TOLERANCE, as_onnx, decided
from automl_admm.runs.saved.onnx_export.graph import graph_of
from automl_admm.runs.saved.onnx_export.member import answering, member_of
from automl_admm.runs.saved.onnx_export.outputs import ROOM, inside, is_mean
from automl_admm.runs.saved.onnx_export.refusal import (
    of_member,
    refusal_of,
    refusal_of_difference,
    refusal_of_gaps,
    refusal_of_trees,
)
from automl_admm.runs.saved.onnx_export.session import answers_of, feed_of, feeds_of
from automl_admm.runs.saved.onnx_export.trees import TreesError


def unwritable(
    pipeline: Any, given: Any, frame: Any, manifest: Mapping[str, Any]
) -> ConfigurationError:
    """Return an error with the name of a pipeline's first step in the way, and of its member."""
    inner = inside(pipeline)
    if is_mean(inner):
        feeds = feeds_of(frame, np.float64)
        for name, member in _members(inner):
            try:
                member_of(member, given, feeds)
            except Exception:  # noqa: BLE001 - whatever it raises, this is the member
                return of_member(name, _unwritable_step(answering(member)[0], frame, manifest))
        return _refused_together("members")
    return _unwritable_step(inner, frame, manifest)


def _unwritable_step(pipeline: Any, frame: Any, manifest: Mapping[str, Any]) -> ConfigurationError:
    from sklearn.pipeline import Pipeline

    pipeline, feeds = inside(pipeline), feeds_of(frame, np.float32)
    steps = pipeline.steps if isinstance(pipeline, Pipeline) else [("", pipeline)]
    for count, (name, step) in enumerate(steps, start=1):
        model = Pipeline(steps[:count]) if name else pipeline
        try:
            _answer_of(model, feeds)
        except Exception as problem:  # noqa: BLE001 - whatever it raises, this is the step
            if gaps := _gaps_in_the_way(model, frame):
                return refusal_of_gaps(gaps)
            return _of_trees(model) or refusal_of(name, step, problem, manifest)
    return _refused_together("steps")


def _refused_together(parts: str) -> ConfigurationError:
    return ConfigurationError(
        f"the model cannot be written as ONNX, though each of its {parts} can: the runtime refuses "
        "them together.",
        hint="Use pipeline.py of the run.",
    )


def _answer_of(model: Any, feeds: Mapping[str, Any]) -> None:
    """Let the converter and the runtime raise their errors on a model; an average has others."""
    answers_of(decided(as_onnx(model, None, feeds), model, ROOM), feeds)


def otherwise(pipeline: Any, given: Any, frame: Any, difference: float) -> ConfigurationError:
    """Return an error on other predictions, with the most different member and its trees."""
    mean = inside(pipeline)
    worst = _worst_member(mean, given, frame) if is_mean(mean) else ""
    model = answering(dict(_members(mean))[worst])[0] if worst else pipeline
    refused = _of_trees(model)
    if refused is None:
        is_of_classes = hasattr(pipeline, "classes_")
        return refusal_of_difference(difference, worst, is_of_classes=is_of_classes)
    return of_member(worst, refused) if worst else refused


def _members(mean: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fitted members of an average, each with its name."""
    for (name, _), member in zip(mean.estimators, mean.estimators_, strict=True):
        yield name, member


def _worst_member(mean: Any, given: Any, frame: Any) -> str:
    """Return the name of the most different member of an average; "" if all are near."""
    feeds = feeds_of(frame, np.float64)
    members = {name: member_of(one, given, feeds).difference for name, one in _members(mean)}
    worst = max(members, key=members.__getitem__)
    return worst if members[worst] > TOLERANCE else ""


def _of_trees(model: Any) -> ConfigurationError | None:
    """Return an error on trees in the last step if ONNX has no operator for a part of them."""
    last = inside(model)
    # A component of a grammar may be a pipeline itself: its own name is the outer one.
    name = last.steps[-1][0] if hasattr(last, "steps") else type(last).__name__
    while hasattr(last, "steps"):
        last = last[-1]
    feeds = {str(place): np.zeros((1, 1)) for place in range(getattr(last, "n_features_in_", 0))}
    try:
        graph_of(last, feeds, in_double=True)
    except TreesError as problem:
        return refusal_of_trees(name, str(problem))
    except Exception:  # noqa: BLE001 - the converter raises of all kinds; then it is no tree
        return None
    return None


def _gaps_in_the_way(model: Any, frame: Any) -> list[str]:
    """Return the columns of text with gaps if a model can be written without these gaps."""
    feeds = feeds_of(frame, np.float32)
    texts = [name for name, values in feeds.items() if values.dtype == object]
    gaps = [name for name in texts if frame[name].isna().any() and frame[name].notna().any()]
    filled = {name: feed_of(frame[name].bfill().ffill(), np.float32) for name in gaps}
    try:
        _answer_of(model, feeds | filled)
    except Exception:  # noqa: BLE001 - the converter and the runtime raise of all kinds
        return []
    return gaps
