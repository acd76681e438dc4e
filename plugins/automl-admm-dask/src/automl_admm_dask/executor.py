"""The executor: tasks go to free places, and come back as events."""

from __future__ import annotations

import queue
import secrets
import time
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from automl_admm.plugin_api import (
    AutomlAdmmError,
    ConfigurationError,
    ExecutorSetting,
    Finished,
    Status,
    Task,
    TaskFolders,
    naming_os_errors,
    pickle_work,
)
from automl_admm_dask import DaskOptions
from automl_admm_dask.clusters import OwnCluster, connect
from automl_admm_dask.crew import Crew, Ended, Event, Joined, Left, Looked, Place, Refused
from automl_admm_dask.letters import Answer, Brief, Job, unpack
from automl_admm_dask.quiet import Silence
from automl_admm_dask.roster import Roster

SLICE = 0.25
KILL_SECONDS = 2.0
STOP_SECONDS = 20.0
LARGEST_WORK = 2_000_000_000


@dataclass
class _Running:
    task: Task
    job: Job
    folder: Path
    place: Place | None = None
    begun: float = 0.0


class DaskExecutor:
    """Runs tasks on the workers of a Dask cluster, each in a supervised child process there.

    `workers` is the present number of the cluster's threads, unless the user wants fewer. A lost
    worker costs its current tasks; a late one is given the work, too.
    """

    def __init__(self, work: Any, setting: ExecutorSetting, options: DaskOptions) -> None:
        self.workers = 1
        self._patience = options.patience
        is_free = options.address is not None and setting.is_default
        self._roster = Roster(None if is_free else setting.workers)
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._waiting: deque[int] = deque()
        self._running: dict[int, _Running] = {}
        self._ended: list[Finished] = []
        self._refused: list[str] = []
        self._failure: AutomlAdmmError | None = None
        self._alone = self._unheard = 0.0
        brief = Brief(secrets.token_hex(8), _pickled(work), setting.memory_bytes)
        with ExitStack() as opened:
            self._folders = TaskFolders(setting.scratch)
            opened.callback(self._folders.close)
            opened.callback(Silence().end)
            scratch = self._folders.scratch
            self._address = options.address or _start_cluster(setting.workers, scratch, opened)
            self._client = connect(self._address)
            opened.callback(self._client.close, timeout=STOP_SECONDS)
            self._crew = Crew(self._client, brief, self._events.put)
            self._client.sync(self._crew.start)
            opened.callback(self._stop)
            self._assemble()
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
        self._crew.kill(running.place, running.job)
        deadline = time.monotonic() + KILL_SECONDS
        while number in self._running and (left := deadline - time.monotonic()) > 0:
            self._hear(left)

    def close(self) -> None:
        """Kill all tasks and leave nothing on the workers; a cluster of our own ends."""
        self._opened.close()
        for number in list(self._running):
            self._cancel(number, "the executor was closed")

    def _stop(self) -> None:
        """Close the stations; if the scheduler is gone, their workers see that by themselves."""
        if self._client.status == "running":
            try:
                self._client.sync(self._crew.stop, callback_timeout=STOP_SECONDS)
            except (OSError, TimeoutError):
                return

    def _assemble(self) -> None:
        """Wait for the first workers; an unusable one is the user's mistake."""
        while not self._roster.places:
            self._check()
            self._hear(SLICE)
            if self._refused:
                raise ConfigurationError(
                    f"{self._refused[0]}.", hint="Install the same packages on all workers."
                )

    def _check(self) -> None:
        """Raise if no evaluation can come back any more."""
        if self._client.status != "running":
            raise AutomlAdmmError(f"the Dask scheduler at {self._address} is gone.")
        if self._unheard > self._patience:
            raise AutomlAdmmError(
                f"the Dask scheduler at {self._address} has not answered for {self._unheard:.0f} s."
            )
        if not self._roster.places and self._failure is not None:
            raise self._failure
        if self._alone > self._patience:
            reasons = "".join(f" {reason}." for reason in self._refused[-1:])
            raise AutomlAdmmError(
                f"the Dask cluster at {self._address} has had no worker for {self._alone:.0f} s."
                + reasons,
                hint=f"Start one: dask worker {self._address}",
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
        self._unheard += waited
        self._alone = 0.0 if self._roster.places else self._alone + waited
        self._dispatch()

    def _take(self, event: Event) -> None:
        if isinstance(event, Looked):
            self._unheard = 0.0
        elif isinstance(event, Joined):
            self._roster.join(event.place)
        elif isinstance(event, Left):
            self._roster.leave(event.place)
        elif isinstance(event, Refused):
            self._refused.append(f"worker {event.address} cannot be used: {event.reason}")
        else:
            self._enter(event)
        self.workers = self._roster.workers

    def _dispatch(self) -> None:
        """Hand waiting tasks to free places."""
        while self._waiting and (place := self._roster.take()) is not None:
            running = self._running[self._waiting.popleft()]
            running.place, running.begun = place, time.monotonic()
            self._crew.submit(place, running.job)

    def _enter(self, event: Ended) -> None:
        running = self._running.get(event.job.number)
        if running is None or running.job.name != event.job.name or running.place is None:
            return
        del self._running[event.job.number]
        self._roster.give_back(running.place)
        answer = event.answer
        if answer.failure is not None:
            self._failure = answer.failure
            self._crew.bar(running.place)
            self._roster.leave(running.place)
        self._ended.append(self._hand_out(running, answer))

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


def _start_cluster(workers: int, scratch: Path, opened: ExitStack) -> str:
    cluster = OwnCluster(workers, scratch)
    opened.callback(cluster.close)
    return cluster.address


def _pickled(work: Any) -> bytes:
    content = pickle_work(work).content
    if len(content) > LARGEST_WORK:
        raise ConfigurationError(
            f"the work is too large for Dask: {len(content) / 1e9:.1f} GB of at most 2.",
            hint="Use the executor 'local'.",
        )
    return content
