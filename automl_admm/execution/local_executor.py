"""The `local` executor: one supervised child process per task, forked from a warm server."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from automl_admm.core.errors import (
    AutomlAdmmError,
    ConfigurationError,
    EvaluatorLostError,
    Remedy,
    naming_os_errors,
)
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.execution.beginnings import beginning_of
from automl_admm.execution.child.process_tree import share_of_memory
from automl_admm.execution.child.watch import OUTPUT, last_output, trim_output
from automl_admm.execution.server.channel import Message
from automl_admm.execution.server.client import Assignment, ServerProcess
from automl_admm.execution.server.early_server import EarlyServer
from automl_admm.execution.shared_arrays import remove_mapped
from automl_admm.execution.stored_work import RestOfWork, pickled, store_work
from automl_admm.execution.task_folders import TASK, TaskFolders
from automl_admm.execution.task_report import TaskReport, decode_report, describe_exit
from automl_admm.plugins.records import ExecutorSetting

# A server that dies before it is ready is at fault itself; later it may be what it evaluates, and
# another evaluation may not do that.
RESTARTS = 3
DEATHS_IN_A_ROW = 12
# A killed child is reaped within milliseconds; a server that hangs is not waited for.
KILL_SECONDS = 1.0
# Seconds. The server kills in time, unless it is stopped or the machine is very busy.
OVERTIME = 5.0


@dataclass
class _Running:
    task: Task
    folder: Path
    submitted: float
    begun: float | None = None

    def overdue(self, ready: float | None) -> float:
        """Return the moment from which a server, `ready` since then, hangs if nothing is heard."""
        if self.begun is not None:
            seconds = self.task.seconds
            return math.inf if seconds is None else self.begun + seconds + OVERTIME
        return math.inf if ready is None else max(self.submitted, ready) + OVERTIME


class LocalExecutor:
    """Runs tasks in children of a fork server; the server starts at once and warms up meanwhile.

    A server started early, before the work existed, is taken if its number of workers fits.

    The server enforces the limits and reaps; this side sends orders and reads reports. A dead
    server is started again for the next task, unless it died many times without a finished task in
    between. A work may be pickled already (see `pickle_work`), and may have a method `prepare()`
    for the server to call before it forks: it may import and build, but must not start threads (a
    fit does), or the children may hang. A method `prepare_more()` returns an iterator: from the
    end of the first task on the server takes a step of it now and then. A work may be divided (see
    `DividedWork`): its first part is sent at once, and the rest is written after the first task, or
    before the first one that needs it. Without a memory limit a task gets its share of the
    machine's memory, so no task can bring down the machine.

    >>> LocalExecutor(PickledWork(b""), ExecutorSetting(scratch=Path("/proc/none")))
    Traceback (most recent call last):
    automl_admm.core.errors.AutomlAdmmError: ...
    """

    def __init__(self, work: Any, setting: ExecutorSetting) -> None:
        self.workers = setting.workers
        self._folders = TaskFolders(setting.scratch)
        scratch = self._folders.scratch
        self._assignment = Assignment(
            scratch / "work.pickle",
            setting.memory_bytes or share_of_memory(self.workers),
            setting.memory_bytes,
        )
        try:
            begun_with = beginning_of(work)
            first = work if begun_with is None else begun_with.work
            store_work(first, self._assignment.work)
        except AutomlAdmmError:
            self._folders.close()
            raise
        path = scratch / "rest.pickle"
        self._rest = None if begun_with is None else RestOfWork(begun_with, path)
        self._has_ended = False
        self._running: dict[int, _Running] = {}
        self._ended: list[Finished] = []
        self._deaths: list[str] = []
        self._early_deaths = 0
        self._failure: AutomlAdmmError | None = None
        self._ready: float | None = None
        early: EarlyServer | None = setting.server
        begun = None if early is None else early.take(self.workers)
        self._server: ServerProcess | None = begun or ServerProcess(self.workers)
        self._server.assign(self._assignment)

    def submit(self, task: Task) -> None:
        """Hand a task to the server; its time runs from the fork, not from here."""
        with naming_os_errors("the folder of an evaluation cannot be made"):
            folder = self._folders.make(task)
        with naming_os_errors(f"'{folder / TASK}' cannot be written"):
            (folder / TASK).write_bytes(pickled((task.method, dict(task.arguments))))
        order = {
            "order": "run",
            "number": task.number,
            "folder": str(folder),
            "seconds": task.seconds,
            "rest": None if self._rest is None else self._rest.path_for(task.method),
        }
        # A dead server is started again by sending; the order must not be lost with it.
        while not self._send(order):
            pass
        self._running[task.number] = _Running(task, folder, time.monotonic())

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """Return the finished tasks; return at once if nothing runs."""
        # Even without time to wait, messages that have arrived are read.
        deadline = None if timeout is None else time.monotonic() + timeout
        self._listen(0.0)
        if self._rest is not None and self._has_ended:
            self._rest.store()  # while other tasks run
        while self._running and not self._ended:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                break
            self._listen_while_it_answers(left)
        ended, self._ended = self._ended, []
        return ended

    def kill(self, number: int) -> None:
        """Kill a task and await its end; before the work is loaded it ends right here."""
        self._listen(0.0)
        running = self._running.get(number)
        if running is None or not self._send({"order": "kill", "number": number}):
            return
        if running.begun is None:
            self._finish(number, TaskReport(Status.CANCELLED, "killed before it began"), 0.0)
        deadline = time.monotonic() + KILL_SECONDS
        while number in self._running and time.monotonic() < deadline:
            self._listen(deadline - time.monotonic())

    def close(self) -> None:
        """Kill running tasks, stop the server and remove the folders of tasks not handed out."""
        if self._server is not None:
            self._server.stop()
            self._server = None
        for number in list(self._running):
            self._finish(number, TaskReport(Status.CANCELLED, "the executor was closed"), 0.0)
        remove_mapped(self._assignment.work)
        if self._rest is not None:
            self._rest.remove()
        self._folders.close()

    def _send(self, order: Message) -> bool:
        """Send an order, and return True; with a dead server all running tasks have ended."""
        try:
            self._live_server().channel.send(order)
        except OSError:
            self._mourn()
            return False
        return True

    def _live_server(self) -> ServerProcess:
        if self._failure is not None:
            raise self._failure
        if self._server is None:
            if self._early_deaths > RESTARTS or len(self._deaths) > DEATHS_IN_A_ROW:
                raise self._give_up()
            self._server = ServerProcess(self.workers)
            self._server.assign(self._assignment)
        return self._server

    def _give_up(self) -> EvaluatorLostError:
        """Return the error to raise; the next call gets another try, for the final fit."""
        problem = EvaluatorLostError(
            f"the process that evaluates died {len(self._deaths)} times in a row; "
            f"the last time by {self._deaths[-1]}.",
            hint=Remedy("Is there enough memory? {executor='inline'} runs evaluations without it."),
        )
        self._deaths.clear()
        self._early_deaths = 0
        return problem

    def _listen(self, timeout: float | None) -> None:
        if self._failure is not None:
            raise self._failure
        if self._server is None:
            return
        try:
            for message in self._server.channel.receive(timeout):
                self._hear(message)
        except EOFError:
            self._mourn()

    def _listen_while_it_answers(self, timeout: float | None) -> None:
        """Listen at most until a task is long overdue: then the server hangs.

        Somebody may have stopped it. To kill it ends its tasks as lost.
        """
        overdue = min(running.overdue(self._ready) for running in self._running.values())
        left = overdue - time.monotonic()
        longest = min(left, math.inf if timeout is None else timeout)
        self._listen(None if longest == math.inf else longest)
        if left <= 0 and not self._ended:
            self._mourn()

    def _hear(self, message: Message) -> None:
        if message["event"] == "failed":
            self._failure = _load_error(message["message"])
            raise self._failure
        if message["event"] == "ready":
            self._ready, self._early_deaths = time.monotonic(), 0
        running = self._running.get(message.get("number", -1))
        if running is None:
            return
        if message["event"] == "started":
            running.begun = message["moment"]
        else:
            self._deaths.clear()
            # The moments are the server's: the clock is the same for all processes of a host.
            seconds = message["moment"] - (running.begun or message["moment"])
            self._finish(running.task.number, _report(message, running.folder), seconds)

    def _finish(self, number: int, report: TaskReport, seconds: float) -> None:
        running, self._has_ended = self._running.pop(number), True
        keep = running.task.keep
        # Other folders are removed, so their output needs no trimming.
        if keep and report.status is Status.SUCCESS:
            trim_output(running.folder / OUTPUT)
        finished = Finished(number, report.status, report.result, report.message, seconds)
        self._ended.append(self._folders.hand_out(finished, running.folder, keep=keep))

    def _mourn(self) -> None:
        """End all running tasks as lost: the server is dead."""
        if self._server is None:
            return
        end = self._server.bury()
        self._early_deaths += self._ready is None
        self._server = self._ready = None
        self._deaths.append(end)
        now = time.monotonic()
        for number, running in list(self._running.items()):
            seconds = 0.0 if running.begun is None else now - running.begun
            lost = TaskReport(Status.LOST, f"the process that evaluates died: {end}")
            self._finish(number, lost, seconds)


def _load_error(reason: str) -> ConfigurationError:
    is_not_found = reason.startswith(("ModuleNotFoundError", "AttributeError"))
    return ConfigurationError(
        f"the work could not be loaded in a child process: {reason.rstrip('.')}.",
        hint="Put functions and classes into the script or an importable module."
        if is_not_found
        else None,
    )


def _report(message: Message, folder: Path) -> TaskReport:
    """Return the end of a task: by our kill, its exit status, or its report.

    A child succeeds only with one whole result and an exit of its own.
    """
    status = message["status"]
    if status is not None:
        return TaskReport(Status(status), message["message"])
    report = _decoded(message["report"]) if message["code"] == 0 else None
    if report is not None:
        return report
    printed = last_output(folder / OUTPUT)
    result = {"output": printed} if printed else {}
    return TaskReport(Status.CRASHED, describe_exit(message["code"]), result)


def _decoded(told: str | None) -> TaskReport | None:
    """Return the report of a child; None without a readable one."""
    try:
        return None if told is None else decode_report(told.encode())
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
