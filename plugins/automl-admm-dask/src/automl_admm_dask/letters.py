"""What goes between the run and the workers of the cluster: small records, and files as bytes."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from automl_admm.plugin_api import AutomlAdmmError, Finished, written_files


@dataclass(frozen=True, slots=True)
class Brief:
    """What a worker needs for a run: its name, the pickled work, the memory of one evaluation."""

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
    """How a job ended, with its files. If the worker itself is of no more use, `failure` says why.

    The folder of what is `finished` is the worker's: it means nothing where the run is.
    """

    finished: Finished
    files: bytes | None = None
    failure: AutomlAdmmError | None = None


def pack(folder: Path) -> bytes:
    """The files that a task wrote, as an archive; not the task itself, no FIFOs, no links."""
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
