"""The public function `minimize`: a search over any function of the user."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any

from automl_admm.core.errors import ConfigurationError, InfeasibleError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.run import RunResult
from automl_admm.core.space import SearchSpace
from automl_admm.runs.blackbox import BlackBox, Cheap, run_black_box
from automl_admm.runs.config import RunConfig, count_workers
from automl_admm.runs.finish.no_success import best_or_raise
from automl_admm.runs.options import SearchOptions, options_of
from automl_admm.runs.signatures import takes
from automl_admm.runs.validation import observers_of, seed_of, several, with_numbers


@dataclass(frozen=True)
class MinimizeResult:
    """The result of `minimize`: the best values by name, and all evaluations."""

    best: dict[str, Any]
    loss: float
    constraints: dict[str, float]
    feasible: bool
    stopped_by: str
    evaluations: tuple[Evaluation, ...]


@dataclass(frozen=True)
class MinimizeCall(SearchOptions):
    """The arguments of one call of `minimize`; `limits` is the old name of `constraints`."""

    objective: BlackBox
    space: SearchSpace
    _: KW_ONLY
    constraints: Iterable[Limit | str] = ()
    cheap: Cheap | None = None
    executor: str | None = None  # type: ignore[assignment] # None leaves the choice to `minimize`
    limits: Iterable[Limit | str] | None = None


@takes(MinimizeCall)
def minimize(call: MinimizeCall) -> MinimizeResult:
    """Minimise any function over any space of choices, orders and numbers.

    `objective` is given a dict of the active values by name. It returns the loss, or a mapping
    with `loss` and a value for the name of every limit in `constraints` (`"weight <= 3"`). It is
    called in this process; with several workers, a time limit or a memory limit each call has a
    child process of its own.

    `cheap` has, by name, functions for those limits that can be computed from the values without
    calling the objective: `ctpe` then learns them at no cost. With a `min_fidelity` below 1 the
    objective is called with a keyword `fidelity`, and solvers such as `halving` ask for less than
    1 where a rough answer is enough.

    The other parameters are those of `AutoMLClassifier`. `limits` is the old name of `constraints`
    and deprecated.
    """
    begun = time.monotonic()
    constraints = several("constraints", _constraints(call))
    run = run_black_box(
        _config(call, begun), call.objective, call.space, constraints, call.cheap or {}
    )
    result = _found(run, call.space)
    if not result.feasible and call.on_infeasible == "raise":
        raise InfeasibleError("nothing within the limits was found.", closest=result)
    return result


def _constraints(call: MinimizeCall) -> Iterable[Limit | str]:
    """Return the limits under their present or their old name."""
    if call.limits is None:
        return call.constraints
    if call.constraints != ():
        raise ConfigurationError(
            "constraints and limits are two names of one argument.", hint="Give constraints alone."
        )
    # The frames between this one and the caller's: `minimize` and the function around it.
    message = "limits= of minimize is deprecated: write constraints= instead."
    warnings.warn(message, DeprecationWarning, stacklevel=4)
    return call.limits


def _config(call: MinimizeCall, begun: float) -> RunConfig:
    workers = count_workers(call.n_jobs)
    # One call at a time without limits on it needs no child process.
    is_alone = workers == 1 and call.eval_time_limit is None and call.memory_limit is None
    given = with_numbers(call, options_of(SearchOptions))
    resolved = {
        "executor": call.executor or ("inline" if is_alone else "local"),
        "n_jobs": workers,
        "random_state": seed_of(call.random_state),
        "callbacks": observers_of(call.callbacks),
    }
    more = {"default_workers": call.n_jobs is None, "title": "minimize", "begun": begun}
    return RunConfig(**given | resolved | more)


def _found(run: RunResult, space: SearchSpace) -> MinimizeResult:
    best = best_or_raise(run)
    names = [limit.name for limit in run.limits]
    return MinimizeResult(
        best=space.values(best.candidate),
        loss=best.loss,
        constraints=dict(zip(names, best.constraints, strict=True)),
        feasible=run.feasible,
        stopped_by=run.stopped_by,
        evaluations=run.evaluations,
    )
