"""Messages between the run and its workers: small records, and files as bytes. All pickle."""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from pathlib import Path

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished
from automl_admm.execution.task_folders import written_files


@dataclass(frozen=True, slots=True)
class Brief:
    """A run for a worker: its name, the pickled work, the memory of one evaluation.

    It holds the data of the run: place it once on each machine. `plugins` and `libraries` are
    distributions that must be the same there; of the libraries one may have another name there.

    >>> Brief("a1b2", b"", memory_bytes=2_000_000_000).run
    'a1b2'
    """

    run: str
    work: bytes
    memory_bytes: int | None
    plugins: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Job:
    """A task on its way; `arguments` are pickled, `name` is new for every try.

    >>> Job("c3d4", 1, "evaluate", b"", seconds=10.0, keep=False).number
    1
    """

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

    >>> Answer.lost(1, "worker 2 was lost").finished.status is Status.LOST
    True
    """

    finished: Finished
    files: bytes | None = None
    failure: AutomlAdmmError | None = None

    @classmethod
    def lost(cls, number: int, message: str, failure: AutomlAdmmError | None = None) -> Answer:
        """Return the answer of a worker that cannot give one."""
        return cls(Finished(number, Status.LOST, message=message), failure=failure)


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
