"""The ingest of a run: its facts are found once, on the rows given to the first session."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from automl_admm.core.errors import ConfigurationError, DataError, Remedy, suggest
from automl_admm.core.limits import Limit
from automl_admm.data.columns import column_kinds, has_gaps
from automl_admm.data.conforming import Place, row_of
from automl_admm.data.ingest.answers import (
    PLAIN,
    decide_answers,
    read_answer,
    read_sensitive,
    read_target,
    with_sensitive,
)
from automl_admm.data.ingest.applying import TakenIn, take_in
from automl_admm.data.ingest.deciding import decide, plain_ingest
from automl_admm.data.ingest.records import ANSWERS, Ingest, Reading, read_ingest
from automl_admm.data.levels import count_levels, orders_of
from automl_admm.data.reading.file_options import DECIMALS
from automl_admm.data.row_roles import RoleColumns
from automl_admm.data.table_schema import Schema, schema_of
from automl_admm.plugins.records import BuildContext, LearningTask
from automl_admm.runs.config import RunConfig


def ingest_table(config: RunConfig, X: Any, place: Place = row_of) -> TakenIn:
    """Return the table of a user and the table for pipelines; `place` names the place of a row.

    A resumed run reads the table by its own facts: found anew by a later version, or on other rows,
    they could be others. Runs of versions without an ingest took all columns as they were.
    """
    before = config.run_before()
    if before is None:
        return take_in(X, decide(X, config.columns, place), place)
    try:
        return take_in(X, read_ingest(before) or plain_ingest(X))
    except DataError:
        if not config.changes_allowed:
            raise
        return take_in(X, decide(X, config.columns))  # other data may hold anything


def context_of(task: LearningTask, taken: TakenIn) -> BuildContext:
    """Return the kinds of columns for components."""
    ingest = taken.ingest
    numeric, categorical = ingest.numeric, ingest.categorical
    if ingest.is_plain:  # an array has places in the place of names
        numeric, categorical = column_kinds(taken.made)
    return BuildContext(
        task,
        numeric,
        categorical,
        text=ingest.text,
        tags=ingest.tags,
        levels=count_levels(taken.made, categorical),
        has_gaps=has_gaps(taken.made, numeric),
        orders=orders_of(taken.made, categorical),
    )


def origins_of(ingest: Ingest) -> Mapping[str, str] | None:
    """Return the user's column behind each column of the pipelines; None if they are the same."""
    return None if ingest.is_plain else ingest.origins()


def check_deciding(ingest: Ingest, columns: Iterable[str]) -> None:
    """Raise if a shipped model cannot decide by a column: it sees only what is made of it."""
    readings = ingest.by_name()
    for name in columns:
        reading = readings[name]
        if not reading.is_plain and not (reading.kind == "number" and name in reading.made):
            raise ConfigurationError(
                f"no threshold can be by the column '{name}' ({reading.note}).",
                hint=_way_to_decide_by(reading),
            )


def _way_to_decide_by(reading: Reading) -> Remedy:
    """Say what to do with a column that a model cannot decide by as it is read."""
    if reading.kind != "category":
        return Remedy(
            "Read it as a category, {columns=NAME=category}, or leave out {group_thresholds}.",
            python="Read it as a category, columns={'NAME': 'category'}, or leave out "
            "group_thresholds.",
        )
    if reading.is_asked and reading.facts.get("of") in ("boolean", "number"):  # else plain
        return Remedy(
            f"Leave '{reading.name}' out of {{columns}}: its values are groups as they are; or "
            "leave out {group_thresholds}."
        )
    return Remedy("Write it as text in the table, or leave out {group_thresholds}.")


def schema_of_table(taken: TakenIn, y: Any, *more: Any) -> Schema:
    """Describe all columns of the user: features, target, and frames of others, if there are."""
    import pandas as pd

    parts = [schema_of(pd.DataFrame(taken.raw)).leaving(taken.ingest.formed)]
    if name_of(y) is not None:
        parts.append(schema_of(pd.DataFrame(y)))
    parts += [schema_of(others) for others in more if others is not None]
    return Schema(tuple(column for part in parts for column in part.columns))


def name_of(target: Any) -> str | None:
    """Return the name of a target as text, if it has one."""
    name = getattr(target, "name", None)
    return None if name is None else str(name)


def check_column_costs(
    costs: Mapping[str, float] | None,
    limits: Sequence[Limit],
    ingest: Ingest,
    others: Mapping[str, str],
) -> None:
    """Raise if a column with a cost is no feature, or if no limit asks for the costs.

    The `others` are columns that are no features, each with what it is.
    """
    if costs is None:
        return
    if not any(limit.name == "column_cost" for limit in limits):
        raise ConfigurationError(
            "costs of columns are given, and no limit on them.",
            hint=Remedy(
                'Add {constraints}, such as "column_cost <= 20", or leave out {column_cost}.'
            ),
        )
    known = list(ingest.by_name())
    for name in costs:
        if name in known:
            continue
        if name in others:
            message = f"column '{name}' is {others[name]}: only features have a cost."
            raise ConfigurationError(
                message, hint=Remedy(f"Leave '{name}' out of {{column_cost}}.")
            )
        message = f"the costs of columns name '{name}', and the data have no such column."
        raise ConfigurationError(message, hint=suggest(name, known))


@dataclass(frozen=True, eq=False)
class Answered:
    """The columns that are no features, numbers in text read as numbers by `answers`."""

    y: Any
    sensitive: Any
    columns: RoleColumns
    answers: Ingest


def answer(config: RunConfig, y: Any, sensitive: Any, columns: RoleColumns) -> Answered:
    """Read the columns that are no features; a resumed run reads them by its own facts."""
    if (before := config.run_before()) is not None:
        try:
            return _read(read_ingest(before, ANSWERS) or PLAIN, y, sensitive, columns)
        except DataError:
            if not config.changes_allowed:
                raise
    decimal = None if config.decimal is None else DECIMALS[config.decimal]
    found = decide_answers(y, columns.weight, config.task, decimal)
    return _read(with_sensitive(found, sensitive), y, sensitive, columns)


def _read(answers: Ingest, y: Any, sensitive: Any, columns: RoleColumns) -> Answered:
    place, weight = columns.place, columns.weight
    if weight is not None:
        columns = replace(columns, weight=read_answer(weight, answers, place))
    apart = read_sensitive(sensitive, answers, place)
    return Answered(read_target(y, answers, place), apart, columns, answers)
