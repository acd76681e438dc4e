"""Results of tasks: records here, JSON between processes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

# The key of what an evaluation was asked for: an executor may mix up the answers of two tasks.
ANSWERED = "answered"


@runtime_checkable
class TaskResult(Protocol):
    """A record that a work's method returns; executors carry it as JSON."""

    def as_json(self) -> Mapping[str, Any]:
        """Return the record as a mapping of plain values."""


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """The outcome of one evaluation: its loss, a value for each limit, and details for the log.

    `files` has the hashes of files to be read again, by name, and `answered` the seed and the
    fidelity that were asked for; the log has neither.
    """

    loss: float = math.nan
    constraints: tuple[float, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    answered: tuple[int, float] | None = field(default=None, compare=False)

    def as_json(self) -> dict[str, Any]:
        """Return the mapping that the executor hands to the parent process."""
        found = {
            "loss": self.loss,
            "constraints": list(self.constraints),
            "details": dict(self.details),
        }
        told = {} if self.answered is None else {ANSWERED: list(self.answered)}
        return found | told | ({"files": dict(self.files)} if self.files else {})

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> EvaluationResult:
        """Read what a work returned; a loss that is missing is NaN, which is no success."""
        return cls(
            float(found.get("loss", math.nan)),
            tuple(float(value) for value in found.get("constraints", ())),
            dict(found.get("details", {})),
            dict(found.get("files", {})),
        )


def asked_of(arguments: Mapping[str, Any]) -> list[float]:
    """Return the seed and the fidelity of an evaluation by the arguments of its task."""
    return [arguments["seed"], arguments["candidate"].fidelity]
