"""The log of evaluations as it was when a model was chosen: later sessions add to it or change it.

A session with another grammar leaves out pipelines, and may give their numbers to others.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from automl_admm.certify.certificate import Certificate
from automl_admm.core.evaluations import Evaluation
from automl_admm.store.file_schemas import OF_RUN

LAST_EVALUATION, LOG_SHA256 = "last_evaluation", "log_sha256"
# The time of a certificate is written in whole seconds.
A_SECOND = 1.0


def describe_log(evaluations: Sequence[Evaluation]) -> dict[str, Any]:
    """Describe the log for `model.json`: its last number, and a digest of its pipelines.

    An evaluation without an end of its own has no number for good: the next session gives it anew.
    """
    last = max((one.number for one in evaluations if one.has_ended), default=None)
    return {LAST_EVALUATION: last, LOG_SHA256: _digest(evaluations, last)}


def came_later(
    one: Evaluation, manifest: Mapping[str, Any], certificate: Certificate | None
) -> bool:
    """Return True for an evaluation made after the model was chosen.

    Earlier versions counted one that was cut short, whose number a later session gave to another.
    """
    last = manifest.get(LAST_EVALUATION)
    if last is not None and one.number > last:
        return True
    if LOG_SHA256 in manifest or certificate is None or one.ended is None:
        return False
    return one.ended > datetime.fromisoformat(certificate.time).timestamp() + A_SECOND


def has_log_of(
    manifest: Mapping[str, Any], evaluations: Sequence[Evaluation], content: Mapping[str, Any]
) -> bool:
    """Return True if a log still has all from which a model was chosen, and in its place no other.

    Models of earlier versions tell of another grammar alone, by the content of `run.json`.
    """
    if LOG_SHA256 in manifest:
        return bool(_digest(evaluations, manifest.get(LAST_EVALUATION)) == manifest[LOG_SHA256])
    was, now = (side.get("settings", {}) for side in (manifest.get(OF_RUN, content), content))
    return bool(was.get("space_sha256") == now.get("space_sha256"))


def _digest(evaluations: Sequence[Evaluation], last: int | None) -> str:
    """Return the digest of the successes up to a number, in any order."""
    there = [one for one in evaluations if one.ok and last is not None and one.number <= last]
    lines = sorted(f"{one.number} {one.key}\n" for one in there)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
