"""The evaluations of a search as an estimator keeps them, for its tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.structure.pipeline_space import all_steps
from automl_admm.report.board import Column, make_board
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.standings import Standing, standings


@dataclass(frozen=True)
class History:
    """All evaluations, their limits, and the names of the components of each.

    `metric` is the name of the score, and a score is `best_score` less the loss.
    """

    evaluations: tuple[Evaluation, ...]
    limits: tuple[Limit, ...]
    components: tuple[tuple[str, ...], ...]
    metric: str
    best_score: float

    def score(self, evaluation: Evaluation) -> float:
        """Return the score of an evaluation, NaN if it failed."""
        return self.best_score - evaluation.loss

    @property
    def standings(self) -> tuple[Standing, ...]:
        """All evaluations, the ranked ones first."""
        return standings(self.evaluations, self.limits)


def history_of(outcome: PipelineResult) -> History:
    """Return the history of a run."""
    pipelines = outcome.preparation.grammar.pipelines
    evaluations, metric = outcome.result.evaluations, outcome.preparation.metric
    components = tuple(
        tuple(step.component for step in all_steps(pipelines.steps(one.candidate)))
        for one in evaluations
    )
    limits = outcome.preparation.limits
    return History(evaluations, limits, components, metric.name, metric.best)


def leaderboard(history: History) -> Any:
    """Return the standings as a frame: the columns and lines of `automl-admm leaderboard --csv`."""
    import pandas as pd

    board = make_board(history.standings, history.limits, history.metric, history.score)
    return pd.DataFrame({column.name: _as_array(column) for column in board.columns})


def _as_array(column: Column) -> Any:
    """Return the values in the type of the column; only ranks may be missing among integers."""
    import pandas as pd

    if column.kind is str:
        return list(column.values)
    if column.name == "rank":
        return pd.array(column.values, dtype="Int64")
    return np.array(column.values, dtype=column.kind)
