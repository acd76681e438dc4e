"""The thresholds of a model in its manifest: JSON has words where a threshold is infinite."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.pipelines.thresholds.by_group import CALIBRATION, NAMES
from automl_admm.pipelines.thresholds.single import INFINITE, say_threshold


def note_thresholds(evaluation: Evaluation) -> dict[str, Any]:
    """Return the chosen thresholds of the model, if there are any."""
    details = evaluation.details
    found = {name: details[name] for name in NAMES if name in details}
    return {name: _as_plain(value) for name, value in found.items()}


def note_calibration(evaluation: Evaluation) -> dict[str, Any]:
    """Return how the probabilities are moved, if they are."""
    found = evaluation.details.get(CALIBRATION)
    return {} if found is None else {CALIBRATION: dict(found)}


def _as_plain(threshold: Any) -> Any:
    """Return a threshold as JSON, without infinities: `never` and `always` are words."""
    if isinstance(threshold, Mapping):
        return {name: _as_plain(value) for name, value in threshold.items()}
    return threshold if math.isfinite(threshold) else say_threshold(threshold)


def read_thresholds(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the thresholds of a model as its evaluation has them."""
    return {name: _as_number(manifest[name]) for name in NAMES if name in manifest}


def _as_number(threshold: Any) -> Any:
    if isinstance(threshold, Mapping):
        return {name: _as_number(value) for name, value in threshold.items()}
    return INFINITE.get(threshold, threshold)
