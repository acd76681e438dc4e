"""The folder of a run: its files by name, and atomic writes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import NO_ROOM, ConfigurationError, DiskFullError, Remedy, StoreError
from automl_admm.core.messages import resume_command
from automl_admm.store.file_schemas import RUN_ID, SCHEMAS
from automl_admm.store.json_content import read_content
from automl_admm.store.sqlite.lock import is_held, read_holder
from automl_admm.store.store_schemas import STORE_MANIFEST, STORE_RUN
from automl_admm.store.whole_files import open_whole

# The copy of the data and the files of evaluations that go on: a name that no user thinks of.
SCRATCH = ".scratch-admm-"
# Where files of a certified model go before they are removed.
OF_CERTIFIED = ".scratch-certified"
# The names that `tempfile` makes of it, and that one.
SCRATCH_FOLDER = re.compile(rf"{re.escape(SCRATCH)}[a-z0-9_]{{8}}|{re.escape(OF_CERTIFIED)}")
# The store is there before `run.json`: a database with files beside it, its copy, and its lock.
LOCK = "store.lock"
OF_STORE = (STORE_MANIFEST, f".{STORE_MANIFEST}", LOCK, "store.sqlite", "store.bak")
TOGETHER = "Restore the files of the run: they belong together."


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The paths of one run."""

    path: Path

    @property
    def settings(self) -> Path:
        """Resolved settings, versions and the fingerprint of the data."""
        return self.path / "run.json"

    @property
    def grammar(self) -> Path:
        """A copy of the grammar."""
        return self.path / "grammar.lark"

    @property
    def store(self) -> Path:
        """The log of evaluations."""
        return self.path / "store.sqlite"

    @property
    def store_manifest(self) -> Path:
        """The name of the run, and the number of evaluations that its log has to have."""
        return self.path / STORE_MANIFEST

    @property
    def iterations(self) -> Path:
        """The course of ADMM: a line of JSON for each outer iteration."""
        return self.path / "iterations.jsonl"

    @property
    def model(self) -> Path:
        """The winning pipeline, fitted."""
        return self.path / "model.skops"

    @property
    def model_manifest(self) -> Path:
        """The description of the model, with the hash of its file."""
        return self.path / "model.json"

    @property
    def script(self) -> Path:
        """A script that fits the winning pipeline without this package."""
        return self.path / "pipeline.py"

    @property
    def certificate(self) -> Path:
        """The findings on the rows set aside for a certificate."""
        return self.path / "certificate.json"

    @property
    def rows_set_aside(self) -> Path:
        """The places of these rows in the data."""
        return self.path / "certification-rows.json"

    @property
    def row_hashes(self) -> Path:
        """A hash for every row of the data of a certifying run, to recognise it later."""
        return self.path / "row-hashes.npy"

    @property
    def looks(self) -> Path:
        """The looks at the rows set aside, to count them on other machines, too."""
        return self.path / "looks.json"

    @property
    def study(self) -> Path:
        """The settings of a Study, which has a folder of its own."""
        return self.path / "study.json"

    @property
    def asks(self) -> Path:
        """The questions of a Study: a line of JSON for each."""
        return self.path / "asks.jsonl"

    @property
    def change(self) -> Path:
        """A change of the run that is under way, such as another table at `resume`."""
        return self.path / "change.json"

    @property
    def predictions(self) -> Path:
        """Out-of-fold predictions, one file an evaluation."""
        return self.path / "predictions"

    @property
    def monitoring(self) -> Path:
        """A file for every look at rows that arrived after the run."""
        return self.path / "monitoring"

    def read(self, path: Path) -> dict[str, Any]:
        """Read one of the JSON files, and hold it to its schema and to the run of the others."""
        try:
            content = read_content(path, SCHEMAS[path.name])
        except FileNotFoundError:
            raise self._absence_of(path) from None
        self._demand_one_run(path, content)
        return content

    def _demand_one_run(self, known: Path, content: Mapping[str, Any]) -> None:
        """Raise if the files that are there name different runs.

        The `content` of one of them is known.
        """
        first: dict[str, Path] = {}
        parts = (self.store_manifest, self.settings, self.model_manifest, self.rows_set_aside)
        for path in parts:
            run = _run_in(path, content) if path == known else named_run(path)
            if run is not None:
                first.setdefault(run, path)
        if len(first) > 1:
            one, other, *_ = first.values()
            raise StoreError(
                f"'{other}' is of another run than '{one.name}' beside it.",
                hint=TOGETHER,
            )

    def _absence_of(self, path: Path) -> StoreError:
        """Return an error on a file that is not there: its run may not have ended yet."""
        if path == self.model_manifest and self.settings.exists():
            if (way := self.way_on()) is not None:
                told = f"the run in '{self.path}' has not ended, and has no model yet."
                return StoreError(told, hint=way)
            hint = f"To go on with what is kept: {resume_command(self.path)}"
            return StoreError(f"the run in '{self.path}' has no model.", hint=hint)
        hint = "Name the folder that `automl-admm fit` printed."
        if path == self.settings and never_began(self.path):
            told = f"the run in '{self.path}' was cut off before it began."
            return StoreError(told, hint="Delete the folder, and start the run again.")
        if path == self.settings and self.model_manifest.exists():
            hint = "A model alone is for predict, evaluate, monitor and verify: name its run."
        if path == self.settings and self.study.exists():
            hint = "It is the folder of a Study: open it with Study.load."
        return StoreError(f"'{self.path}' holds no {path.name}.", hint=hint)

    def way_on(self) -> str | None:
        """Return what to do about files that a session has yet to write; None if it has ended."""
        if not self.settings.exists() or self.read(self.settings).get("state") != "running":
            return None
        return f"If it was killed, go on with: {resume_command(self.path)}"


def named_run(path: Path) -> str | None:
    """Return the run that a file names; a damaged one names none, and its reader says why."""
    try:
        content = read_content(path, SCHEMAS[path.name])
    except (FileNotFoundError, StoreError):
        return None
    return _run_in(path, content)


def _run_in(path: Path, content: Mapping[str, Any]) -> str | None:
    return content.get(STORE_RUN if path.name == STORE_MANIFEST else RUN_ID)


def create_folder(path: Path, written: Path | None = None) -> RunFolder:
    """Make a new run folder, or raise naming it as it was written; a full one is never touched."""
    name = written or path
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise _not_made(name, problem) from problem
    refuse_full(path, name)
    return RunFolder(path)


def try_folder(path: Path, written: Path | None = None) -> None:
    """Make a run folder as a run would, and remove it again, with the parents that were missing."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    create_folder(path, written)
    for one in missing:
        one.rmdir()


def refuse_full(path: Path, written: Path | None = None) -> None:
    """Raise if there is a folder of this name with something in it."""
    name = written or path
    try:
        taken = path.is_dir() and any(path.iterdir())
    except OSError as problem:
        raise _not_made(name, problem) from problem
    if taken and never_began(path):
        raise ConfigurationError(
            f"the run folder '{name}' is that of a run which was cut off before it began.",
            hint=Remedy("Nothing is in it: delete it, or give a new {work_dir}."),
        )
    if taken:
        raise ConfigurationError(
            f"the run folder '{name}' is not empty.", hint=Remedy("Give a new {work_dir}.")
        )


def is_scratch(path: Path) -> bool:
    """Return True for a folder named as those that a session makes; others are a user's."""
    named = SCRATCH_FOLDER.fullmatch(path.name) is not None
    return named and path.is_dir() and not path.is_symlink()


def never_began(path: Path) -> bool:
    """Return True if there is nothing but an empty store, and no process that writes to it."""
    lock = path / LOCK
    try:
        if not all(one.name.startswith(OF_STORE) or is_scratch(one) for one in path.iterdir()):
            return False
        manifest = read_content(path / STORE_MANIFEST, SCHEMAS[STORE_MANIFEST])
        if is_held(lock):
            return False
    except (OSError, StoreError):
        return False
    # The manifest of a store that was not closed may be older than its last rows.
    writer = read_holder(lock)
    last = writer.rows if writer is not None else int(bool(manifest.get("is_open")))
    return bool(manifest.get("rows") == 0 and last == 0)


def _not_made(name: Path, problem: OSError) -> ConfigurationError:
    links = (one for one in (name, *name.parents) if _leads_nowhere(one))
    told = (f"'{one}' is a link to what is not there" for one in links)
    reason = next(told, problem.strerror or problem)
    hint = Remedy("Give another {work_dir}.")
    return ConfigurationError(f"the run folder '{name}' cannot be made: {reason}.", hint=hint)


def _leads_nowhere(path: Path) -> bool:
    try:
        return path.is_symlink() and not path.exists()
    except OSError:  # a name that the system refuses, as it is too long
        return False


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file under its final name only when all of it is on the disk, name and all."""
    try:
        with open_whole(path) as file:
            file.write(content)
    except OSError as problem:
        if problem.errno in NO_ROOM:
            raise DiskFullError(
                f"no room left for '{path}'.", hint="Free some and go on."
            ) from problem
        raise StoreError(f"'{path}' cannot be written: {problem.strerror}.") from problem


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file atomically."""
    write_atomically(path, (json.dumps(content, indent=2, default=str) + "\n").encode())
