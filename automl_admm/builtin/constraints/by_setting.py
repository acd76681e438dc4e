"""The built-in limits measured by what the user says of costs: of decisions, and of columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from automl_admm.builtin.constraints.columns_used import columns_needed
from automl_admm.core.evidence import Fact, Mean, Weighted
from automl_admm.pipelines.thresholds.cost import Cost
from automl_admm.pipelines.thresholds.cost_text import read_costs
from automl_admm.pipelines.thresholds.said_costs import SaidCosts
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import ConstraintPlugin


@dataclass(frozen=True, slots=True)
class MeanCost:
    """The mean cost of a row, as it was `said`; costs of pairs become a table with the classes."""

    said: SaidCosts
    cost: Cost | None

    def __call__(self, evaluated: EvaluatedPipeline) -> Mean | Weighted:
        """Return (1/n) Σ c(y_i, ŷ_i), the mean cost of a row by its class and its decision."""
        assert self.cost is not None  # noqa: S101 - the classes are known before any row is
        values = self.cost.of_rows(evaluated.y, evaluated.decisions)
        if evaluated.weights is None:
            return Mean(values, *self.cost.ends)
        if not len(values):
            return Weighted(math.nan)
        return Weighted(self.cost.mean(evaluated.y, evaluated.decisions, evaluated.weights))

    def knowing(self, labels: Sequence[object]) -> MeanCost:
        """Return the same with the table of the classes of the target; raise if it has others."""
        return replace(self, cost=self.said.of(labels))


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
    costs = None if said is None else read_costs(said)
    lowest, highest = (None, None) if costs is None else costs.ends
    return ConstraintPlugin(
        name="cost",
        summary="mean cost of a row by --cost, in its unit",
        function=None if costs is None else MeanCost(costs, costs.at_once),
        setting="cost",
        by_setting=_by_cost if costs is None else None,
        lowest=lowest,
        highest=highest,
        kind="statistical",
        better="smaller",
        target="classes",
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
        better="smaller",
    )
