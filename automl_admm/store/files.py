"""The files that make up a store, and the manifest among them.

The manifest says how many evaluations there were at the last checkpoint. So a store that is empty,
cut short or replaced by an older one is found out, and never taken for a fresh start.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path

from automl_admm.core.errors import StoreError
from automl_admm.store.file_schemas import STORE
from automl_admm.store.json_content import read_content
from automl_admm.store.run_folder import write_json


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """Where the parts of one store lie, beside each other."""

    store: Path

    @property
    def manifest(self) -> Path:
        """Which run it is, and how many evaluations it had at the last checkpoint."""
        return self.store.with_suffix(".json")

    @property
    def lock(self) -> Path:
        """Held by the one process that writes; says who, and how many evaluations it wrote."""
        return self.store.with_suffix(".lock")

    @property
    def backup(self) -> Path:
        """A copy that was whole when it was made."""
        return self.store.with_suffix(".bak")

    @property
    def first_version(self) -> Path:
        """What is kept of a store of version 1 that was brought up to date."""
        return self.store.with_suffix(".v1.sqlite")


def free_name(store: Path) -> Path:
    """A name for what a store was before something else was asked of its run."""
    names = (store.with_suffix(f".before-{number}.sqlite") for number in count(1))
    return next(path for path in names if not path.exists())


def beside(path: Path, ending: str) -> Path:
    """One of the files that SQLite keeps beside a database."""
    return path.with_name(path.name + ending)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What must be in the store."""

    run: str
    version: int
    rows: int


def read_manifest(path: Path) -> Manifest | None:
    """The manifest, if there is one; one that makes no sense is an error."""
    try:
        content = read_content(path, STORE)
    except FileNotFoundError:
        return None
    except StoreError as problem:
        raise damaged(path, "it is no manifest of a store") from problem
    return Manifest(content["run"], content["version"], content["rows"])


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write the manifest; what was there stays until all of the new one is on the disk."""
    write_json(path, asdict(manifest))


def damaged(path: Path, reason: str) -> StoreError:
    """The error of a file that is not what was written."""
    hint = f"Look with `automl-admm store check {path.parent}`, save with `store repair`."
    return StoreError(f"'{path}' is damaged: {reason}.", hint=hint)
