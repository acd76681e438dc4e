"""The standings of a run: every evaluation with its rank and its excess over each limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from automl_admm.core.evaluations import Evaluation, is_feasible
from automl_admm.core.limits import Limit
from automl_admm.core.ranking import rank


@dataclass(frozen=True, slots=True)
class Standing:
    """An evaluation, its rank from 1, and how far it is outside each limit, in the limit's unit.

    Failures and evaluations on fewer rows or folds have no rank; failures have no `excess`.
    """

    evaluation: Evaluation
    rank: int | None
    feasible: bool
    excess: tuple[float, ...] = ()


def standings(evaluations: Sequence[Evaluation], limits: Sequence[Limit]) -> tuple[Standing, ...]:
    """Return all evaluations: the ranked ones, best first, then the others in their order.

    Of the others those that were stopped early stand first, by the forecasts of their losses.
    """
    ranked = rank(evaluations, limits)
    ranks = {one.number: place for place, one in enumerate(ranked, start=1)}
    others = [one for one in evaluations if one.number not in ranks]
    others.sort(key=lambda one: (not one.folds_left, one.loss if one.folds_left else 0.0))
    return tuple(
        Standing(one, ranks.get(one.number), is_feasible(one, limits), _excess(one, limits))
        for one in (*ranked, *others)
    )


def _excess(evaluation: Evaluation, limits: Sequence[Limit]) -> tuple[float, ...]:
    if not evaluation.ok:
        return ()
    pairs = zip(limits, evaluation.constraints, strict=True)
    return tuple(limit.excess(value) for limit, value in pairs)
