"""The result of a search over a function, and the wish to end it early."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

from automl_admm.core.errors import ConfigurationError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_value
from automl_admm.core.run import RunResult, Stop, StopReason
from automl_admm.core.space import SearchSpace
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish.no_success import best_or_raise


@dataclass(frozen=True)
class MinimizeResult:
    """The result of `minimize`: the best values by name, and all evaluations."""

    best: dict[str, Any]
    loss: float
    constraints: dict[str, float]
    feasible: bool
    stopped_by: str
    evaluations: tuple[Evaluation, ...]


class Flag(Protocol):
    """An event that another thread or process may set, such as `threading.Event`."""

    def is_set(self) -> bool:
        """Return True once it is set."""


@dataclass(frozen=True, eq=False)
class Canceller:
    """An observer that ends a search once a flag is set."""

    flag: Flag

    def should_stop(self, evaluations: int, incumbent: Evaluation | None) -> bool:
        """Return True once the flag is set."""
        del evaluations, incumbent
        return self.flag.is_set()


def cancellers(cancel: Any) -> tuple[Canceller, ...]:
    """Return the observer for a flag; none for None."""
    if cancel is None:
        return ()
    if not callable(getattr(cancel, "is_set", None)):
        hint = "Give a threading.Event()."
        raise ConfigurationError(
            f"cancel must have a method is_set, not {say_value(cancel)}.", hint=hint
        )
    return (Canceller(cancel),)


def summarize(
    run: RunResult, space: SearchSpace, cancel: Flag | None, config: RunConfig
) -> MinimizeResult:
    """Return the result for the user; raise if nothing succeeded."""
    if run.stop.reason is StopReason.PLUGIN and cancel is not None and cancel.is_set():
        run = replace(run, stop=Stop(StopReason.CANCEL))
    best = best_or_raise(run, config)
    names = [limit.name for limit in run.limits]
    return MinimizeResult(
        best=space.values(best.candidate),
        loss=best.loss,
        constraints=dict(zip(names, best.constraints, strict=True)),
        feasible=run.feasible,
        stopped_by=run.stopped_by,
        evaluations=run.evaluations,
    )
