"""The evaluations of a search as an estimator keeps them, for its tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from automl_admm.core.evaluations import Evaluation
from automl_admm.core.limits import Limit
from automl_admm.core.structure.pipeline_space import all_steps
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
    """Return the standings as a frame: the lines of the command `leaderboard`, then the failures.

    A limit has a column with its values, and one with the excess over its bound.
    """
    import pandas as pd

    standing = history.standings
    rows = [one.evaluation for one in standing]
    before = {
        "rank": pd.array([one.rank for one in standing], dtype="Int64"),
        "number": np.array([one.number for one in rows], dtype=int),
        "score": np.array([history.score(one) for one in rows], dtype=float),
    }
    after = {
        "feasible": np.array([one.feasible for one in standing], dtype=bool),
        "seconds": np.array([one.seconds for one in rows], dtype=float),
        "fidelity": np.array([one.candidate.fidelity for one in rows], dtype=float),
        "status": [one.ending for one in rows],
        "pipeline": [one.text for one in rows],
        "message": [_message(one) for one in rows],
    }
    return pd.DataFrame(before | _of_limits(history.limits, standing, {*before, *after}) | after)


def _of_limits(
    limits: Sequence[Limit], standing: Sequence[Standing], taken: set[str]
) -> dict[str, Any]:
    """Return the columns of the limits; one called as another column is told apart."""
    columns = {}
    for place, limit in enumerate(limits):
        name = f"{limit.name} (limit)" if limit.name in taken else limit.name
        columns[name] = _at(place, [one.evaluation.constraints for one in standing])
    for place, limit in enumerate(limits):
        columns[f"excess of {limit}"] = _at(place, [one.excess for one in standing])
    return columns


def _at(place: int, values: list[tuple[float, ...]]) -> Any:
    return np.array([one[place] if one else np.nan for one in values], dtype=float)


def _message(evaluation: Evaluation) -> str:
    if evaluation.one_class is not None and not evaluation.message:
        return f"predicts '{evaluation.one_class}' for all rows"
    return evaluation.message
