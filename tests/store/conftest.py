"""Stores with a few evaluations, as they lie in a run folder."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from automl_admm.core.problem import Evaluation, Status
from automl_admm.core.space import Candidate, Selection
from automl_admm.store.sqlite.log import SqliteStore

# A process of its own that begins, appends and then does what it is told.
WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, {folder!r})
from conftest import an_evaluation
from automl_admm.store.sqlite.log import SqliteStore
import os, signal, time
store = SqliteStore(Path({path!r}), {mode}=True)
for number in range({first}, {last} + 1):
    store.append(an_evaluation(number))
{then}
"""
KILL_ITSELF = "os.kill(os.getpid(), signal.SIGKILL)"

Make = Callable[..., Path]


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
    """What a process of its own leaves behind."""
    program = WRITER.format(
        folder=str(Path(__file__).parent),
        path=str(path),
        mode=mode,
        first=first,
        last=last,
        then=then,
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )


@pytest.fixture
def evaluation() -> Callable[..., Evaluation]:
    """Makes evaluations by number."""
    return an_evaluation


@pytest.fixture
def writer() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Writes a store in a process of its own, which then kills itself unless told otherwise."""
    return write_in_a_process


@pytest.fixture
def closed(tmp_path: Path) -> Make:
    """Makes a store that was closed as it should be."""

    def make(rows: int = 60) -> Path:
        path = tmp_path / "run" / "store.sqlite"
        path.parent.mkdir()
        store = SqliteStore(path, create=True)
        for number in range(1, rows + 1):
            store.append(an_evaluation(number))
        store.close()
        return path

    return make


@pytest.fixture
def killed(tmp_path: Path) -> Make:
    """Makes a store whose writer was killed by kill -9: the last rows are in the -wal."""

    def make(rows: int = 60) -> Path:
        path = tmp_path / "run" / "store.sqlite"
        path.parent.mkdir()
        done = write_in_a_process(path, rows)
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert path.with_name("store.sqlite-wal").stat().st_size > 0
        return path

    return make
