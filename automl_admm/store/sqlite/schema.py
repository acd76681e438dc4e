"""The tables of a store, and the description in them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from automl_admm.core.errors import StoreError
from automl_admm.store.files import damaged
from automl_admm.store.sqlite.rows import COLUMNS

# In the header of the file, by which `file` and we know it.
APPLICATION_ID = 0x41444D4D  # "ADMM"
VERSION = 2
RUNNING_COLUMNS = ("key", "number", "text", "host", "pid", "start")
TABLES: Mapping[str, str] = MappingProxyType(
    {
        "evaluations": """CREATE TABLE evaluations (
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
    details TEXT NOT NULL,
    sha256 BLOB NOT NULL
) STRICT""",
        "running": """CREATE TABLE running (
    key TEXT PRIMARY KEY NOT NULL,
    number INTEGER NOT NULL,
    text TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start REAL NOT NULL,
    sha256 BLOB NOT NULL,
    heartbeat REAL NOT NULL
) STRICT""",
        "run": "CREATE TABLE run (id TEXT NOT NULL) STRICT",
    }
)


def insert_into(table: str, columns: tuple[str, ...]) -> str:
    """Return the statement to add a row to a table; both are our own names."""
    places = ", ".join("?" * len(columns))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"  # noqa: S608 - ours


INSERT = insert_into("evaluations", (*COLUMNS, "sha256"))
BEGIN = insert_into("running", (*RUNNING_COLUMNS, "sha256", "heartbeat"))
BEGUN = f"SELECT {', '.join(RUNNING_COLUMNS)}, sha256, heartbeat FROM running"  # noqa: S608 - ours
SELECT = f"SELECT {', '.join(COLUMNS)}, sha256 FROM evaluations"  # noqa: S608 - our own names


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a store: of its run, and of its generation, "" for the first one."""

    run: str
    generation: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """The description in a store."""

    run: str
    rows: int
    generation: str = ""


def create_tables(database: sqlite3.Connection, run: str, generation: str = "") -> None:
    """Make the tables of a new store; to be called within a transaction."""
    for statement in TABLES.values():
        database.execute(statement)
    database.execute("INSERT INTO run (id) VALUES (?)", (run,))
    name_generation(database, generation)
    database.execute(f"PRAGMA application_id={APPLICATION_ID}")
    database.execute(f"PRAGMA user_version={VERSION}")


def inspect(database: sqlite3.Connection, path: Path) -> Facts:
    """Read the description in a store; refuse the store of another program or version."""
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        hint = f"If it was one, `automl-admm store repair {path.parent}` saves what is left."
        raise StoreError(f"'{path}' is no store of automl-admm.", hint=hint)
    if version != VERSION:
        raise StoreError(
            f"'{path}' has version {version}, this program reads {VERSION}.",
            hint="Begin anew in another folder, or use the version that wrote it.",
        )
    query = "SELECT name, trim(sql, char(10)) FROM sqlite_master WHERE sql IS NOT NULL"
    tables = dict(database.execute(query))
    # To the letter: a trigger or a changed column would alter what is read.
    if tables != TABLES:
        raise damaged(path, f"its tables are not those of version {version}")
    named = names_in(database)
    return Facts(named.run, count_rows(database), named.generation)


def count_rows(database: sqlite3.Connection) -> int:
    """Count the evaluations."""
    return int(database.execute("SELECT count(*) FROM evaluations").fetchone()[0])


def names_in(database: sqlite3.Connection) -> Names:
    """Read the names in a store of this version."""
    rows = database.execute("SELECT id FROM run ORDER BY rowid LIMIT 2").fetchall()
    run, generation, *_ = (*(str(name) for (name,) in rows), "", "")
    return Names(run, generation)


def name_generation(database: sqlite3.Connection, generation: str) -> None:
    """Name the generation of a store, in a row behind the name of the run.

    To be called within a transaction.
    """
    database.execute("DELETE FROM run WHERE rowid > (SELECT min(rowid) FROM run)")
    if generation:
        database.execute("INSERT INTO run (id) VALUES (?)", (generation,))
