"""Limits relative to a baseline: it is measured once, before the search, and gives a number."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from automl_admm.core.errors import ConfigurationError, NoSuccessError, Remedy
from automl_admm.core.evaluations import Status
from automl_admm.core.limits import Limit
from automl_admm.core.protocols import Finished, Task
from automl_admm.core.space import Candidate
from automl_admm.plugins.records import Constraint
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.dispatch import Dispatcher, TaskKind
from automl_admm.runs.driving.judgement import check_end
from automl_admm.search.protocol import SearchProblem

# Of what is left of a budget: the search has to be given some of it.
SHARE_OF_TIME = 0.5


def fix_bounds(
    constraints: tuple[Constraint, ...],
    config: RunConfig,
    problem: SearchProblem,
    baseline: Candidate,
    dispatch: Dispatcher,
) -> tuple[Constraint, ...]:
    """Give every limit a number: ε = factor · g(baseline) for a relative one.

    The baseline is evaluated for it, within the budget, only if there is such a limit.
    """
    if all(constraint.of_baseline is None for constraint in constraints):
        return constraints
    values = _measured([one.limit for one in constraints], config, problem, baseline, dispatch)
    return tuple(
        constraint if constraint.of_baseline is None else _fixed(constraint, value)
        for constraint, value in zip(constraints, values, strict=True)
    )


def keep_bounds(
    constraints: tuple[Constraint, ...], items: Sequence[Mapping[str, Any]]
) -> tuple[Constraint, ...]:
    """Give relative limits the numbers of an earlier session, whose limits are `items`.

    With another factor it is another number of the same baseline.
    """
    known = {(item["name"], item["at_least"]): item for item in items}
    return tuple(
        _kept(one, known[side])
        if one.of_baseline is not None and (side := (one.limit.name, one.limit.at_least)) in known
        else one
        for one in constraints
    )


def _kept(constraint: Constraint, item: Mapping[str, Any]) -> Constraint:
    """Return a relative limit at the baseline of an item."""
    factor, before = constraint.of_baseline, item["of_baseline"]
    if factor == before:
        return replace(constraint, limit=replace(constraint.limit, bound=item["bound"]))
    if not before:
        raise ConfigurationError(
            f"the baseline of '{constraint.limit.name}' is not known: the run began with the "
            f"number {item['bound']:g}.",
            hint="Give a number, or begin a new run.",
        )
    return _fixed(constraint, item["bound"] / before)


def _fixed(constraint: Constraint, value: float) -> Constraint:
    factor = constraint.of_baseline or 0.0
    return replace(constraint, limit=replace(constraint.limit, bound=factor * value))


def _measured(
    limits: Sequence[Limit],
    config: RunConfig,
    problem: SearchProblem,
    baseline: Candidate,
    dispatch: Dispatcher,
) -> tuple[float, ...]:
    arguments = {"candidate": baseline, "seed": problem.seed_of(problem.key(baseline))}
    task = dispatch.make(TaskKind.EVALUATE, arguments, _limit(config))
    finished, text = _evaluated(task, dispatch, config), problem.text(baseline)
    if finished is None:
        raise NoSuccessError(
            f"the limits have no baseline: there was no time to evaluate '{text}'.",
            hint=Remedy("Give a longer {time_budget}, or a number as the limit."),
        )
    end = check_end(finished, limits, until_deadline=False)
    if end.status is not Status.SUCCESS:
        reason = f"{end.status} {end.message}".strip().splitlines()[0]
        raise NoSuccessError(
            f"the limits have no baseline: '{text}' ended with {reason}.",
            hint=Remedy("Give another pipeline in {starts}, or a number as the limit."),
        )
    return end.result.constraints


def _limit(config: RunConfig) -> float:
    """Return the time limit of the baseline.

    No search begins without it. So only the user's own limit counts, not the usual share.
    """
    if config.deadline is None or config.eval_time_limit is not None:
        return config.limit_of_one
    return max(SHARE_OF_TIME * (config.deadline - time.monotonic()), config.limit_of_one)


def _evaluated(task: Task, dispatch: Dispatcher, config: RunConfig) -> Finished | None:
    """Wait for one evaluation, as long as the budget lasts."""
    dispatch.submit(task)
    while config.deadline is None or time.monotonic() < config.deadline:
        finished = dispatch.wait_for(task)
        if finished is not None:
            return finished
    dispatch.kill(task)
    return None
