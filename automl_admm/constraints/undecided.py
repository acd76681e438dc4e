"""Limits beside one that lets a model leave rows undecided, such as `abstain <= 5 %`.

Such a row has −1 for its decision. What looks at decisions then counts the decided rows alone; no
measure, ours or of a plugin, is given a row without a decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from automl_admm.constraints.class_views import knowing_classes
from automl_admm.constraints.column_values import OfColumn
from automl_admm.constraints.group_comparison import Grouped
from automl_admm.core.errors import ConfigurationError, Remedy
from automl_admm.core.named_rows import name_rows
from automl_admm.core.returned_evidence import as_evidence
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint, Measured


@dataclass(frozen=True, slots=True)
class OfDecided:
    """A measure of the decided rows alone; its evidence names them so."""

    function: Any

    def __call__(self, evaluated: EvaluatedPipeline, *others: Any) -> Measured:
        """Measure the decided rows, with those of the masks of groups or of numbers."""
        decided = np.asarray(evaluated.decisions) != UNDECIDED
        if not decided.all():
            # A new record: one that caches the parts of its rows would keep those of every trial.
            known = {one.name: getattr(evaluated, one.name) for one in fields(EvaluatedPipeline)}
            evaluated = EvaluatedPipeline(**known).part(decided)
            others = tuple(_taken(one, decided) for one in others)
        found = as_evidence(self.function(evaluated, *others), len(evaluated.y))
        return name_rows(found, "decided {}".format)

    def knowing(self, labels: Sequence[object]) -> OfDecided:
        """Return the same with the classes of the target."""
        return OfDecided(knowing_classes(self.function, labels))


def _taken(given: Any, rows: Any) -> Any:
    if isinstance(given, Mapping):
        return {name: mask[rows] for name, mask in given.items()}
    return given[rows]


def with_decided_rows(constraints: Sequence[Constraint]) -> tuple[Constraint, ...]:
    """Return the limits, those on decisions as limits on the decided rows if one leaves others.

    Raise for a limit on undecided rows that makes no sense by itself.
    """
    _check(constraints)
    if not any(one.allows_undecided for one in constraints):
        return tuple(constraints)
    return tuple(_of_decided(one) if _looks_at_decisions(one) else one for one in constraints)


def _looks_at_decisions(one: Constraint) -> bool:
    is_told = one.kind == "statistical" and one.uses_decisions
    return is_told and not one.counts_undecided


def _of_decided(one: Constraint) -> Constraint:
    function: Any = one.function
    if isinstance(function, Grouped | OfColumn):
        inner: Any = replace(function, function=OfDecided(function.function))
        return replace(one, function=inner)
    return replace(one, function=OfDecided(function))


def _check(constraints: Sequence[Constraint]) -> None:
    for one in constraints:
        name = one.limit.name
        if one.allows_undecided and one.limit.at_least:
            raise ConfigurationError(
                f"'{one.limit}' asks for rows that are left undecided.",
                hint=f"Say how many may be at most: '{name} <= 5 %'.",
            )
        if one.allows_undecided and one.of_baseline is not None:
            raise ConfigurationError(
                f"'{name}' cannot be limited by the baseline, which decides every row.",
                hint=f"Give a share, as in '{name} <= 5 %'.",
            )
        is_alone = not any(other.allows_undecided for other in constraints)
        if one.counts_undecided and is_alone:
            raise ConfigurationError(
                f"'{one.limit}' limits rows that are left undecided, and none may be.",
                hint="Add 'abstain <= 5 %', the share of all rows that may be.",
            )


def refuse_beside_undecided(
    constraints: Sequence[Constraint], *, has_cost: bool, by_group: bool, labels: Sequence[object]
) -> None:
    """Raise for what cannot go with rows left undecided, before anything is trained."""
    allowing = next((one.limit.name for one in constraints if one.allows_undecided), None)
    if allowing is None:
        return
    if has_cost:
        raise ConfigurationError(
            f"'{allowing}' and a cost of decisions cannot go together: nobody said what a row "
            "costs that is left undecided.",
            hint=Remedy("Leave out {cost} or the limit."),
        )
    if by_group:
        raise ConfigurationError(
            f"'{allowing}' and thresholds by group cannot go together: rows are left undecided "
            "around one threshold for all.",
            hint=Remedy("Leave out {group_thresholds} or the limit."),
        )
    if any(str(label) == "" for label in labels):
        raise ConfigurationError(
            f"'{allowing}': a class of the target is the empty text, which is how predictions "
            "show a row that is left undecided.",
            hint="Rename that class.",
        )
