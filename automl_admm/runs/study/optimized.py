"""The result of a search over a function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.run import RunResult
from automl_admm.core.space import SearchSpace
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.no_success import best_or_raise


@dataclass(frozen=True)
class MinimizeResult:
    """The result of `minimize`: the best values by name, and all evaluations.

    `constraints` has each limited quantity once, `limit_names` a name for each limit, as the
    evaluations have a value: two limits may bound one quantity from both sides.
    """

    best: dict[str, Any]
    loss: float
    constraints: dict[str, float]
    feasible: bool
    stopped_by: str
    evaluations: tuple[Evaluation, ...]
    limit_names: tuple[str, ...] = field(default=(), repr=False)


def summarize(run: RunResult, space: SearchSpace, config: RunConfig) -> MinimizeResult:
    """Return the result for the user; raise if nothing succeeded."""
    best = best_or_raise(run, config)
    names = [limit.name for limit in run.limits]
    return MinimizeResult(
        best=space.values(best.candidate),
        loss=best.loss,
        constraints=dict(zip(names, best.constraints, strict=True)),
        feasible=run.feasible,
        stopped_by=run.stopped_by,
        evaluations=run.evaluations,
        limit_names=tuple(names),
    )
