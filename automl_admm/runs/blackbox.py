"""A run over any black box: the user's function, the user's space."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from automl_admm.core.errors import ConfigurationError, InvalidOutcome, UnknownNameError
from automl_admm.core.limits import Limit
from automl_admm.core.messages import say_value
from automl_admm.core.protocols import Store
from automl_admm.core.results import EvaluationResult
from automl_admm.core.returned_evidence import as_number
from automl_admm.core.run import RunResult
from automl_admm.core.space import Candidate, Choice, SearchSpace, Value
from automl_admm.core.structure.pipeline_space import content_hash, keyed
from automl_admm.execution.task_folders import temporary_folder
from automl_admm.plugins.loading import Plugins, load_plugins
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.budget import Ledger, Reserve
from automl_admm.runs.driving.desk import Desk
from automl_admm.runs.driving.dispatch import Dispatcher
from automl_admm.runs.driving.interrupts import deferral_for
from automl_admm.runs.driving.logbook import NO_PAST, Past
from automl_admm.runs.finish.no_success import best_or_raise
from automl_admm.runs.prepare.assembly import (
    SearchPlan,
    build_executor,
    check_executor,
    check_names,
    check_ranges,
    plan_search,
    read_limit,
    title_of_executor,
)
from automl_admm.runs.prepare.suggestions import check_parts
from automl_admm.runs.search_run import Searcher, budget_of, run_search, teller
from automl_admm.search.protocol import SearchProblem
from automl_admm.search.starts import default_start
from automl_admm.store.memory import MemoryStore

logger = logging.getLogger(__name__)

LIMIT_HINT = 'Write it like "weight <= 3", with a name that your objective returns.'
BlackBox = Callable[..., float | Mapping[str, float]]
Cheap = Mapping[str, Callable[[dict[str, Any]], float]]


@dataclass(frozen=True)
class BlackBoxWork:
    """The user's function, as executors run it."""

    function: BlackBox
    space: SearchSpace
    names: tuple[str, ...]
    tells_fidelity: bool = False

    def evaluate(self, candidate: Candidate, seed: int, folder: Path) -> EvaluationResult:
        """Call the function with the candidate's values; make a record of its answer."""
        del folder
        more = {"fidelity": candidate.fidelity} if self.tells_fidelity else {}
        returned, taken = self.function(self.space.values(candidate), **more), ""
        if not isinstance(returned, Mapping):
            taken = f": a {type(returned).__name__} is taken for the loss alone"
            returned = {"loss": returned}
        missing = {"loss", *self.names} - set(returned)
        if missing:
            raise InvalidOutcome(f"the objective returned no '{min(missing)}'{taken}")
        constraints = tuple(_number(returned[name]) for name in self.names)
        asked = (seed, candidate.fidelity)
        return EvaluationResult(_number(returned["loss"]), constraints, answered=asked)


@dataclass(frozen=True)
class PreparedBox:
    """A search over a space, checked and ready: its settings, its plugins and its problem."""

    config: RunConfig
    plugins: Plugins
    problem: SearchProblem

    @property
    def names(self) -> tuple[str, ...]:
        """The name of every limit, in the order of the constraint values."""
        return tuple(limit.name for limit in self.problem.limits)

    def plan(self) -> SearchPlan:
        """Build the solvers of one search."""
        return plan_search(self.config, self.plugins)

    def text(self, candidate: Candidate) -> str:
        """Return the values of a candidate as JSON."""
        return self.problem.text(candidate)


def _bare(given: Limit | str) -> Limit:
    """Return a limit on what an objective returns; no rows stand behind it to certify it by."""
    limit = given if isinstance(given, Limit) else read_limit(given, LIMIT_HINT)
    if limit.confidence is not None:
        raise ConfigurationError(
            f"the limit '{limit}': what an objective returns cannot be certified.",
            hint=f"Leave out '@ {limit.confidence:.12g}'.",
        )
    return limit


def prepare_black_box(
    config: RunConfig, space: SearchSpace, limits: Sequence[Limit | str], cheap: Cheap
) -> PreparedBox:
    """Check all settings of a search over a space, before any work."""
    check_space(space, cheap)
    plugins = load_plugins(config.extra_plugins)
    check_parts(config, plugins)
    check_executor(config, plugins)
    found = tuple(map(_bare, limits))
    check_names(found)
    check_ranges(found)
    check_cheap(cheap, [limit.name for limit in found])
    problem = SearchProblem(
        space,
        partial(_key, _with_places(space)),
        starts=(default_start(space),),
        limits=found,
        cheap={name: partial(_measure_values, space, cheap[name]) for name in cheap},
        lowest_fidelity=config.least_fidelity,
        seed=config.random_state,
        evaluations=config.max_evaluations,
        text=partial(_text, space),
    )
    return PreparedBox(config, plugins, problem)


def run_black_box(
    config: RunConfig,
    function: BlackBox,
    space: SearchSpace,
    limits: Sequence[Limit | str],
    cheap: Cheap,
) -> RunResult:
    """Minimise a function over a space within limits on its other results.

    `cheap` has functions for limits without need of an evaluation. The result has a `best`: a run
    without a success raises.
    """
    check_function(function)
    box = prepare_black_box(config, space, limits, cheap)
    result = drive_black_box(box, function, box.plan(), MemoryStore())
    best_or_raise(result, config)
    return result


def drive_black_box(
    box: PreparedBox,
    function: BlackBox,
    searcher: Searcher,
    store: Store,
    past: Past = NO_PAST,
) -> RunResult:
    """Evaluate the proposals of a search in the chosen executor until the budget ends."""
    config, problem = box.config, box.problem
    tells_fidelity = config.least_fidelity < 1.0
    work = BlackBoxWork(function, problem.space, box.names, tells_fidelity=tells_fidelity)
    tell = teller(config, problem, box.plugins, past)
    with temporary_folder("automl-admm-") as scratch:
        executor = build_executor(config, box.plugins, work, scratch)
        interrupts = deferral_for(executor, config.interrupts)
        dispatch = Dispatcher(executor, title_of_executor(config, box.plugins), interrupts)
        try:
            with interrupts:
                desk = Desk(
                    dispatch,
                    store,
                    budget_of(config, Reserve()),
                    tell,
                    past,
                    ledger=Ledger(config.begun),
                    interrupts=interrupts,
                )
                result = run_search(config, searcher, problem, desk)
        finally:
            dispatch.close()
    if result.stop.warning is not None:
        logger.warning(result.stop.warning)
    if result.best is not None:
        tell("run_finished", result=result)
    return result


def check_function(function: object) -> None:
    """Raise if the objective cannot be called."""
    if not callable(function):
        hint = "It is given a dict of values by name."
        raise ConfigurationError(
            f"objective must be a function, not {say_value(function)}.", hint=hint
        )


def check_space(space: object, cheap: object) -> None:
    """Raise if the space or the cheap functions are of the wrong kind."""
    if not isinstance(space, SearchSpace):
        hint = "Write SearchSpace(decisions=(…), parameters=(…))."
        raise ConfigurationError(f"space must be a SearchSpace, not {say_value(space)}.", hint=hint)
    if not isinstance(cheap, Mapping):
        hint = "It has a function for the name of a limit."
        raise ConfigurationError(f"cheap must be a dict, not {say_value(cheap)}.", hint=hint)


def check_cheap(cheap: Cheap, names: Sequence[str]) -> None:
    """Raise if a cheap function has no limit of its name."""
    for name in cheap:
        if name not in names:
            raise UnknownNameError("limit", name, names)


def _measure_values(
    space: SearchSpace, function: Callable[[dict[str, Any]], float], candidate: Candidate
) -> float:
    return as_number(function(space.values(candidate)))


def _text(space: SearchSpace, candidate: Candidate) -> str:
    return json.dumps(space.values(candidate), sort_keys=True, default=str)


def _key(space: SearchSpace, candidate: Candidate) -> str:
    return content_hash(keyed(_text(space, candidate), candidate))


def _with_places(space: SearchSpace) -> SearchSpace:
    """Return the space with the place of each value that is an object: two may have one text."""
    decisions = (
        replace(one, values=_places(one.values)) if isinstance(one, Choice) else one
        for one in space.decisions
    )
    parameters = (replace(one, values=_places(one.values)) for one in space.parameters)
    return SearchSpace(tuple(decisions), tuple(parameters))


def _places(values: Sequence[Any]) -> tuple[Any, ...]:
    # Those that a folder keeps stay: its keys are made of them.
    pairs = enumerate(values)
    return tuple(one if type(one) in get_args(Value) else {"place": place} for place, one in pairs)


def _number(value: Any) -> float:
    try:
        return as_number(value)
    except (TypeError, OverflowError):
        raise InvalidOutcome(
            f"the objective returned {say_value(value)} where a number is due"
        ) from None
