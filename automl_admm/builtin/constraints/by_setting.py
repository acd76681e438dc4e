"""The built-in limits measured by what the user says of costs: of decisions, and of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import partial

from automl_admm.builtin.constraints.columns_used import columns_needed
from automl_admm.core.evidence import Fact, Mean, Weighted
from automl_admm.pipelines.thresholds.cost import Cost, read_cost
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin


def mean_cost(evaluated: EvaluatedPipeline, cost: Cost) -> Mean | Weighted:
    """Return (1/n) Σ c(y_i, ŷ_i), the mean cost of a row by its class and its decision."""
    values = cost.of_rows(evaluated.y, evaluated.decisions)
    if evaluated.weights is None:
        return Mean(values, *cost.ends)
    if not len(values):
        return Weighted(math.nan)
    return Weighted(cost.mean(evaluated.y, evaluated.decisions, evaluated.weights))


def column_cost(evaluated: EvaluatedPipeline, costs: Mapping[str, float]) -> Fact:
    """Return the sum of the costs of the user's columns that the model reads; others cost 0."""
    columns = getattr(evaluated.X, "columns", range(evaluated.X.shape[1]))
    names = [str(name) for name in columns]
    origins = evaluated.origins or {}
    read = {origins.get(names[place], names[place]) for place in columns_needed(evaluated)}
    return Fact(math.fsum(costs.get(name, 0.0) for name in read))


def constraints() -> Iterable[ConstraintPlugin]:
    """Yield the limits; each is complete with the value of its setting."""
    yield _by_cost(None)
    yield _by_column_cost(None)


def _by_cost(said: str | None) -> ConstraintPlugin:
    cost = None if said is None else read_cost(said)
    lowest, highest = (None, None) if cost is None else cost.ends
    return ConstraintPlugin(
        name="cost",
        summary="mean cost of a row by --cost, in its unit",
        function=None if cost is None else partial(mean_cost, cost=cost),
        setting="cost",
        by_setting=_by_cost if cost is None else None,
        lowest=lowest,
        highest=highest,
        kind="statistical",
        target="two classes",
        takes_weights=True,
    )


def _by_column_cost(costs: Mapping[str, float] | None) -> ConstraintPlugin:
    return ConstraintPlugin(
        name="column_cost",
        summary="sum of the costs of input columns that the model reads, by --column-cost",
        function=None if costs is None else partial(column_cost, costs=costs),
        setting="column_cost",
        by_setting=_by_column_cost if costs is None else None,
        kind="checked",
    )
