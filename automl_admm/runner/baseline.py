"""Limits that hang on a baseline: it is measured once, before the search, and is a number then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from automl_admm.errors import NoSuccessError
from automl_admm.plugin_types import Constraint
from automl_admm.problem import Status
from automl_admm.protocols import Executor, Finished, Task
from automl_admm.runner.config import RunConfig
from automl_admm.runner.search_run import Subject
from automl_admm.search import default_start, derive_seed

NUMBER = 0


def fix_bounds(
    constraints: tuple[Constraint, ...], config: RunConfig, subject: Subject, executor: Executor
) -> tuple[Constraint, ...]:
    """Give every limit a number: ε = factor · g(first start) where it is relative.

    The first start is evaluated for it, within the budget, only if there is such a limit.
    """
    if all(constraint.of_baseline is None for constraint in constraints):
        return constraints
    values = _measured(config, subject, executor)
    return tuple(
        constraint if constraint.of_baseline is None else _fixed(constraint, value)
        for constraint, value in zip(constraints, values, strict=True)
    )


def keep_bounds(
    constraints: tuple[Constraint, ...], bounds: Mapping[str, float]
) -> tuple[Constraint, ...]:
    """Give limits that are relative the numbers that they had before, where they had one."""
    return tuple(
        replace(c, limit=replace(c.limit, bound=bounds[c.limit.name]))
        if c.of_baseline is not None and c.limit.name in bounds
        else c
        for c in constraints
    )


def _fixed(constraint: Constraint, value: float) -> Constraint:
    factor = constraint.of_baseline or 0.0
    return replace(constraint, limit=replace(constraint.limit, bound=factor * value))


def _measured(config: RunConfig, subject: Subject, executor: Executor) -> tuple[float, ...]:
    candidate = (*subject.starts, default_start(subject.space))[0]
    seed = derive_seed(config.seed, subject.key(candidate))
    arguments = {"candidate": candidate, "seed": seed}
    executor.submit(Task(NUMBER, "evaluate", arguments, config.limit_of_one))
    finished = _wait(executor)
    if finished.status is not Status.SUCCESS:
        reason = f"{finished.status} {finished.message}".strip().splitlines()[0]
        raise NoSuccessError(
            f"the limits have no baseline: '{subject.text(candidate)}' ended with {reason}.",
            hint="Give another pipeline to start from, or a number as the limit.",
        )
    return tuple(map(float, finished.result["constraints"]))


def _wait(executor: Executor) -> Finished:
    while True:
        for finished in executor.wait(None):
            if finished.number == NUMBER:
                return finished
