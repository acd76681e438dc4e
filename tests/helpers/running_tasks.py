"""The processes that do the tasks of a run: evaluations, models to fall back on, final fits."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from automl_admm.core.space import Candidate
from automl_admm.execution.child.process_tree import children_of, descendants_of
from automl_admm.execution.task_folders import TASK
from automl_admm.runs.driving.dispatch import TaskKind


@dataclass(frozen=True)
class RunningTask:
    """One task, what it is about (None for a constant model), and its process."""

    kind: TaskKind
    candidate: Candidate | None
    process: psutil.Process

    def evaluates(self, name: str = "") -> bool:
        """Return True for the evaluation of a pipeline in which this component was chosen."""
        chosen = () if self.candidate is None else (pick for _, pick in self.candidate.selection)
        return self.kind is TaskKind.EVALUATE and (not name or name in chosen)


def find_tasks(run: int) -> Iterator[RunningTask]:
    """Find the tasks of a run: below it is its fork server, and below that a process for each."""
    for server in children_of(run):
        for child in children_of(server):
            # A child that has just begun has opened no file yet.
            with contextlib.suppress(psutil.Error, OSError, StopIteration):
                yield _read(psutil.Process(child))


def find_below(run: int) -> Iterator[psutil.Process]:
    """Find all processes below a run; some may end meanwhile."""
    for pid in descendants_of(run):
        with contextlib.suppress(psutil.NoSuchProcess):
            yield psutil.Process(pid)


def _read(child: psutil.Process) -> RunningTask:
    """Read what a child does in the folder that its output goes to."""
    folders = (Path(file.path).parent for file in child.open_files())
    folder = next(path for path in folders if path.name.startswith("task-"))
    method, arguments = pickle.loads((folder / TASK).read_bytes())
    return RunningTask(TaskKind(method), arguments.get("candidate"), child)
