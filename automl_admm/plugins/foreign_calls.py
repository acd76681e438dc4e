"""Calls of the metrics and limits of others, in any process: an exit of theirs is an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from automl_admm.core.evidence import Evidence
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline


class ExitError(RuntimeError):
    """A function of a plugin called sys.exit."""


@contextmanager
def no_exit() -> Iterator[None]:
    """Turn a SystemExit into an error: a plugin does not decide when the program ends."""
    try:
        yield
    except SystemExit as leave:
        raise ExitError(f"it called sys.exit({leave.code!r})") from leave


def measured_by(function: Callable[[Any], Any], evaluated: EvaluatedPipeline) -> Evidence:
    """Return the evidence of the function of a limit, which has frames of its own to write to."""
    with no_exit():
        return as_evidence(function(evaluated.with_own_frames()))
