"""Messages between the run and the workers of the cluster: small records, and files as bytes."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from automl_admm.plugin_api import AutomlAdmmError, Finished, written_files


@dataclass(frozen=True, slots=True)
class Brief:
    """A run for a worker: its name, the pickled work, the memory of one evaluation."""

    run: str
    work: bytes
    memory_bytes: int | None


@dataclass(frozen=True, slots=True)
class Job:
    """A task on its way; `arguments` are pickled, `name` is new for every try."""

    name: str
    number: int
    method: str
    arguments: bytes
    seconds: float | None
    keep: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a job, with its files. `failure` is the reason if the worker is of no more use.

    The folder in `finished` is on the worker, and means nothing to the run.
    """

    finished: Finished
    files: bytes | None = None
    failure: AutomlAdmmError | None = None


def pack(folder: Path) -> bytes:
    """Return the files written by a task as an archive; no order, no FIFOs, no links."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for path in written_files(folder):
            archive.add(path, arcname=path.name, filter=_plain)
    return buffer.getvalue()


def _plain(item: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return item if item.isreg() or item.isdir() else None


def unpack(files: bytes, folder: Path) -> None:
    """Write packed files below a folder, and nothing outside of it."""
    with tarfile.open(fileobj=io.BytesIO(files)) as archive:
        archive.extractall(folder, filter="data")
