"""A child that somebody kills costs its own evaluation and nothing else."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import kill_and_resume
import psutil
import pytest
from program import run_program, start_program, start_python
from running_tasks import find_below, find_tasks

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate
from automl_admm.runs.session.session import seconds_used
from automl_admm.store.run_folder import RunFolder
from automl_admm.store.sqlite.log import SqliteStore

# Each of these processes imports for seconds, and much longer on a machine that is busy.
pytestmark = [pytest.mark.faults, pytest.mark.timeout(400)]
PATIENCE = 300.0
# With -m an interrupt may come before Python has the module that runs others, and exits with 1.
AS_A_SCRIPT = "import runpy; runpy.run_module('automl_admm', run_name='__main__')"
# Its session has the terminal, which sends the interrupt to all in it.
TAKE_TERMINAL = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
Seen = Callable[[str], None]


def kill_an_evaluation(run: subprocess.Popen[str]) -> Candidate | None:
    """Kill the process of an evaluation, which has not ended by then; return what it was about."""
    while run.poll() is None:
        for task in find_tasks(run.pid):
            if task.evaluates() and kill_alive(task.process):
                return task.candidate
        time.sleep(0.005)
    raise AssertionError(f"nothing was evaluated: {run.communicate()}")


def kill_alive(child: psutil.Process) -> bool:
    """Kill a process unless it has just ended by itself; one that is stopped cannot do so."""
    with contextlib.suppress(psutil.NoSuchProcess):
        child.suspend()
        while (status := child.status()) not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
            time.sleep(0.001)
        child.kill()
        return status == psutil.STATUS_STOPPED
    return False


def test_kill_9_of_a_child_leaves_the_run_alive_and_the_row_crashed(
    table: Path, tmp_path: Path
) -> None:
    few = ("--grammar", "tiny", "--max-evaluations", "3", "--eval-timeout", "60s")
    with start(table, tmp_path, *few) as run:
        killed = kill_an_evaluation(run)
        out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, err
    assert "best pipeline" in out
    rows = read_rows(tmp_path / "out" / "store.sqlite")
    crashed = [row for row in rows if row.status is Status.CRASHED]
    assert [(row.candidate, row.message) for row in crashed] == [(killed, "signal SIGKILL")]
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
    with start(table, tmp_path, "--budget", "600s", "--grammar", "tiny") as run:
        await_successes(tmp_path / "out" / "store.sqlite")
        below = list(find_below(run.pid))
        run.send_signal(number)
        out, err = run.communicate(timeout=PATIENCE)
    seen(f"{signal.Signals(number).name}: exit {run.returncode}, {out.splitlines()[-1]}")
    assert run.returncode == code, err
    assert f"ended by: {'interrupt' if number == signal.SIGINT else 'termination'}" in out
    assert "automl-admm resume out" in out
    assert not psutil.wait_procs(below, timeout=60)[1]
    assert (tmp_path / "out" / "model.skops").is_file()
    assert '"state": "done"' in (tmp_path / "out" / "run.json").read_text()
    assert not list((tmp_path / "out").glob(".scratch-*"))
    assert "Traceback" not in err


@pytest.mark.fault(
    "F22", injected="Ctrl-C through a terminal", expected="130, the best is saved, no stack trace"
)
def test_ctrl_c_at_a_terminal(table: Path, tmp_path: Path, seen: Seen) -> None:
    terminal, inside = os.openpty()
    few = ("--budget", "600s", "--grammar", "tiny", "--cv=2", "--workers", "1", "--out", "out")
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), inside)
    order = ("-c", TAKE_TERMINAL + AS_A_SCRIPT, "fit", table, "--target", "buys", *few)
    run = start_python(*order, cwd=tmp_path, start_new_session=True, **streams)
    os.close(inside)
    shown = Reader(terminal)
    await_successes(tmp_path / "out" / "store.sqlite")
    os.write(terminal, b"\x03")
    code = run.wait()
    text = shown.text()
    is_saved = (tmp_path / "out" / "model.skops").is_file()
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


def test_an_interrupt_while_the_program_starts_is_no_traceback(table: Path, tmp_path: Path) -> None:
    for pause in (0.05, 0.2, 0.5):
        order = (sys.executable, "-c", AS_A_SCRIPT, "fit", str(table), "--target", "buys")
        with subprocess.Popen(order, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as run:
            time.sleep(pause)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=PATIENCE)
        # The first: not even Python had started. Where that was on its way, it says so itself.
        assert run.returncode in (-signal.SIGINT, 130) or "<frozen site>" in err
        assert "cli/main.py" not in err


@pytest.mark.fault(
    "F20",
    injected="kill -9 of the run at random moments, then resume (2 workers)",
    expected="acknowledged evaluations lost: 0, made twice: 0",
)
def test_nothing_acknowledged_is_lost_to_kill_9(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], seen: Seen
) -> None:
    forked = SimpleNamespace(Popen=begin_forked, DEVNULL=subprocess.DEVNULL, PIPE=subprocess.PIPE)
    monkeypatch.setattr(kill_and_resume, "subprocess", forked)
    kills = os.environ.get("AUTOML_ADMM_KILLS", "3")
    monkeypatch.setattr("sys.argv", ["kill_and_resume.py", "--kills", kills])
    code = kill_and_resume.main()
    names, numbers = capsys.readouterr().out.splitlines()[-2:]
    kills, told, stored, lost, twice, left = map(int, numbers.split())
    seen(f"{kills} kills: {told} acknowledged, {lost} lost, {twice} made twice, {left} orphans")
    assert names.startswith("kills")
    assert stored >= told > 0
    assert (lost, twice, left) == (0, 0, 0)
    assert code == 0


def begin_forked(line: list[str], **options: Any) -> subprocess.Popen[Any]:
    """Begin a run that a script begins, in a fork."""
    return start_program(*line[3:], **options)


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
    few = (
        *("--target", "buys", "--grammar", "tiny"),
        *("--cv=2", "--max-evaluations", "8", "--workers", "1"),
    )
    for name in ("whole", "killed"):
        with start_in(tmp_path, "fit", str(table), *few, "--out", name, "-v") as run:
            if name == "killed":
                kill_after(run, 3)
            run.communicate(timeout=PATIENCE)
    done = run_program("resume", "killed", "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    parts, whole = (read_rows(tmp_path / name / "store.sqlite") for name in ("killed", "whole"))
    assert [(r.number, r.key, r.loss) for r in parts] == [(r.number, r.key, r.loss) for r in whole]
    winners = {
        json.loads((tmp_path / name / "model.json").read_text())["pipeline"]
        for name in ("killed", "whole")
    }
    seen(f"{len(parts)} evaluations equal, winners equal: {len(winners) == 1}")
    assert len(winners) == 1


def start(table: Path, folder: Path, *options: str) -> subprocess.Popen[str]:
    given = ("--target", "buys", "--cv=2", "--workers", "1", "--out", "out", "-q", *options)
    return start_in(folder, "fit", str(table), *given)


def start_in(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return start_program(*arguments, cwd=folder, **pipes)


def await_successes(store: Path, count: int = 1) -> None:
    """Wait until so many evaluations have succeeded."""
    deadline = time.monotonic() + PATIENCE
    while not (store.exists() and count_successes(store) >= count):
        assert time.monotonic() < deadline, f"fewer than {count} evaluations have succeeded"
        time.sleep(0.1)


def count_successes(path: Path) -> int:
    try:
        return sum(row.ok for row in read_rows(path))
    except StoreError:  # it is just being made
        return 0


def read_rows(path: Path) -> list[Evaluation]:
    store = SqliteStore(path)
    try:
        return list(store.read())
    finally:
        store.close()


def test_the_time_of_killed_sessions_hangs_on_no_clock_of_files(
    table: Path, tmp_path: Path
) -> None:
    out, begun = tmp_path / "out", time.monotonic()
    with start(table, tmp_path, "--budget", "600s", "--grammar", "tiny") as run:
        kill_at(run, out, rows=4)
    noted = seconds_used(RunFolder(out))
    assert evaluated(out) <= noted <= time.monotonic() - begun + TICK
    for moment in (1e9, 2.2e9):  # 2001 and 2039
        for file in out.rglob("*"):
            os.utime(file, (moment, moment))
        assert seconds_used(RunFolder(out)) == noted
    known, begun = len(read_rows(out / "store.sqlite")), time.monotonic()
    with start_in(tmp_path, "resume", "out", "--quiet") as run:
        kill_at(run, out, rows=known + 4)
    added = seconds_used(RunFolder(out)) - noted
    assert evaluated(out, known) <= added <= time.monotonic() - begun + TICK


TICK = 0.1  # to which the moment is known at which a process was started


def kill_at(run: subprocess.Popen[Any], out: Path, rows: int) -> None:
    """Kill a session when there are so many successes."""
    await_successes(out / "store.sqlite", rows)
    run.kill()
    run.communicate(timeout=PATIENCE)


def evaluated(out: Path, known: int = 0) -> float:
    """Sum up what the evaluations after the known ones took; the last may not have been noted."""
    return sum(row.seconds for row in read_rows(out / "store.sqlite")[known:-1])
