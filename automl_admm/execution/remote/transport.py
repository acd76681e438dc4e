"""The way from a run to its workers: the protocol that an engine implements, and its events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from automl_admm.execution.remote.letters import Answer, Brief, Job


@dataclass(frozen=True, slots=True)
class Place:
    """A worker that has a station of the run, and the number of its jobs at a time.

    `token` tells two workers apart that had the same name one after the other.

    >>> Place("10.0.0.5:8786", at_once=4).token
    ''
    """

    name: str
    at_once: int
    token: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """Event: a worker is ready for jobs.

    >>> Joined(Place("one", 1)).place.name
    'one'
    """

    place: Place


@dataclass(frozen=True, slots=True)
class Left:
    """Event: a worker is gone; each of its jobs ends with an `Ended` of its own.

    >>> Left(Place("one", 1)).place.name
    'one'
    """

    place: Place


@dataclass(frozen=True, slots=True)
class Refused:
    """Event: a worker cannot be used, for a reason that the user can mend.

    >>> Refused("10.0.0.6:8786", "it has no automl-admm").reason
    'it has no automl-admm'
    """

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Heard:
    """Event: the coordinator of the workers is there.

    After the first one a run ends if the next does not come in time.

    >>> Heard() == Heard()
    True
    """


@dataclass(frozen=True, slots=True)
class Ended:
    """Event: a job has ended; with `Answer.lost` if nothing came back.

    >>> Ended("c3d4", Answer.lost(1, "worker one was lost")).job
    'c3d4'
    """

    job: str
    answer: Answer


Event = Joined | Left | Refused | Heard | Ended


class Transport(Protocol):
    """The way to the workers of an engine, for a `RemoteExecutor`.

    It opens a `Station` on each worker, tells who is there, and carries jobs and answers. All
    methods are called by one thread and must not wait for jobs; `tell`, given to `open`, may be
    called from any thread. `cluster` names the workers in messages, such as "the Dask cluster at
    tcp://10.0.0.5:8786"; `remedy` is the advice to a user whose cluster has no worker.

    >>> sorted(name for name in vars(Transport) if not name.startswith("_"))
    ['check', 'close', 'cluster', 'kill', 'open', 'remedy', 'submit']
    """

    @property
    def cluster(self) -> str:
        """The workers, named for a message."""

    @property
    def remedy(self) -> str:
        """Advice to a user whose cluster has no worker."""

    def open(self, brief: Brief, scratch: Path, tell: Callable[[Event], None]) -> None:
        """Connect, and begin to tell of workers; temporary files may go below `scratch`."""

    def submit(self, place: Place, job: Job) -> None:
        """Send a job to a worker. `Ended` must follow, whatever happens."""

    def kill(self, place: Place, job: Job) -> None:
        """Have the station of a worker kill a job; `Ended` follows as usual."""

    def check(self) -> None:
        """Raise AutomlAdmmError if no answer can come any more."""

    def close(self) -> None:
        """End all stations and connections; leave no process, no thread and no file."""
