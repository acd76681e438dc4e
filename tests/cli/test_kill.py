"""A child that somebody kills costs its own evaluation and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from automl_admm.core.errors import StoreError
from automl_admm.core.problem import Evaluation, Status
from automl_admm.runs.session.session import seconds_used
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

pytestmark = pytest.mark.faults
Seen = Callable[[str], None]


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


@pytest.mark.fault(
    "F22",
    injected="SIGINT, SIGTERM, SIGHUP once",
    expected="130, 143, 129; the best is saved, no stack trace, no orphans, the way to go on",
)
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)],
    ids=["ctrl-c", "sigterm", "hangup"],
)
def test_an_interrupt_ends_the_run_with_the_best_so_far(
    table: Path, tmp_path: Path, number: int, code: int, seen: Seen
) -> None:
    with start(table, tmp_path, "--budget", "60s", "--grammar", "tiny") as run:
        await_success(tmp_path / "out" / "store.sqlite")
        below = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(number)
        out, err = run.communicate(timeout=30)
    seen(f"{signal.Signals(number).name}: exit {run.returncode}, {out.splitlines()[-1]}")
    assert run.returncode == code, err
    assert f"ended by: {'interrupt' if number == signal.SIGINT else 'termination'}" in out
    assert "automl-admm resume out" in out
    assert not psutil.wait_procs(below, timeout=5)[1]
    assert (tmp_path / "out" / "model.skops").is_file()
    assert '"state": "done"' in (tmp_path / "out" / "run.json").read_text()
    assert not list((tmp_path / "out").glob(".scratch-*"))
    assert "Traceback" not in err


@pytest.mark.fault(
    "F22", injected="SIGINT twice", expected="ends at once, the store kept, no stack trace"
)
def test_a_second_interrupt_ends_it_at_once(table: Path, tmp_path: Path, seen: Seen) -> None:
    with start(table, tmp_path, "--budget", "60s", "--grammar", "tiny") as run:
        await_success(tmp_path / "out" / "store.sqlite")
        below = psutil.Process(run.pid).children(recursive=True)
        run.send_signal(signal.SIGINT)
        while is_pending(run.pid):
            time.sleep(0.001)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
    said = [line for line in err.splitlines() if line]
    seen(f"exit {run.returncode}: {' / '.join(said)}")
    assert run.returncode == 130
    assert said == ["go on with: automl-admm resume out", "error: interrupted"]
    assert not (tmp_path / "out" / "model.skops").exists()
    assert has_success(tmp_path / "out" / "store.sqlite")
    assert not psutil.wait_procs(below, timeout=5)[1]


@pytest.mark.fault(
    "F22", injected="Ctrl-C through a terminal", expected="130, the best is saved, no stack trace"
)
def test_ctrl_c_at_a_terminal(table: Path, tmp_path: Path, seen: Seen) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        few = ("--budget", "60s", "--grammar", "tiny", "--workers", "1", "--out", "out")
        order = (*command(), "fit", str(table), "--target", "buys", *few)
        os.execv(order[0], order)  # noqa: S606 - this interpreter
    shown = Reader(terminal)
    await_success(tmp_path / "out" / "store.sqlite")
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    text = shown.text()
    code, is_saved = os.waitstatus_to_exitcode(status), (tmp_path / "out" / "model.skops").is_file()
    seen(f"exit {code}, a model: {is_saved}")
    assert code == 130, text
    assert "ended by: interrupt" in text
    assert "Traceback" not in text
    assert is_saved


class Reader:
    """Reads what appears on a terminal, so that the program never waits for it to be read."""

    def __init__(self, terminal: int) -> None:
        self._parts: list[bytes] = []
        self._terminal = terminal
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # how Linux says that the other side has hung up
            while part := os.read(self._terminal, 4096):
                self._parts.append(part)

    def text(self) -> str:
        self._thread.join(timeout=10)
        os.close(self._terminal)
        return b"".join(self._parts).decode(errors="replace")


def test_an_interrupt_before_the_first_success_is_told(table: Path, tmp_path: Path) -> None:
    """It is just that, or leaves what there is to fall back on, where that is fitted already."""
    with start(table, tmp_path, "--budget", "60s") as run:
        while not list((tmp_path / "out").glob(".scratch-*/task-1")):
            time.sleep(0.02)
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=30)
    assert run.returncode == 130
    last, has_model = err.strip().splitlines()[-1], (tmp_path / "out" / "model.json").is_file()
    assert (
        "(interrupt) ended before a single" in last if has_model else last == "error: interrupted"
    )


def test_an_interrupt_while_the_program_starts_is_no_traceback(table: Path, tmp_path: Path) -> None:
    for pause in (0.05, 0.2, 0.5):
        with start(table, tmp_path, "--budget", "60s") as run:
            time.sleep(pause)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=30)
        # The first: not even Python had started. Where that was on its way, it says so itself.
        assert run.returncode in (-signal.SIGINT, 130) or "<frozen site>" in err
        assert "cli/main.py" not in err


@pytest.mark.fault(
    "F20",
    injected="kill -9 of the run at 20 random moments, then resume (2 workers)",
    expected="acknowledged evaluations lost: 0, made twice: 0",
)
@pytest.mark.timeout(280)
def test_nothing_acknowledged_is_lost_to_kill_9(tmp_path: Path, seen: Seen) -> None:
    done = subprocess.run(
        [sys.executable, str(KILLS), "--kills", "20"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    names, numbers = done.stdout.splitlines()[-2:]
    kills, told, stored, lost, twice, left = map(int, numbers.split())
    seen(f"{kills} kills: {told} acknowledged, {lost} lost, {twice} made twice, {left} orphans")
    assert names.startswith("kills")
    assert stored >= told > 0
    assert (lost, twice, left) == (0, 0, 0)
    assert done.returncode == 0, done.stderr


KILLS = Path(__file__).parents[2] / "benchmarks" / "kill_and_resume.py"
EVALUATED = re.compile(r" *\d+ +\S+ +[\d.]+ s  \S")


def kill_after(run: subprocess.Popen[str], count: int) -> None:
    """Kill a run once it has told of so many evaluations."""
    assert run.stderr is not None
    told = 0
    for line in run.stderr:
        told += EVALUATED.match(line) is not None
        if told == count:
            break
    run.kill()


@pytest.mark.fault(
    "F20",
    injected="kill -9 with one worker and a number of evaluations, then resume",
    expected="the same evaluations and the same winner as without",
)
def test_a_killed_run_ends_as_if_it_had_not_been(table: Path, tmp_path: Path, seen: Seen) -> None:
    few = ("--target", "buys", "--grammar", "tiny", "--max-evaluations", "8", "--workers", "1")
    for name in ("whole", "killed"):
        with start_program(tmp_path, "fit", str(table), *few, "--out", name, "-v") as run:
            if name == "killed":
                kill_after(run, 3)
            run.communicate(timeout=60)
    done = subprocess.run(
        [*command(), "resume", "killed", "-q"], cwd=tmp_path, timeout=60, check=False
    )
    assert done.returncode == 0
    parts, whole = (read_rows(tmp_path / name / "store.sqlite") for name in ("killed", "whole"))
    assert [(r.number, r.key, r.loss) for r in parts] == [(r.number, r.key, r.loss) for r in whole]
    winners = {
        json.loads((tmp_path / name / "model.json").read_text())["pipeline"]
        for name in ("killed", "whole")
    }
    seen(f"{len(parts)} evaluations equal, winners equal: {len(winners) == 1}")
    assert len(winners) == 1


# Whoever runs the tests in the background has signals ignored, and so would the run.
HEARING = (
    "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "signal.signal(signal.SIGHUP, signal.SIG_DFL); "
)


def command() -> tuple[str, ...]:
    """The program as a process of its own that hears interrupts."""
    return (sys.executable, "-c", f"{HEARING}runpy.run_module('automl_admm', run_name='__main__')")


def start(table: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    given = ("--target", "buys", "--workers", "1", "--out", "out", "-q", *options)
    return start_program(folder, "fit", str(table), *given)


def start_program(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command(), *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def await_success(store: Path) -> None:
    deadline = time.monotonic() + 60
    while not (store.exists() and has_success(store)):
        assert time.monotonic() < deadline, "no evaluation has succeeded"
        time.sleep(0.1)


def is_pending(pid: int) -> bool:
    """Whether a signal has not been heard yet: two of a kind would be one."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (pending,) = (line.split()[1] for line in lines if line.startswith("ShdPnd"))
    return int(pending, 16) != 0


def has_success(path: Path) -> bool:
    try:
        return any(row.ok for row in read_rows(path))
    except StoreError:  # it is just being made
        return False


def read_rows(path: Path) -> list[Evaluation]:
    store = SqliteStore(path)
    try:
        return list(store.read())
    finally:
        store.close()


def test_the_time_of_killed_sessions_hangs_on_no_clock_of_files(
    table: Path, tmp_path: Path
) -> None:
    out, spent = tmp_path / "out", 0.0
    with start(table, tmp_path, "--budget", "300s", "--grammar", "tiny") as run:
        spent += lived(run, out)
    for moment in (1e9, 2.2e9):  # 2001 and 2039
        for file in out.rglob("*"):
            os.utime(file, (moment, moment))
        assert seconds_used(RunFolder(out)) == pytest.approx(spent, abs=4.0)
    order = [*command(), "resume", "out", "--quiet"]
    with subprocess.Popen(order, cwd=tmp_path, stderr=subprocess.DEVNULL) as run:
        spent += lived(run, out)
    assert seconds_used(RunFolder(out)) == pytest.approx(spent, abs=6.0)


def lived(run: subprocess.Popen[Any], out: Path) -> float:
    """Let a session evaluate for three seconds and kill it; return how long it lived."""
    begun = time.monotonic()
    await_success(out / "store.sqlite")
    time.sleep(3.0)
    run.kill()
    run.communicate(timeout=30)
    return time.monotonic() - begun
