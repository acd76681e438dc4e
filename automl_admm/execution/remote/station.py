"""A station: the part of a run that lives in a worker, with a fork server of its own."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.core.evaluations import Status
from automl_admm.core.messages import say_error
from automl_admm.core.protocols import Finished, Task
from automl_admm.execution.local_executor import LocalExecutor
from automl_admm.execution.remote.letters import Answer, Brief, Job, pack
from automl_admm.execution.stored_work import PickledWork
from automl_admm.execution.task_folders import remove_tree
from automl_admm.plugins.records import ExecutorSetting

SLICE = 0.02
IDLE_SECONDS = 0.5
END_SECONDS = 10.0
Box = Future[Finished]


@dataclass(frozen=True, slots=True)
class _Order:
    """An order to the station's thread; somebody waits at `box` for an answer."""

    act: Callable[[LocalExecutor], None]
    box: Box = field(default_factory=Future)


class Station:
    """Runs jobs of one run on a worker, each in a supervised child process.

    The children have the limits, captured output and evidence files of the executor `local`: the
    station is a `LocalExecutor`, used by one thread alone. `run` waits for the end of its job and
    may be called by many threads, `kill` by any. `workers` is the number of evaluations that share
    this machine: each gets its part of the cores and of the memory. `scratch` is made, and removed
    in the end. The station ends by `close`, and when `is_wanted` says no: let that be True as long
    as the run is there, so that nothing stays after a killed run.

    >>> with TemporaryDirectory() as folder:
    ...     station = Station(Brief("a1b2", pickle_work({}).content, None), Path(folder, "new"), 1)
    ...     station.start()
    ...     answer = station.run(Job("c3d4", 1, "none", pickle_work({}).content, 60.0, False))
    ...     station.close()
    ...     station.join()
    >>> answer.finished.status is Status.ERROR
    True
    """

    def __init__(
        self,
        brief: Brief,
        scratch: Path,
        workers: int,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> None:
        self._brief = brief
        self._scratch = scratch
        self._workers = workers
        self._is_wanted = is_wanted
        self._orders: queue.SimpleQueue[_Order] = queue.SimpleQueue()
        self._running: dict[int, tuple[str, Box]] = {}
        self._killed: set[str] = set()
        self._lock = threading.Lock()
        self._has_ended = False
        self._failure: AutomlAdmmError | None = None
        self._is_closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="automl-admm", daemon=True)

    def start(self) -> None:
        """Start serving."""
        self._thread.start()

    def close(self) -> None:
        """Ask for the end, without waiting; running jobs are killed and end as lost."""
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
        """Do a job, and return its end with the files it is to keep."""
        box: Box = Future()
        try:
            arguments = pickle.loads(job.arguments)  # noqa: S301 - the run pickled it
        except Exception as problem:  # noqa: BLE001 - a module of the user may not be here
            message = f"the arguments could not be loaded: {say_error(problem)}"
            return Answer(Finished(job.number, Status.ERROR, message=message))
        task = Task(job.number, job.method, arguments, job.seconds, job.keep)
        self._give(_Order(lambda executor: self._start(executor, job.name, task, box), box))
        finished = box.result()
        if finished.folder is None:
            return Answer(finished, failure=self._failure)
        try:
            return Answer(finished, pack(finished.folder))
        except (OSError, RecursionError) as problem:
            return Answer.lost(job.number, f"its files could not be read: {problem}")
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
            with closing(self._open_executor()) as executor:
                self._brief = replace(self._brief, work=b"")  # the fork server has it now
                self._work(executor)
        except AutomlAdmmError as problem:
            self._failure = problem
        except OSError as problem:
            self._failure = AutomlAdmmError(f"{problem}.")
        finally:
            self._end()

    def _open_executor(self) -> LocalExecutor:
        self._scratch.mkdir(parents=True)
        setting = ExecutorSetting(self._workers, self._brief.memory_bytes, self._scratch)
        return LocalExecutor(PickledWork(self._brief.work), setting)

    def _work(self, executor: LocalExecutor) -> None:
        while not self._is_closing.is_set() and self._is_wanted():
            patience = 0.0 if self._running else IDLE_SECONDS
            while (order := _next(self._orders, patience)) is not None:
                order.act(executor)
                patience = 0.0
            for finished in executor.wait(SLICE):
                self._running.pop(finished.number)[1].set_result(finished)

    def _start(self, executor: LocalExecutor, name: str, task: Task, box: Box) -> None:
        if name in self._killed:
            message = "killed before it began"
            box.set_result(Finished(task.number, Status.CANCELLED, message=message))
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
            box.set_result(Finished(0, Status.LOST, message=message))


def _next(orders: queue.SimpleQueue[_Order], patience: float) -> _Order | None:
    """Return the next order, waiting for it; None if none comes."""
    try:
        return orders.get(timeout=patience) if patience else orders.get_nowait()
    except queue.Empty:
        return None


def _nothing(executor: LocalExecutor) -> None:
    """Do nothing: this order only wakes the thread."""
    del executor
