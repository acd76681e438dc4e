"""The statement of a certified run: its certificate, and digests of all that it is about.

It is a file to be signed by a key of the user. Its bytes hang on the content alone: two exports of
the same run are equal, so that a signature of one holds for the other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from automl_admm.core.errors import Remedy, StoreError
from automl_admm.report.view import RunView, read_view
from automl_admm.runs.saved.own_certificate import digest
from automl_admm.runs.session.model_run import say_earlier
from automl_admm.store.json_content import anything as any_value
from automl_admm.store.json_content import (
    mapping_of,
    one_of,
    read_content,
    read_file,
    record,
    text,
    whole,
)
from automl_admm.store.run_folder import RunFolder

KIND = "certificate of automl-admm"
SCHEMA = 1
STATEMENT = record(
    {
        "statement": one_of(KIND),
        "schema": whole(SCHEMA, SCHEMA),
        "certificate": mapping_of(any_value),
        "data": mapping_of(any_value),
        "settings_sha256": text,
        "files": mapping_of(text),
    }
)
Statement = Mapping[str, Any]


def make_statement(view: RunView) -> dict[str, Any]:
    """Return the statement of a run; raise if it has no certificate of its model."""
    demand_certificate(view)
    folder = view.folder
    return {
        "statement": KIND,
        "schema": SCHEMA,
        "certificate": json.loads(read_file(folder.certificate)),
        "data": dict(view.content["data"]),
        "settings_sha256": hashlib.sha256(canonical(view.content["settings"])).hexdigest(),
        "files": {path.name: digest(path) for path in _files(folder)},
    }


def demand_certificate(view: RunView) -> None:
    """Raise if the folder of a run has no certificate, or a file of another model or session."""
    if view.earlier_model:
        raise StoreError(
            f"{say_earlier(view.earlier_model)}, and so is its certificate.",
            hint="`automl-admm resume` goes on to one of its own.",
        )
    if view.is_foreign:
        raise StoreError(
            f"the certificate in '{view.folder.path}' is not that of its model, as it was written.",
            hint="Restore both files, or fit again.",
        )
    if view.other_script is not None:
        raise StoreError(
            f"{view.other_script}.", hint="Remove it, or copy it from where the run was made."
        )
    if view.certificate is None:
        raise StoreError(
            f"'{view.folder.path}' holds no certificate.",
            hint=Remedy("Fit with {certify=0.95} to get one."),
        )


def _files(folder: RunFolder) -> Iterator[Path]:
    """Yield the files that the certificate rests on; a run may have no script."""
    yield from (folder.certificate, folder.model, folder.model_manifest, folder.grammar)
    for path in (folder.rows_set_aside, folder.row_hashes, folder.script):
        if path.exists():
            yield path


def canonical(content: Mapping[str, Any]) -> bytes:
    """Return JSON in ASCII with sorted keys, without blanks and line breaks.

    >>> canonical({"b": None, "a": 1.5})
    b'{"a":1.5,"b":null}'
    """
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")


def check_statement(run: Path, path: Path) -> Statement:
    """Hold a run folder to a statement; raise, naming what is not as it was stated."""
    try:
        stated = read_content(path, STATEMENT, "Name a statement.json, as the export wrote it.")
    except FileNotFoundError:
        raise StoreError(f"there is no statement '{path}'.") from None
    folder = RunFolder(run)
    # Before anything is read: a changed file may be no certificate, or no model any more.
    changed = list(_changed_files(folder, stated["files"]))
    if not changed:
        changed = list(_other_parts(make_statement(read_view(run)), stated))
    if changed:
        raise StoreError(
            f"'{run}' is not what '{path}' states: {'; '.join(changed)}.",
            hint="Restore the folder as it was, or export its statement anew and sign that.",
        )
    return stated


def _changed_files(folder: RunFolder, stated: Mapping[str, str]) -> Iterator[str]:
    known = {path.name: path for path in _files(folder)}
    for name in sorted(known.keys() | stated.keys()):
        if name not in stated:
            yield f"{name} is not in the statement"
        elif name not in known or not known[name].exists():
            yield f"{name} is missing"
        elif digest(known[name]) != stated[name]:
            yield f"{name} has changed"


def _other_parts(made: Statement, stated: Statement) -> Iterator[str]:
    for name, said in (
        ("certificate", "its certificate is another one"),
        ("data", "run.json names other data"),
        ("settings_sha256", "run.json has other settings"),
    ):
        if made[name] != stated[name]:
            yield said
