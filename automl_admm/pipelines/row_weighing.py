"""Weights that a pipeline gives to the rows that it learns from, such as `reweigh`.

A weigher stands in a pipeline like any component, and is searched like any. It sees labels and
groups of rows and no features, so it has no part in predictions: the fitted pipeline is without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from automl_admm.core.errors import PluginError
from automl_admm.core.messages import say_value
from automl_admm.core.space import Array, Value
from automl_admm.core.structure.pipeline_space import Item, Step, all_steps
from automl_admm.pipelines.predictions.measured import Table
from automl_admm.pipelines.thresholds.path import moves
from automl_admm.plugins.component_record import Weigher
from automl_admm.plugins.factories import expect, make
from automl_admm.plugins.records import BuildContext, ComponentPlugin, Constraint
from automl_admm.plugins.registry import Registry


def without_weighers(
    steps: Sequence[Item], components: Registry[ComponentPlugin]
) -> tuple[Item, ...]:
    """Return the steps that data flow through."""
    return tuple(one for one in steps if not _is_weigher(one, components))


def has_weigher(steps: Sequence[Item], components: Registry[ComponentPlugin]) -> bool:
    """Return True if a pipeline weighs the rows that it learns from."""
    return len(without_weighers(steps, components)) < len(steps)


def names_of_weighers(
    pipelines: Iterable[Sequence[Item]], components: Registry[ComponentPlugin]
) -> set[str]:
    """Return the names of what weighs rows in pipelines."""
    found = {step.component for steps in pipelines for step in all_steps(steps)}
    return {name for name in found if components.get(name).role == "weigher"}


def weigh_rows(
    steps: Sequence[Item],
    components: Registry[ComponentPlugin],
    context: BuildContext,
    rows: Table,
    constraints: Sequence[Constraint],
) -> Array | None:
    """Return the weights of rows in a fit: the user's own, changed by the weighers in the steps.

    Groups are those that limits compare; rows that are together in all of them are one group. The
    mean weight stays. None if nothing weighs them.
    """
    weights = rows.roles.weights
    for step in steps:
        if isinstance(step, Step) and _is_weigher(step, components):
            given = np.ones(len(rows.y)) if weights is None else np.asarray(weights, dtype=float)
            weigher = make_weigher(step, components, context)
            found = weigher.weigh(rows.y, _groups(rows, constraints), given.copy())
            weights = checked_weights(found, given, components.title(step.component))
    return weights


def compares_groups(constraint: Constraint) -> bool:
    """Return True if a limit compares decisions on groups of rows: a weigher is told these."""
    return constraint.groups is not None and moves(constraint)


def _is_weigher(item: Item, components: Registry[ComponentPlugin]) -> bool:
    if not isinstance(item, Step) or item.component not in components:
        return False
    return components.get(item.component).role == "weigher"


def make_weigher(
    step: Step, components: Registry[ComponentPlugin], context: BuildContext
) -> Weigher:
    """Return the weigher of a step; a failure of its plugin is told with its name."""
    plugin, title = components.get(step.component), components.title(step.component)
    values: Mapping[str, Value] = plugin.defaults | dict(step.values)
    weigher: Weigher = make(title, plugin.factory, values, context)
    expect(title, "weigher with a method `weigh`", weigher, is_one=hasattr(weigher, "weigh"))
    return weigher


def _groups(rows: Table, constraints: Sequence[Constraint]) -> Any:
    """Return a number for each row, equal for rows of the same groups."""
    numbers = np.zeros(len(rows.y), dtype=np.intp)
    for constraint in constraints:
        if compares_groups(constraint) and constraint.groups is not None:
            names = constraint.groups(rows.sensitive)
            known, places = np.unique(names.astype(str), return_inverse=True)
            numbers = np.unique(numbers * len(known) + places, return_inverse=True)[1]
    return numbers


def checked_weights(found: object, given: Array, title: str) -> Array:
    """Return weights with the mean of the given ones; raise if they are none."""
    try:
        weights = np.array(found, dtype=float)
    except (TypeError, ValueError):
        weights = np.array([])
    if weights.shape != given.shape or not np.isfinite(weights).all() or weights.min() < 0.0:
        raise PluginError(f"{title} gave no weight from 0 on for each row: {say_value(found)}.")
    if weights.sum() <= 0.0:
        raise PluginError(f"{title} gave all rows the weight 0.")
    scaled: Array = weights * (given.sum() / weights.sum())
    return scaled
