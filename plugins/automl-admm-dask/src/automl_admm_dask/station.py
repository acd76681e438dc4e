"""A station: the part of a run that lives in a Dask worker, with a fork server of its own.

It is a `LocalExecutor`, used by one thread alone. Jobs come from the worker's task threads, kills
from its event loop. The station ends with the worker, when the run says so, and when Dask has
dropped the key that the run holds it by: that happens too if the run is killed.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
import time
from collections.abc import Callable, Container
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

from automl_admm.plugin_api import (
    AutomlAdmmError,
    ExecutorSetting,
    Finished,
    LocalExecutor,
    PickledWork,
    Status,
    Task,
    count_cores,
    remove_tree,
)
from automl_admm_dask.letters import Answer, Brief, Job, pack

SLICE = 0.02
IDLE_SECONDS = 0.5
UNHELD_SECONDS = 600.0
DROPPED_SECONDS = 5.0
END_SECONDS = 10.0
Box = Future[Finished]


@dataclass(frozen=True, slots=True)
class _Order:
    """An order to the station's thread; somebody waits at `box` for an answer."""

    act: Callable[[LocalExecutor], None]
    box: Box = field(default_factory=Future)


class Lease:
    """The life of a station: it lasts while its worker has data under the key of the run.

    Dask drops the key after the run releases it or is gone. It need not be there at once.
    """

    def __init__(self) -> None:
        self._key: str | None = None
        self._until = time.monotonic() + UNHELD_SECONDS

    def hold(self, key: str) -> None:
        """From now on this is the key."""
        self._until = time.monotonic() + DROPPED_SECONDS
        self._key = key

    def is_held(self, data: Container[str]) -> bool:
        """Return True if the key is in the data, or was a moment ago."""
        now = time.monotonic()
        if self._key is not None and self._key in data:
            self._until = now + DROPPED_SECONDS
        return now < self._until


class Station(WorkerPlugin):  # type: ignore[misc] # Dask has no types for us
    """Runs jobs of one run in supervised children, as many at a time as the worker has threads."""

    def __init__(self, brief: Brief, token: str) -> None:
        self.token = token
        self.lease = Lease()
        self._brief = brief
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._running: dict[int, tuple[str, Box]] = {}
        self._killed: set[str] = set()
        self._lock = threading.Lock()
        self._has_ended = False
        self._failure: AutomlAdmmError | None = None
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="automl-admm", daemon=True)

    def setup(self, worker: Any) -> None:
        """Start serving; called by the worker."""
        self._worker = worker
        self._scratch = Path(worker.local_directory) / f"automl-admm-{self.token}"
        self._thread.start()

    def teardown(self, worker: Any) -> None:
        """Ask for the end, without waiting; called by the worker when it closes or is told to."""
        del worker
        self._is_closing.set()
        self._give(_Order(_nothing))

    @property
    def is_over(self) -> bool:
        """True if it has ended without a failure: another may take its place."""
        return self._has_ended and self._failure is None

    def join(self) -> None:
        """Wait for the end: nothing runs any more, and no file is left."""
        self._thread.join(END_SECONDS)

    def run(self, job: Job) -> Answer:
        """Do a job; called by a waiting task thread of the worker."""
        box: Box = Future()
        arguments = pickle.loads(job.arguments)  # noqa: S301 - the run pickled it
        task = Task(job.number, job.method, arguments, job.seconds, job.keep)
        self._give(_Order(lambda executor: self._start(executor, job.name, task, box), box))
        finished = box.result()
        if finished.folder is None:
            return Answer(finished, failure=self._failure)
        try:
            return Answer(finished, pack(finished.folder))
        except (OSError, RecursionError) as problem:
            return Answer(_lost(job.number, f"its files could not be read: {problem}"))
        finally:
            remove_tree(finished.folder)

    def kill(self, name: str) -> None:
        """Kill a job; if it has not arrived yet, it will not start."""
        self._killed.add(name)
        self._give(_Order(lambda executor: self._kill(executor, name)))

    def _give(self, order: _Order) -> None:
        with self._lock:
            if not self._has_ended:
                self._orders.put(order)
                return
        self._turn_away(order.box)

    def _serve(self) -> None:
        try:
            with closing(_open_executor(self._brief, self._worker, self._scratch)) as executor:
                self._brief = replace(self._brief, work=b"")  # the fork server has it now
                self._work(executor)
        except AutomlAdmmError as problem:
            self._failure = problem
        except OSError as problem:
            self._failure = AutomlAdmmError(f"{problem}.")
        finally:
            self._end()

    def _work(self, executor: LocalExecutor) -> None:
        while not self._is_closing.is_set() and self.lease.is_held(self._worker.data):
            patience = 0.0 if self._running else IDLE_SECONDS
            while (order := _next(self._orders, patience)) is not None:
                order.act(executor)
                patience = 0.0
            for finished in executor.wait(SLICE):
                self._running.pop(finished.number)[1].set_result(finished)

    def _start(self, executor: LocalExecutor, name: str, task: Task, box: Box) -> None:
        if name in self._killed:
            box.set_result(
                Finished(task.number, Status.CANCELLED, message="killed before it began")
            )
            return
        self._running[task.number] = (name, box)
        executor.submit(task)

    def _kill(self, executor: LocalExecutor, name: str) -> None:
        for number, (running, _) in list(self._running.items()):
            if running == name:
                executor.kill(number)

    def _end(self) -> None:
        """Answer all running and waiting jobs; later ones are turned away."""
        with self._lock:
            self._has_ended = True
        for _, box in self._running.values():
            self._turn_away(box)
        while (order := _next(self._orders, 0.0)) is not None:
            self._turn_away(order.box)
        remove_tree(self._scratch)

    def _turn_away(self, box: Box) -> None:
        message = "the worker was closed" if self._failure is None else self._failure.message
        if not box.done():
            box.set_result(_lost(0, message))


def _open_executor(brief: Brief, worker: Any, scratch: Path) -> LocalExecutor:
    """Start a fork server; each evaluation gets the threads of one Dask task."""
    scratch.mkdir(parents=True)
    cores = count_cores()
    given = os.environ.get("OMP_NUM_THREADS", "")
    threads = int(given) if given.isdecimal() else cores // worker.state.nthreads
    workers = max(cores // max(threads, 1), 1)
    setting = ExecutorSetting(workers, brief.memory_bytes, scratch)
    return LocalExecutor(PickledWork(brief.work), setting)


def _next(orders: queue.SimpleQueue[_Order], patience: float) -> _Order | None:
    """Return the next order, waiting for it; None if none comes."""
    try:
        return orders.get(timeout=patience) if patience else orders.get_nowait()
    except queue.Empty:
        return None


def _lost(number: int, message: str) -> Finished:
    return Finished(number, Status.LOST, message=message)


def _nothing(executor: LocalExecutor) -> None:
    """Do nothing: this order only wakes the thread."""
    del executor
