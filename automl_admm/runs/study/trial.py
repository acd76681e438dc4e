"""The records of a study for its user: a point to evaluate, its result, and that of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.space import SearchSpace


@dataclass(frozen=True, slots=True)
class Trial:
    """A point to evaluate: its number in the study, and its values by name.

    `key` is equal for equal values. With a `fidelity` below 1 a rough answer is enough, at that
    share of the cost. `study` is the name of the study that it belongs to.

    >>> Trial(1, "key", {"x": 0.5}).values
    {'x': 0.5}
    """

    number: int
    key: str
    values: dict[str, Any]
    fidelity: float = 1.0
    study: str = ""


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of a trial: its loss and the limited quantities by name, or why it failed.

    A failed one has no `loss`. `feasible` is True if it succeeded within all limits.

    >>> TrialResult(1, "key", {"x": 0.5}, 0.25, {}, feasible=True).failed is None
    True
    """

    number: int
    key: str
    values: dict[str, Any]
    loss: float | None
    limits: dict[str, float]
    feasible: bool
    failed: str | None = None
    fidelity: float = 1.0


def result_of(evaluation: Evaluation, space: SearchSpace, limits: Sequence[Limit]) -> TrialResult:
    """Return an evaluation as the user of a study sees it."""
    names = [limit.name for limit in limits]
    return TrialResult(
        number=evaluation.number,
        key=evaluation.key,
        values=dict(space.values(evaluation.candidate)),
        loss=evaluation.loss if evaluation.ok else None,
        limits=dict(zip(names, evaluation.constraints, strict=False)),
        feasible=is_feasible(evaluation, limits),
        failed=None if evaluation.ok else evaluation.message or str(evaluation.status),
        fidelity=evaluation.candidate.fidelity,
    )
