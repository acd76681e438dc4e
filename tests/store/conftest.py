"""Stores with a few evaluations, as they lie in a run folder."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from stored import an_evaluation, write_in_a_process

from automl_admm.core.evaluations import Evaluation
from automl_admm.store.sqlite.log import SqliteStore

Make = Callable[..., Path]


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
