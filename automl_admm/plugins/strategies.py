"""The record of a strategy: the search that lets solvers work on a problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value
from automl_admm.core.protocols import ThetaSolver, ZSolver
from automl_admm.plugins.record_with_options import RecordWithOptions
from automl_admm.search.protocol import Search, SearchProblem

View = Literal["one-hot", "conditional"]


@dataclass(frozen=True, slots=True)
class Solvers:
    """The two solvers of a search, under guard: a solver that breaks its promises is replaced.

    A strategy may leave one of them alone. `view` is the form of a whole space that the θ-solver
    wishes for (`ThetaSolverPlugin.joint`).

    >>> Solvers(theta=None, z=None).view
    'one-hot'
    """

    theta: ThetaSolver
    z: ZSolver
    view: View = "one-hot"


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyPlugin(RecordWithOptions):
    """A strategy by name: `search` is given the problem, the solvers and the options.

    It returns a generator that yields proposals and is sent evaluations; see `search.protocol`. It
    runs in the thread of the run, so it must not block: to let an evaluation end it yields `WAIT`.

    >>> StrategyPlugin(name="walk", summary="a random walk", search=lambda *given: iter(())).name
    'walk'
    """

    search: Callable[[SearchProblem, Solvers, Any], Search]

    def __post_init__(self) -> None:
        RecordWithOptions.__post_init__(self)
        if not callable(self.search):
            raise PluginError(
                f"plugin '{self.name}': its search must be callable, not {say_value(self.search)}."
            )
