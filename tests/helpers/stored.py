"""Evaluations to store, and a process of its own that stores them."""

from __future__ import annotations

import math
import subprocess
from pathlib import Path

from program import run_python

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate, Selection

# A process of its own that begins, appends and then does what it is told.
WRITER = """
import os, signal, time
from pathlib import Path
from stored import an_evaluation
from automl_admm.store.sqlite.log import SqliteStore
store = SqliteStore(Path({path!r}), {mode}=True)
for number in range({first}, {last} + 1):
    store.append(an_evaluation(number))
{then}
"""
KILL_ITSELF = "os.kill(os.getpid(), signal.SIGKILL)"


def an_evaluation(number: int, status: Status = Status.SUCCESS, **changes: object) -> Evaluation:
    """One that differs from all others in everything."""
    ok = status is Status.SUCCESS
    values: dict[str, object] = {
        "number": number,
        "key": f"key-{number:04d}",
        "candidate": Candidate(
            Selection((("model", f"model-{number % 5}"), ("order", ("b", "a")))),
            (number / 1024, 1 / (number + 2)),
        ),
        "status": status,
        "loss": 1 / (number + 1) if ok else math.nan,
        "constraints": (number / 7,) if ok else (),
        "seconds": number / 8,
        "text": f"tree(depth={number})",
        "message": "" if ok else f"message of {number}",
        "details": {"scores": [number / 3, 0.25]} if ok else {},
    }
    return Evaluation(**(values | changes))  # type: ignore[arg-type]


def write_in_a_process(
    path: Path, last: int, *, first: int = 1, mode: str = "create", then: str = KILL_ITSELF
) -> subprocess.CompletedProcess[str]:
    """Write a store in a process of its own, which kills itself unless told otherwise."""
    program = WRITER.format(path=str(path), mode=mode, first=first, last=last, then=then)
    return run_python("-c", program)
