"""The log of a run in SQLite: write-ahead log, synchronous=FULL, one row an evaluation.

A row is on the disk before `append` returns: neither kill -9 nor a power cut loses it.
"""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from automl_admm.errors import DiskFullError, StoreError
from automl_admm.problem import Evaluation, Status
from automl_admm.space import Candidate, Selection

APPLICATION_ID = 0x41444D4D  # "ADMM"
SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE evaluations (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    text TEXT NOT NULL,
    selection TEXT NOT NULL,
    theta TEXT NOT NULL,
    status TEXT NOT NULL,
    loss REAL,
    constraints TEXT NOT NULL,
    seconds REAL NOT NULL,
    fidelity REAL NOT NULL,
    message TEXT NOT NULL,
    details TEXT NOT NULL
) STRICT
"""
COLUMNS = (
    "number",
    "key",
    "text",
    "selection",
    "theta",
    "status",
    "loss",
    "constraints",
    "seconds",
    "fidelity",
    "message",
    "details",
)
INSERT = (
    f"INSERT OR IGNORE INTO evaluations ({', '.join(COLUMNS)}) "  # noqa: S608 - our own names
    f"VALUES ({', '.join('?' * len(COLUMNS))})"
)
SELECT = f"SELECT {', '.join(COLUMNS)} FROM evaluations ORDER BY number"  # noqa: S608 - ours


class SqliteStore:
    """The evaluations of one run in one file."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if not create and not path.is_file():
            raise StoreError(f"there is no store '{path}'.", hint="Name the folder of a run.")
        self._path = path
        try:
            self._database = sqlite3.connect(path, isolation_level=None)
            self._open(create=create)
        except sqlite3.Error as problem:
            raise self._explained(problem) from problem

    def _open(self, *, create: bool) -> None:
        if create:
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=FULL")
            self._database.execute(f"PRAGMA application_id={APPLICATION_ID}")
            self._database.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            self._database.execute(SCHEMA)
            return
        self._database.execute("PRAGMA synchronous=FULL")
        (application,) = self._database.execute("PRAGMA application_id").fetchone()
        (version,) = self._database.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise StoreError(f"'{self._path}' is no store of automl-admm.")
        if version != SCHEMA_VERSION:
            raise StoreError(
                f"'{self._path}' has version {version}, this program reads {SCHEMA_VERSION}.",
                hint="Use the version of automl-admm that wrote it.",
            )

    def append(self, evaluation: Evaluation) -> None:
        """Keep an evaluation for good before returning; a key that is known is ignored."""
        try:
            self._database.execute(INSERT, _to_row(evaluation))
        except sqlite3.Error as problem:
            raise self._explained(problem) from problem

    def read(self) -> Sequence[Evaluation]:
        """All evaluations in the order of their numbers."""
        try:
            return [_from_row(row) for row in self._database.execute(SELECT)]
        except (sqlite3.Error, ValueError) as problem:
            raise self._explained(problem) from problem

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self._database.close()

    def _explained(self, problem: Exception) -> StoreError | DiskFullError:
        if "full" in str(problem):
            return DiskFullError(f"no room left for '{self._path}'.", hint="Free some and go on.")
        return StoreError(f"the store '{self._path}' cannot be used: {problem}.")


def _to_row(evaluation: Evaluation) -> tuple[Any, ...]:
    return (
        evaluation.number,
        evaluation.key,
        evaluation.text,
        json.dumps(dict(evaluation.candidate.selection.picks)),
        json.dumps(evaluation.candidate.theta),
        evaluation.status.value,
        evaluation.loss if evaluation.ok else None,
        json.dumps(evaluation.constraints),
        evaluation.seconds,
        evaluation.candidate.fidelity,
        evaluation.message,
        json.dumps(dict(evaluation.details)),
    )


def _from_row(row: Sequence[Any]) -> Evaluation:
    column = dict(zip(COLUMNS, row, strict=True))
    return Evaluation(
        number=column["number"],
        key=column["key"],
        text=column["text"],
        candidate=Candidate(
            _selection(column["selection"]),
            tuple(json.loads(column["theta"])),
            column["fidelity"],
        ),
        status=Status(column["status"]),
        loss=math.nan if column["loss"] is None else column["loss"],
        constraints=tuple(json.loads(column["constraints"])),
        seconds=column["seconds"],
        message=column["message"],
        details=json.loads(column["details"]),
    )


def _selection(text: str) -> Selection:
    picks = json.loads(text).items()
    return Selection(tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in picks))
