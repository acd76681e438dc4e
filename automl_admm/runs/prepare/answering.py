"""The target, weights and sensitive columns of a run, numbers in text such as `12%` as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.data.ingest.answers import (
    PLAIN,
    decide_answers,
    read_answer,
    read_sensitive,
    read_target,
    with_sensitive,
)
from automl_admm.data.ingest.records import ANSWERS, Ingest, read_ingest
from automl_admm.data.reading.file_options import DECIMALS
from automl_admm.data.row_roles import RoleColumns
from automl_admm.runs.config import RunConfig
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True, eq=False)
class Answered:
    """The columns that are no features, numbers in text read as numbers by `answers`."""

    y: Any
    sensitive: Any
    columns: RoleColumns
    answers: Ingest


def answer(config: RunConfig, y: Any, sensitive: Any, columns: RoleColumns) -> Answered:
    """Read the columns that are no features; a resumed run reads them by its own facts."""
    if config.resumed and config.place is not None:
        saved = RunFolder(config.place)
        try:
            known = read_ingest(saved.read(saved.settings), ANSWERS) or PLAIN
            return _read(known, y, sensitive, columns)
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
