"""The files of a store, among them its manifest.

The manifest has the number of evaluations at the last checkpoint. So an empty store, a shortened
one or an older copy is detected, and never taken for a fresh start. It also says if a process has
the store open: the last evaluations are then in a log beside it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path

from automl_admm.core.errors import StoreError
from automl_admm.store.json_content import read_content
from automl_admm.store.run_folder import write_json
from automl_admm.store.store_schemas import STORE


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """The paths of the parts of one store, side by side."""

    store: Path

    @property
    def manifest(self) -> Path:
        """The name of the run, and its number of evaluations at the last checkpoint."""
        return self.store.with_suffix(".json")

    @property
    def lock(self) -> Path:
        """The lock of the writing process, with its name and its number of evaluations."""
        return self.store.with_suffix(".lock")

    @property
    def backup(self) -> Path:
        """The last intact copy."""
        return self.store.with_suffix(".bak")

    @property
    def repaired(self) -> Path:
        """The store that a repair has built, until it takes the place of the damaged one."""
        return self.store.with_suffix(".repaired.sqlite")

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files to repair from: the store, what a killed repair has built, and the backup.

        What a repair that ended set aside is in the backup, or of data from before a change.
        """
        best = [path for path in (self.store, self.repaired) if path.is_file()]
        backup = [path for path in (self.backup,) if path.is_file()]
        if not best and not backup:
            best = self._last_aside
        return (*best, *backup)

    @property
    def _last_aside(self) -> list[Path]:
        """The store that the last repair set aside, and the backup if that was damaged, too."""
        stores = [path for path in self._set_aside if path.suffix == self.store.suffix]
        backups = (path.with_suffix(self.backup.suffix) for path in stores[-1:])
        return [*stores[-1:], *(path for path in backups if path.is_file())]

    @property
    def free_aside(self) -> Path:
        """The name under which the next repair sets the store aside."""
        numbers = map(_number_of, self._set_aside[-1:])
        return self.store.with_suffix(f".damaged-{max(numbers, default=0) + 1}.sqlite")

    @property
    def _set_aside(self) -> list[Path]:
        """The files that repairs set aside, those of the last one last."""
        aside = self.store.parent.glob(f"{self.store.stem}.damaged-*")
        return sorted(aside, key=_number_of)


def _number_of(aside: Path) -> int:
    """Return the number in the name of a file that was set aside; 0 for a name by others."""
    number = aside.stem.rpartition("-")[-1]
    return int(number) if number.isdecimal() else 0


def free_name(store: Path) -> Path:
    """Return a free name for the old store after a change of its run."""
    names = (store.with_suffix(f".before-{number}.sqlite") for number in count(1))
    return next(path for path in names if not path.exists())


def partial_name(path: Path) -> Path:
    """Return the name of an incomplete file."""
    return path.with_name(f".{path.name}.partial")


def beside(path: Path, ending: str) -> Path:
    """Return one of the files of SQLite beside a database."""
    return path.with_name(path.name + ending)


@dataclass(frozen=True, slots=True)
class Manifest:
    """The required content of the store.

    `is_open` is True from the opening for writing until the end of the log beside the store. Every
    store that is begun anew has another `generation`; while it is changed the manifest names none.
    """

    run: str
    version: int
    rows: int
    is_open: bool = False
    generation: str | None = None


def read_manifest(path: Path) -> Manifest | None:
    """Read the manifest, if there is one; a damaged one is an error."""
    try:
        content = read_content(path, STORE)
    except FileNotFoundError:
        return None
    except StoreError as problem:
        raise damaged(path, "it is no manifest of a store") from problem
    names = ("run", "version", "rows", "is_open", "generation")
    return Manifest(*(content[name] for name in names))


def write_manifest(path: Path, manifest: Manifest) -> None:
    """Write the manifest; the old one stays until all of the new one is on the disk."""
    write_json(path, asdict(manifest))


def mark_manifest(path: Path, *, is_open: bool) -> None:
    """Say in the manifest if the store is open; the number of evaluations stays."""
    manifest = read_manifest(path)
    if manifest is not None and manifest.is_open != is_open:
        write_manifest(path, replace(manifest, is_open=is_open))


def damaged(path: Path, reason: str) -> StoreError:
    """Return the error for a damaged file."""
    hint = f"Look with `automl-admm store check {path.parent}`, save with `store repair`."
    return StoreError(f"'{path}' is damaged: {reason}.", hint=hint)
