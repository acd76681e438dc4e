"""The target and the weights of a run as numbers, also where the file has text such as `12%`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from automl_admm.core.errors import DataError
from automl_admm.data.conforming import row_of
from automl_admm.data.ingest.answers import PLAIN, decide_answers, read_answer, read_target
from automl_admm.data.ingest.records import ANSWERS, Ingest, read_ingest
from automl_admm.data.reading.file_options import DECIMALS
from automl_admm.data.row_roles import RoleColumns
from automl_admm.runs.config import RunConfig
from automl_admm.store.run_folder import RunFolder


@dataclass(frozen=True, eq=False)
class Answered:
    """The target and the columns with a role, numbers in text read as numbers by `answers`."""

    y: Any
    columns: RoleColumns
    answers: Ingest


def answer(config: RunConfig, y: Any, columns: RoleColumns) -> Answered:
    """Read the target and the weights; a resumed run reads them by its own facts."""
    if config.resumed and config.place is not None:
        saved = RunFolder(config.place)
        try:
            return _read(read_ingest(saved.read(saved.settings), ANSWERS) or PLAIN, y, columns)
        except DataError:
            if not config.changes_allowed:
                raise
    decimal = None if config.decimal is None else DECIMALS[config.decimal]
    return _read(decide_answers(y, columns.weight, config.task, decimal), y, columns)


def _read(answers: Ingest, y: Any, columns: RoleColumns) -> Answered:
    place, weight = columns.place or row_of, columns.weight
    if weight is not None:
        columns = replace(columns, weight=read_answer(weight, answers, place))
    return Answered(read_target(y, answers, place), columns, answers)
