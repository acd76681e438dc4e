"""The evaluations of a search as an estimator keeps them, for its tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.pipelines.thresholds.path import moved_names
from automl_admm.report.board import Column, make_board
from automl_admm.report.document.numbers import finite
from automl_admm.report.searched import Searched
from automl_admm.report.shipped import Shipped
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class History:
    """All evaluations of a search, and the model that shipped."""

    search: Searched
    model: Shipped


def history_of(outcome: PipelineResult) -> History:
    """Return the history of a run."""
    prepared, metric = outcome.preparation, outcome.preparation.metric
    search = Searched(
        evaluations=outcome.result.evaluations,
        limits=prepared.limits,
        moved=moved_names(prepared.constraints),
        metric=metric.name,
        best_score=metric.best,
        workers=prepared.config.n_jobs,
        sessions=_sessions(prepared.config.place),
    )
    return History(search, _shipped(outcome))


def _sessions(place: Path | None) -> tuple[Mapping[str, Any], ...]:
    """Return the sessions of a run that was kept: its report takes the time from them."""
    if place is None:
        return ()
    folder = RunFolder(place)
    return tuple(folder.read(folder.settings).get("sessions", ()))


def _shipped(outcome: PipelineResult) -> Shipped:
    best = outcome.best
    return Shipped(
        text=best.text,
        number=None,
        is_shipped=True,
        is_feasible=outcome.result.feasible,
        validation_score=outcome.score,
        values=tuple(map(finite, best.constraints)),
        fallback=outcome.fallback,
    )


def leaderboard(history: History) -> Any:
    """Return the standings as a frame: the columns and lines of `automl-admm leaderboard --csv`."""
    import pandas as pd

    search = history.search
    board = make_board(search.standings, search.limits, search.metric, search.score)
    return pd.DataFrame({column.name: _as_array(column) for column in board.columns})


def _as_array(column: Column) -> Any:
    """Return the values in the type of the column; only ranks may be missing among integers."""
    import pandas as pd

    if column.kind is str:
        return list(column.values)
    if column.name == "rank":
        return pd.array(column.values, dtype="Int64")
    return np.array(column.values, dtype=column.kind)
