"""Replace all that a store holds, so that a kill or a lost file never mixes old and new rows."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from automl_admm.store.files import Manifest, StoreFiles, write_manifest
from automl_admm.store.sqlite.connection import transaction
from automl_admm.store.sqlite.schema import VERSION, Names, name_generation


def exchange(
    database: sqlite3.Connection, files: StoreFiles, names: Names, put: Callable[[], int]
) -> int:
    """Put new rows in place of all others, under the name of another generation; count them."""
    # The manifest first: it may demand less than there is, never more. And no repair is to bring
    # back from the backup, or from what a killed one has built, what counts no more.
    write_manifest(files.manifest, Manifest(names.run, VERSION, 0, is_open=True))
    for copy in (files.repaired, files.backup):
        copy.unlink(missing_ok=True)
    with transaction(database):
        database.execute("DELETE FROM evaluations")
        database.execute("DELETE FROM running")
        name_generation(database, names.generation)
        rows = put()
    # Whoever copies the file without its log is to have the new rows. A reader beside may hinder
    # it; by the generation the old ones are then refused.
    database.execute("PRAGMA wal_checkpoint(FULL)").fetchall()
    said = Manifest(names.run, VERSION, rows, is_open=True, generation=names.generation)
    write_manifest(files.manifest, said)
    return rows
