"""Labelled rows that a user gives for a report, and the answers of the run's model to them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from automl_admm.constraints.fitted_groups import quantile_cuts
from automl_admm.constraints.groups import MOST_GROUPS, Grouping, Names, check_columns, order_groups
from automl_admm.constraints.parse import read_text
from automl_admm.constraints.syntax import GroupColumn
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, DataError, suggest
from automl_admm.data.conforming import Place, row_of
from automl_admm.execution.shared_state import unheard_warnings
from automl_admm.pipelines.labels import UNDECIDED
from automl_admm.pipelines.metrics import Metric
from automl_admm.pipelines.predictions.decisions import decisions_of, predict_unseen
from automl_admm.pipelines.predictions.measured import Table, score_of
from automl_admm.pipelines.predictions.wrappers import Numbered, Remembered
from automl_admm.pipelines.thresholds.single import response_of
from automl_admm.plugins.evaluated_pipeline import EvaluatedPipeline
from automl_admm.plugins.records import Constraint
from automl_admm.runs.finish.model_file import rows_for_the_model
from automl_admm.runs.saved.certified_run import CertifiedRun
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.groups_of_rows import limits_on_rows
from automl_admm.runs.saved.labelled_rows import (
    MeasuredLimit,
    measured_limits,
    metric_of,
    one_class_on,
    open_run,
)
from automl_admm.runs.saved.row_origin import Origin, find_origin
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True)
class RowsAsked:
    """A table with the target in it; `source` is its file, None for a table of Python.

    `place` names the place of a row in messages.
    `groups` are columns to compare, as limits write them: `sex`, `age:30,50`, `sex,age:30,50`.
    """

    frame: Any
    title: str
    source: Path | None = None
    groups: tuple[str, ...] = ()
    place: Place = row_of


@dataclass(frozen=True, eq=False)
class RowGroups:
    """The name of each row's group, and these names in their order."""

    names: Names
    order: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GivenRows:
    """Rows in the form of the run's own, and the model's answers to them.

    `scores` are probabilities of the classes, or scores, the positive class last; None of a model
    with decisions alone. `decisions` are class numbers, or predicted quantities. A run scored by a
    function of its user has no `metric` here. `one_class` is the class that the model gives to all
    rows, of its run or of these, if it is only one.
    """

    run: CertifiedRun
    origin: Origin
    table: Table
    decisions: Any
    scores: Any
    are_probabilities: bool
    metric: Metric | None
    score: float
    constraints: tuple[Constraint, ...]
    one_class: str | None
    limits: tuple[MeasuredLimit, ...]
    groups: dict[str, RowGroups]

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes, the positive one last; empty for a quantity."""
        found = self.table.classes
        return () if found is None else tuple(map(str, found))

    @property
    def is_decided(self) -> Any:
        """Tell for each row if the model decides it."""
        return np.asarray(self.decisions != UNDECIDED) | (not self.classes)

    @property
    def belong_together(self) -> bool:
        """Tell if some rows are of one group of the run's column of groups."""
        clusters = self.table.roles.clusters
        return clusters is not None and len(np.unique(clusters)) < len(clusters)

    @property
    def are_trials(self) -> bool:
        """Tell if the rows are independent and count alike, as exact intervals take them to be."""
        return self.table.roles.weights is None and not self.belong_together

    @property
    def only_class(self) -> str | None:
        """The class of all rows; None if there are several, and for a quantity."""
        if not self.classes:
            return None
        found = np.unique(self.table.y)
        return self.classes[int(found[0])] if len(found) == 1 else None

    @property
    def positive_scores(self) -> Any:
        """The scores of the positive class, of two; None without scores."""
        if self.scores is None or len(self.classes) != 2:
            return None
        return self.scores if self.scores.ndim == 1 else self.scores[:, -1]

    def evaluated(self) -> EvaluatedPipeline:
        """Return the rows and the answers as limits see them."""
        table = self.table
        answers = self.scores if self.scores is not None else self.decisions
        pipeline = self.run.pipeline
        if table.classes is not None:
            pipeline = Numbered(pipeline, table.classes)
        return EvaluatedPipeline(
            pipeline,
            table.X,
            table.y,
            answers,
            math.nan,
            math.nan,
            self.decisions,
            sensitive=table.sensitive,
            weights=table.roles.weights,
        )


def read_given(
    folder: RunFolder, asked: RowsAsked, manifest: Mapping[str, Any] | None = None
) -> GivenRows:
    """Put the model of a run to labelled rows; raise in one line if they do not suit it."""
    run = open_run(folder, GivenTable(asked.frame, asked.title, asked.place, manifest))
    frame = run.counted(asked.frame.reset_index(drop=True))
    whole = run.table(frame)
    if not len(whole.y):
        raise DataError(f"{asked.title} has no rows.")
    origin, places = find_origin(run, whole, len(asked.frame), asked.source)
    constraints = limits_on_rows(run, whole)
    if places is not None:
        whole, frame = whole.part(places), frame.iloc[places]
    frame, table = frame.reset_index(drop=True), _renumbered(whole)
    answers = Remembered(run.pipeline)
    metric = _metric(run, table)
    seen = run.for_limits(frame) if asked.groups else frame
    groups = dict(_groups(seen, table, constraints, asked))
    with unheard_warnings(), rows_for_the_model(run.pipeline, table.X):
        decisions = decisions_of(answers, table)
        response = "" if table.classes is None else response_of(answers)
        scores = predict_unseen(answers, table) if response else None
        score = math.nan if metric is None else score_of(metric, answers, table)
    only = one_class_on(run, table, decisions)
    return GivenRows(
        run=run,
        origin=origin,
        table=table,
        decisions=decisions,
        scores=_usable(scores, table),
        are_probabilities=response == "predict_proba",
        metric=metric,
        score=score,
        constraints=constraints,
        one_class=only,
        limits=measured_limits(run, table, constraints, only),
        groups=groups,
    )


def _renumbered(table: Table) -> Table:
    """Number the rows of frames from 0, as the run's own are."""
    sensitive = None if table.sensitive is None else table.sensitive.reset_index(drop=True)
    X = table.X.reset_index(drop=True) if hasattr(table.X, "iloc") else table.X
    return replace(table, X=X, sensitive=sensitive)


def _usable(scores: Any, table: Table) -> Any:
    """Return scores with a column for each class, or of two classes one for the positive one."""
    if scores is None or table.classes is None:
        return None
    is_whole = scores.ndim == 2 and scores.shape[1] == len(table.classes)
    return scores if is_whole or (scores.ndim == 1 and len(table.classes) == 2) else None


def _metric(run: CertifiedRun, table: Table) -> Metric | None:
    try:
        return metric_of(run, table)
    except ConfigurationError:
        return None


def _groups(
    frame: Any, table: Table, constraints: Sequence[Constraint], asked: RowsAsked
) -> Iterator[tuple[str, RowGroups]]:
    """Yield the group of each row, by the columns of limits and by those asked for."""
    for one in constraints:
        if isinstance(one.groups, Grouping):
            yield _grouped(one.groups, one.groups(table.sensitive))
    for text in asked.groups:
        columns = _read_columns(text, frame)
        _check_group(columns, frame, text, asked.title)
        columns = tuple(_cut(column, frame, text) for column in columns)
        names = Grouping(columns)(frame)
        count = len(set(names.tolist()))
        if count > MOST_GROUPS:
            raise DataError(
                f"group '{text}': {asked.title} has {count} groups, and more than {MOST_GROUPS} "
                "cannot be told apart by their rows.",
                hint="Cut a column of numbers, as in age:30,50, or merge rare values.",
            )
        yield _grouped(Grouping(columns), names)


def _cut(column: GroupColumn, frame: Any, text: str) -> GroupColumn:
    """Cut a column at the quantiles of these rows, if it asks for that."""
    if not column.quantiles:
        return column
    return replace(column, cuts=quantile_cuts(frame[column.name], column.quantiles, text))


def _grouped(grouping: Grouping, names: Names) -> tuple[str, RowGroups]:
    by = ", ".join(map(str, grouping.columns))
    return by, RowGroups(np.asarray(names), order_groups(names.tolist(), grouping.columns))


def _read_columns(text: str, frame: Any) -> tuple[GroupColumn, ...]:
    """Read columns as limits write them; the plain name of a column may hold any sign."""
    if text in frame.columns:
        return (GroupColumn(text),)
    try:
        return read_text(f"group[{text}] <= 1").columns
    except AutomlAdmmError as problem:
        raise ConfigurationError(
            f"group '{text}' is no list of columns.",
            hint="Name a column, with cut points if it holds numbers: sex, age:30,50.",
        ) from problem


def _check_group(columns: Sequence[GroupColumn], frame: Any, text: str, title: str) -> None:
    known = list(map(str, frame.columns))
    for column in columns:
        if column.name not in known:
            raise DataError(
                f"group '{text}': {title} has no column '{column.name}'.",
                hint=suggest(column.name, known),
            )
    check_columns(tuple(columns), frame, f"group[{text}]")
