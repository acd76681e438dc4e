"""The public function `minimize`: a search over any function of the user."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, fields
from typing import Any

from automl_admm.core.errors import InfeasibleError
from automl_admm.core.space import SearchSpace
from automl_admm.runs.blackbox import BlackBox, check_function
from automl_admm.runs.cancelling import Cancel, cancellers
from automl_admm.runs.signatures import takes
from automl_admm.runs.study.optimized import MinimizeResult
from automl_admm.runs.study.options import BlackBoxOptions
from automl_admm.runs.study.study import Study

__all__ = ["MinimizeCall", "MinimizeResult", "minimize"]


@dataclass(frozen=True)
class MinimizeCall(BlackBoxOptions):
    """The arguments of one call of `minimize`."""

    objective: BlackBox
    space: SearchSpace
    _: KW_ONLY
    cancel: Cancel | None = None


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

    `starts` are points (dicts of values) to evaluate first. `warm_start` has results that are
    known already, in any form that `Study.add_observations` takes, such as the result or the
    `work_dir` of an earlier `minimize`. With a `work_dir` every evaluation is on the disk at once:
    after a kill `Study.load(work_dir).optimize(objective)` goes on. Setting `cancel`, a
    `threading.Event`, ends the search from another thread.

    This is the shortest use of a `Study`. The other parameters are those of `AutoMLClassifier`.
    """
    check_function(call.objective)
    cancellers(call.cancel)
    with Study(call.space, **_of_study(call)) as study:
        result = study.optimize(call.objective, cancel=call.cancel)
    if not result.feasible and call.on_infeasible == "raise":
        raise InfeasibleError("nothing within the limits was found.", closest=result)
    return result


def _of_study(call: MinimizeCall) -> dict[str, Any]:
    """Return the arguments that a study has, too."""
    return {one.name: getattr(call, one.name) for one in fields(BlackBoxOptions)}
