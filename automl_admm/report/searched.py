"""The evaluations of a run as its figures see them, from a folder or from memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.runs.standings import Standing, standings


@dataclass(frozen=True)
class Searched:
    """All evaluations in the order of their numbers, with their limits and their score.

    A score is `best_score` less the loss. `sessions` are those of `run.json`; a run without a
    folder has none. `moved` are the names of the limits that a decision threshold moves.
    """

    evaluations: tuple[Evaluation, ...]
    limits: tuple[Limit, ...]
    metric: str
    best_score: float
    workers: int = 1
    sessions: tuple[Mapping[str, Any], ...] = ()
    moved: frozenset[str] = frozenset()

    @cached_property
    def standings(self) -> tuple[Standing, ...]:
        """All evaluations, the ranked ones first, best first."""
        return standings(self.evaluations, self.limits)

    @cached_property
    def feasible(self) -> frozenset[int]:
        """The numbers of the evaluations within the limits, on all rows and folds."""
        ranked = (one for one in self.standings if one.rank is not None)
        return frozenset(one.evaluation.number for one in ranked if one.feasible)

    @cached_property
    def ranked(self) -> tuple[Evaluation, ...]:
        """The evaluations on all rows and folds, in the order of their numbers."""
        return tuple(one for one in self.evaluations if one.is_ranked)

    def score(self, evaluation: Evaluation) -> float:
        """Return the score of an evaluation, NaN if it failed."""
        return self.best_score - evaluation.loss
