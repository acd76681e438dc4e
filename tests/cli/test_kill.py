"""A child that somebody kills costs its own evaluation and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from automl_admm.errors import StoreError
from automl_admm.problem import Status
from automl_admm.store.sqlite import SqliteStore

pytestmark = pytest.mark.faults


def evaluating_children(run: psutil.Process) -> Iterator[psutil.Process]:
    """The grandchildren: below the run is its fork server, below that what evaluates."""
    for server in run.children():
        yield from server.children()


def kill_one(run: psutil.Process, until: float) -> int | None:
    while time.monotonic() < until:
        for child in evaluating_children(run):
            os.kill(child.pid, signal.SIGKILL)
            return child.pid
        time.sleep(0.005)
    return None


def test_kill_9_of_a_child_leaves_the_run_alive_and_the_row_crashed(
    table: Path, tmp_path: Path
) -> None:
    few = ("--max-evaluations", "8", "--eval-timeout", "8s")
    with start(table, tmp_path, *few) as run:
        assert kill_one(psutil.Process(run.pid), time.monotonic() + 60) is not None
        out, err = run.communicate(timeout=100)
    assert run.returncode == 0, err
    assert "best pipeline" in out
    rows = SqliteStore(tmp_path / "out" / "store.sqlite").read()
    crashed = [row for row in rows if row.status is Status.CRASHED]
    assert [row.message for row in crashed] == ["signal SIGKILL"]
    assert any(row.ok for row in rows)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "sigterm"]
)
def test_an_interrupt_ends_the_run_with_the_best_so_far(
    table: Path, tmp_path: Path, number: int, code: int
) -> None:
    with start(table, tmp_path, "--budget", "60s", "--grammar", "tiny") as run:
        deadline = time.monotonic() + 30
        store = tmp_path / "out" / "store.sqlite"
        while time.monotonic() < deadline and not (store.exists() and has_success(store)):
            time.sleep(0.1)
        run.send_signal(number)
        out, err = run.communicate(timeout=30)
    assert run.returncode == code, err
    assert "ended by: interrupt" in out
    assert (tmp_path / "out" / "model.skops").is_file()
    assert '"state": "done"' in (tmp_path / "out" / "run.json").read_text()
    assert not list((tmp_path / "out").glob(".scratch-*"))
    assert "Traceback" not in err


def test_an_interrupt_before_the_first_success_is_just_that(table: Path, tmp_path: Path) -> None:
    with start(table, tmp_path, "--budget", "60s") as run:
        while not list((tmp_path / "out").glob(".scratch-*/task-1")):
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    assert err.strip().splitlines()[-1] == "error: interrupted"


def test_an_interrupt_while_the_program_starts_is_no_traceback(table: Path, tmp_path: Path) -> None:
    for pause in (0.05, 0.2, 0.5):
        with start(table, tmp_path, "--budget", "60s") as run:
            time.sleep(pause)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=30)
        assert run.returncode in (-signal.SIGINT, 130)  # the first: not even Python had started
        assert "cli/main.py" not in err


# Whoever runs the tests in the background has interrupts ignored, and so would the run.
HEARING = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "


def start(table: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    program = HEARING + "runpy.run_module('automl_admm', run_name='__main__')"
    return subprocess.Popen(
        [
            *(sys.executable, "-c", program, "fit", str(table), "--target", "buys"),
            *("--workers", "1", "--out", "out", "-q", *options),
        ],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def has_success(path: Path) -> bool:
    try:
        store = SqliteStore(path)
    except StoreError:  # it is just being made
        return False
    try:
        return any(row.ok for row in store.read())
    finally:
        store.close()
