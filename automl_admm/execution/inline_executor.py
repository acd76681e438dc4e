"""The `inline` executor: tasks run in this very process, for debuggers and odd platforms.

Nothing is isolated: there is no time limit and no memory limit, output of a task is visible, its
changes stay, and a crash ends the program. The global random generators are left alone, because
they belong to the caller.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.execution.task_folders import TaskFolders
from automl_admm.execution.task_report import (
    TaskReport,
    call_work,
    decode_report,
    describe_exit,
    encode_report,
    exit_code,
)
from automl_admm.plugins.records import ExecutorSetting


class InlineExecutor:
    """Runs each task in `wait`; always one worker, whatever the setting."""

    workers = 1
    runs_here = True

    def __init__(self, work: Any, setting: ExecutorSetting) -> None:
        self._work = work
        self._folders = TaskFolders(setting.scratch)
        self._waiting: list[Task] = []
        self._broken_off: list[Task] = []
        self._ended: list[Finished] = []  # not handed out yet
        prepare = getattr(work, "prepare", None)
        if prepare is not None:
            prepare()

    def submit(self, task: Task) -> None:
        """Note a task down."""
        self._waiting.append(task)

    def wait(self, timeout: float | None = None) -> Sequence[Finished]:
        """Run the submitted tasks, however long it takes."""
        del timeout
        finished, self._ended = self._ended, []
        while self._waiting:
            task = self._waiting.pop(0)
            try:
                finished.append(self._run(task))
            except BaseException:  # an interrupt: the run kills what it began
                self._broken_off.append(task)
                self._ended = finished + self._ended
                raise
        return finished

    def kill(self, number: int) -> None:
        """Drop a task that was not yet run, or was broken off by an interrupt."""
        for tasks in (self._waiting, self._broken_off):
            dropped = [task for task in tasks if task.number == number]
            tasks[:] = [task for task in tasks if task.number != number]
            self._ended += [
                Finished(task.number, Status.CANCELLED, message="killed on request")
                for task in dropped
            ]

    def close(self) -> None:
        """Drop waiting tasks, and remove the scratch folder if it is ours."""
        self._waiting.clear()
        self._folders.close()

    def _run(self, task: Task) -> Finished:
        folder = self._folders.make(task)
        begun = time.monotonic()
        report = _perform(self._work, task, folder)
        seconds = time.monotonic() - begun
        finished = Finished(task.number, report.status, report.result, report.message, seconds)
        return self._folders.hand_out(finished, folder, keep=task.keep)


def _perform(work: Any, task: Task, folder: Path) -> TaskReport:
    """Call the work; the result passes through JSON, as in `local`."""
    try:
        report = call_work(work, task.method, task.arguments, folder)
    except SystemExit as leave:
        return TaskReport(Status.CRASHED, describe_exit(exit_code(leave)))
    # Tuples become lists and NaN stays: a work behaves as it will in a child.
    return decode_report(encode_report(report))
