"""The executor of an engine with workers elsewhere: tasks go to free places, and come back."""

from __future__ import annotations

import math
import queue
import secrets
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, naming_os_errors
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.execution.remote.letters import Answer, Brief, Job, unpack
from automl_admm.execution.remote.transport import (
    Ended,
    Event,
    Heard,
    Joined,
    Left,
    Place,
    Refused,
    Transport,
)
from automl_admm.execution.stored_work import pickle_work
from automl_admm.execution.task_folders import TaskFolders
from automl_admm.plugins.records import ExecutorSetting

SLICE = 0.25
KILL_SECONDS = 2.0
# A worker at hand takes so long to join, however short the budget.
JOIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Staffing:
    """The workers that a run wants: at `most` so many jobs at a time, None for all there are.

    Without a worker, at the start or later, one is waited for `patience` seconds.

    >>> Staffing(most=None).patience
    30.0
    """

    most: int | None
    patience: float = 30.0


@dataclass
class _Running:
    task: Task
    job: Job
    folder: Path
    place: Place | None = None
    begun: float = 0.0


class RemoteExecutor:
    """An executor over a `Transport`: all of its contract but the way to the workers.

    `workers` is the present number of jobs at a time. A lost worker costs its current tasks, which
    end as `lost`; a late one is given the work, too. A task that finds no free place waits.

    >>> [name for name in ("submit", "wait", "kill", "close") if not hasattr(RemoteExecutor, name)]
    []
    """

    is_remote = True

    def __init__(
        self, work: Any, setting: ExecutorSetting, transport: Transport, staffing: Staffing
    ) -> None:
        self.workers = 1
        self._transport = transport
        self._patience = staffing.patience
        self._roster = Roster(staffing.most)
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._waiting: deque[int] = deque()
        self._running: dict[int, _Running] = {}
        self._ended: list[Finished] = []
        self._refused: list[str] = []
        self._failure: AutomlAdmmError | None = None
        self._alone = 0.0
        self._unheard: float | None = None
        self._silent: set[Place] = set()
        brief = Brief(
            secrets.token_hex(8),
            pickle_work(work).content,
            setting.memory_bytes,
            setting.plugins,
            setting.libraries,
        )
        with ExitStack() as opened:
            self._folders = TaskFolders(setting.scratch)
            opened.callback(self._folders.close)
            opened.callback(transport.close)
            transport.open(brief, self._folders.scratch, self._events.put)
            self._assemble(setting.patience(math.inf, JOIN_SECONDS))
            self._opened = opened.pop_all()

    def submit(self, task: Task) -> None:
        """Hand a task to a free worker, or to the next one free."""
        self._check()
        with naming_os_errors("the folder of an evaluation cannot be made"):
            folder = self._folders.make(task)
        arguments = pickle_work(dict(task.arguments)).content
        name = secrets.token_hex(8)
        job = Job(name, task.number, task.method, arguments, task.seconds, task.keep)
        self._running[task.number] = _Running(task, job, folder)
        self._waiting.append(task.number)
        self._hear(0.0)

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """Return the ended tasks; nothing at once if nothing runs."""
        deadline = None if timeout is None else time.monotonic() + timeout
        self._hear(0.0)
        while self._running and not self._ended:
            self._check()
            left = SLICE if deadline is None else min(deadline - time.monotonic(), SLICE)
            if left <= 0:
                break
            self._hear(left)
        ended, self._ended = self._ended, []
        return ended

    def kill(self, number: int) -> None:
        """Kill a task and see it end, unless its worker does not answer."""
        self._hear(0.0)
        running = self._running.get(number)
        if running is None:
            return
        if running.place is None:
            self._waiting.remove(number)
            self._cancel(number, "killed before it began")
            return
        self._transport.kill(running.place, running.job)
        # A worker that stands still is waited for once, and not for each of its jobs.
        patience = 0.0 if running.place in self._silent else KILL_SECONDS
        deadline = time.monotonic() + patience
        while number in self._running and (left := deadline - time.monotonic()) > 0:
            self._hear(left)
        if number in self._running:
            self._silent.add(running.place)

    def close(self) -> None:
        """Kill all tasks and leave nothing on the workers."""
        self._opened.close()
        for number in list(self._running):
            self._cancel(number, "the executor was closed")

    def _assemble(self, seconds: float) -> None:
        """Wait for the first workers; an unusable one is the user's mistake."""
        while not self._roster.places:
            self._check(min(seconds, self._patience))
            self._hear(SLICE)
            if self._refused:
                raise ConfigurationError(
                    f"{self._refused[0]}.", hint="Install the same packages on all workers."
                )

    def _check(self, patience: float | None = None) -> None:
        """Raise if no evaluation can come back any more; without a worker, after the patience."""
        self._transport.check()
        cluster = self._transport.cluster
        if self._unheard is not None and self._unheard > self._patience:
            raise AutomlAdmmError(f"{cluster} has not answered for {self._unheard:.0f} s.")
        if not self._roster.places and self._failure is not None:
            raise self._failure
        if self._alone > (self._patience if patience is None else patience):
            reasons = "".join(f" {reason}." for reason in self._refused[-1:])
            raise AutomlAdmmError(
                f"{cluster} has had no worker for {self._alone:.0f} s.{reasons}",
                hint=self._transport.remedy,
            )

    def _hear(self, patience: float) -> None:
        """Take in events: at least one, unless the time runs out."""
        begun = time.monotonic()
        try:
            self._take(
                self._events.get(timeout=patience) if patience > 0 else self._events.get_nowait()
            )
            while True:
                self._take(self._events.get_nowait())
        except queue.Empty:
            pass
        # Not the time since then: this process may have been stopped for an hour.
        waited = min(time.monotonic() - begun, patience)
        if self._unheard is not None:
            self._unheard += waited
        self._alone = 0.0 if self._roster.places else self._alone + waited
        self._dispatch()

    def _take(self, event: Event) -> None:
        if isinstance(event, Heard):
            self._unheard = 0.0
        elif isinstance(event, Joined):
            self._roster.join(event.place)
        elif isinstance(event, Left):
            self._roster.leave(event.place)
        elif isinstance(event, Refused):
            self._refused.append(f"worker {event.name} cannot be used: {event.reason}")
        else:
            self._enter(event)
        self.workers = self._roster.workers

    def _dispatch(self) -> None:
        while self._waiting and (place := self._roster.take()) is not None:
            running = self._running[self._waiting.popleft()]
            running.place, running.begun = place, time.monotonic()
            self._transport.submit(place, running.job)

    def _enter(self, event: Ended) -> None:
        running = next((one for one in self._running.values() if one.job.name == event.job), None)
        if running is None or running.place is None:
            return
        del self._running[running.task.number]
        self._silent.discard(running.place)
        self._roster.give_back(running.place)
        if event.answer.failure is not None:
            self._failure = event.answer.failure
            self._roster.leave(running.place)
        self._ended.append(self._hand_out(running, event.answer))

    def _hand_out(self, running: _Running, answer: Answer) -> Finished:
        """Return an ended task with its files in a folder of ours."""
        seconds = answer.finished.seconds
        if answer.finished.status is Status.LOST:
            seconds = time.monotonic() - running.begun
        number = running.task.number
        finished = replace(answer.finished, number=number, seconds=seconds, folder=None)
        if answer.files is not None:
            with naming_os_errors(f"'{running.folder}' cannot be written"):
                unpack(answer.files, running.folder)
        return self._folders.hand_out(finished, running.folder, keep=running.task.keep)

    def _cancel(self, number: int, message: str) -> None:
        running = self._running.pop(number)
        finished = Finished(number, Status.CANCELLED, message=message)
        self._ended.append(self._folders.hand_out(finished, running.folder, keep=False))


class Roster:
    """The places and how many jobs each has; at `most` so many at a time in all, if given."""

    def __init__(self, most: int | None) -> None:
        self._most = most
        self._places: dict[Place, int] = {}

    @property
    def places(self) -> tuple[Place, ...]:
        """The present places."""
        return tuple(self._places)

    @property
    def workers(self) -> int:
        """Number of jobs at a time; 1 without any place, because the run waits for one."""
        total = sum(place.at_once for place in self._places)
        return max(min(total, self._most or total), 1)

    def join(self, place: Place) -> None:
        """Enter a place."""
        self._places[place] = 0

    def leave(self, place: Place) -> None:
        """Strike a place out."""
        self._places.pop(place, None)

    def take(self) -> Place | None:
        """Claim the place with most room; None if a job has to wait."""
        place = max(self._places, key=self._room, default=None)
        if place is None or self._room(place) < 1 or sum(self._places.values()) >= self.workers:
            return None
        self._places[place] += 1
        return place

    def give_back(self, place: Place) -> None:
        """A job of a place has ended."""
        if place in self._places:
            self._places[place] -= 1

    def _room(self, place: Place) -> int:
        return place.at_once - self._places[place]
