"""The thresholds of a model in `model.json`, and the path of a certified ensemble.

JSON has words where a number is infinite. Of other paths the log knows: it has evaluations of
pipelines alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.results import EvaluationResult
from automl_admm.pipelines.thresholds.by_group import CALIBRATION, NAMES
from automl_admm.pipelines.thresholds.path import PATH, DecisionPath
from automl_admm.pipelines.thresholds.single import INFINITE, say_threshold
from automl_admm.runs.finish.ensemble import Ensemble
from automl_admm.store.json_content import RESTORE

WALKED = "walked"
NO_NUMBER = "nan"
_WORDS: Mapping[Any, float] = {**INFINITE, NO_NUMBER: math.nan}


def note_thresholds(evaluation: Evaluation) -> dict[str, Any]:
    """Return the chosen thresholds of the model, if there are any."""
    details = evaluation.details
    found = {name: details[name] for name in NAMES if name in details}
    return {name: _plain(value) for name, value in found.items()}


def note_calibration(evaluation: Evaluation) -> dict[str, Any]:
    """Return how the probabilities are moved, if they are."""
    found = evaluation.details.get(CALIBRATION)
    return {} if found is None else {CALIBRATION: dict(found)}


def read_thresholds(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thresholds of a model as its evaluation has them."""
    return {name: _read(manifest[name]) for name in NAMES if name in manifest}


def walked_content(evaluation: Evaluation | None) -> dict[str, Any] | None:
    """Return the loss, the values and the path of an ensemble as it came to the walk.

    Return None for a pipeline. JSON has no infinities: a threshold beyond all scores is a word, and
    so is a value that is no number. A stop without a loss has null.
    """
    if evaluation is None:
        return None
    found = EvaluationResult(
        evaluation.loss, evaluation.constraints, {PATH: evaluation.details[PATH]}
    )
    plain: dict[str, Any] = _plain(found.as_json())
    return plain


def read_walked(
    manifest: Mapping[str, Any], evaluations: Sequence[Evaluation]
) -> Evaluation | None:
    """Return the evaluation of a certified ensemble, as it came to the walk.

    None for a single pipeline, and for members that the log does not have. Raise for a damaged
    path.
    """
    content, told = manifest.get("ensemble"), manifest.get(WALKED)
    if content is None or told is None:
        return None
    ensemble = Ensemble.from_content(content, {one.number: one for one in evaluations if one.ok})
    if ensemble is None:
        return None
    try:
        found = ensemble.as_evaluation(EvaluationResult.from_json(_read(told)), 0.0)
        is_whole = DecisionPath.from_details(found.details) is not None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise StoreError(f"model.json: '{WALKED}' is no path of an ensemble.", hint=RESTORE)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return NO_NUMBER if math.isnan(value) else say_threshold(value)


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _read(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_read(one) for one in value]
    return _WORDS.get(value, value) if isinstance(value, str) else value
