"""The records of solvers for θ-min and for z-min, and of strategies that let them work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value
from automl_admm.core.protocols import ThetaSolver, ZSolver
from automl_admm.plugins.record_with_options import RecordWithOptions
from automl_admm.search.protocol import Search, SearchProblem

View = Literal["one-hot", "conditional"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Solver(RecordWithOptions):
    is_stand_in: bool = False

    def __post_init__(self) -> None:
        RecordWithOptions.__post_init__(self)
        if not isinstance(self.is_stand_in, bool):
            raise PluginError(
                f"plugin '{self.name}': is_stand_in must be True or False, "
                f"not {say_value(self.is_stand_in)}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThetaSolverPlugin(_Solver):
    """A solver for θ-min; the factory gets an instance of `options`.

    `joint` is the form of a whole space in the strategy `joint`: `one-hot`, an axis for each
    alternative, for a solver that models distances; `conditional` for a solver with a notion of
    categories (`Parameter.is_category`) and conditions (`Parameter.when`).

    With `is_stand_in` a solver takes the place of another one after broken promises; it needs no
    options. Built-in stand-ins come before those of other packages.

    >>> ThetaSolverPlugin(name="halton", summary="Halton points", factory=dict).joint
    'one-hot'
    """

    factory: Callable[[Any], ThetaSolver]
    joint: View = "one-hot"

    def __post_init__(self) -> None:
        _Solver.__post_init__(self)
        if self.joint not in get_args(View):
            raise PluginError(
                f"plugin '{self.name}': joint must be 'one-hot' or 'conditional', "
                f"not {say_value(self.joint)}."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ZSolverPlugin(_Solver):
    """A solver for z-min; the factory gets an instance of `options`.

    `is_stand_in` is as for `ThetaSolverPlugin`.

    >>> ZSolverPlugin(name="greedy", summary="one change", factory=dict).is_stand_in
    False
    """

    factory: Callable[[Any], ZSolver]


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
