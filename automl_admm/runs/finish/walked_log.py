"""The log of evaluations as it was when a model was chosen: later sessions add to it or change it.

A session with another grammar leaves out pipelines, and may give their numbers to others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from automl_admm.core.evaluations import Evaluation

LAST_EVALUATION, LOG_SHA256 = "last_evaluation", "log_sha256"


def describe_log(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Describe the log for `model.json`: its last number, and a digest of its pipelines.

    An evaluation without an end of its own has no number for good: the next session gives it anew.
    """
    last = max((one.number for one in evaluations if one.has_ended), default=None)
    return {LAST_EVALUATION: last, LOG_SHA256: _digest(evaluations, last)}


def came_later(one: Evaluation, manifest: Mapping[str, Any]) -> bool:
    """Return True for an evaluation made after the model was chosen."""
    last = manifest[LAST_EVALUATION]
    return last is not None and one.number > last


def has_log_of(manifest: Mapping[str, Any], evaluations: Sequence[Evaluation]) -> bool:
    """Return True if a log has all from which a model was chosen, and nothing else in its place."""
    return bool(_digest(evaluations, manifest[LAST_EVALUATION]) == manifest[LOG_SHA256])


def _digest(evaluations: Sequence[Evaluation], last: int | None) -> str:
    """Return the digest of the successes up to a number, in any order."""
    there = [one for one in evaluations if one.ok and last is not None and one.number <= last]
    lines = sorted(f"{one.number} {one.key}\n" for one in there)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
