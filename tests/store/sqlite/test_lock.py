"""One process a run; the lock goes with its holder, however that ends."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import pytest
from program import run_program, start_python

from automl_admm.core.errors import StoreError
from automl_admm.store.rescue.checking import check
from automl_admm.store.sqlite.lock import Holder, RunLock, is_held, read_holder, this_process
from automl_admm.store.sqlite.log import SqliteStore

HOLD = "print('held', flush=True); sys.stdin.read()"
HOLD_WITH_A_CHILD = (
    "import subprocess; "
    "child = subprocess.Popen(['sleep', '100'], close_fds=False, stdout=subprocess.DEVNULL); "
    "print(child.pid, flush=True); sys.stdin.read()"
)

Seen = Callable[[str], None]


@contextmanager
def holder_of(path: Path, then: str = HOLD) -> Iterator[tuple[subprocess.Popen[str], str]]:
    program = (
        "import sys; from pathlib import Path\n"
        "from automl_admm.store.sqlite.log import SqliteStore\n"
        f"store = SqliteStore(Path({str(path)!r}), write=True)\n"
        f"store.begin(99, 'key-0099', 'tree()')\n{then}\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with start_python("-c", program, text=True, **pipes) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


def test_a_lock_that_is_asked_for_is_not_refused(tmp_path: Path) -> None:
    """Whoever asks shares the lock for a moment, in which a run may take its own."""
    path = tmp_path / "store.lock"
    path.touch()
    asking = os.open(path, os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    soon = threading.Timer(0.03, os.close, [asking])
    soon.start()
    lock = RunLock(path)
    assert is_held(path)
    lock.release()
    soon.join()
    assert not is_held(path)


@pytest.mark.fault(
    "F31", injected="two processes on one run", expected="exit 7 naming the holder's pid and host"
)
def test_a_second_process_is_refused_by_the_name_of_the_first(
    closed: Callable[..., Path], seen: Seen
) -> None:
    path = closed(5)
    with holder_of(path) as (process, _):
        with pytest.raises(StoreError, match=rf"by process {process.pid} on host") as caught:
            SqliteStore(path, write=True)
        assert socket.gethostname() in str(caught.value)
        second = run_program("store", "repair", path.parent)
        assert second.returncode == 7
        assert f"process {process.pid} on host {socket.gethostname()}" in second.stderr
        with closing(SqliteStore(path)) as store:  # who only reads is let in
            assert len(store.read()) == 5
            assert store.interrupted() == []
        assert check(path).problems == ()
    with closing(SqliteStore(path, write=True)) as store:
        assert [begun.pid for begun in store.interrupted()] == [process.pid]
        assert len(store.read()) == 5
    seen(f"exit {second.returncode}: {second.stderr.strip()[7:]}")


@pytest.mark.fault(
    "F31", injected="two different runs at once", expected="neither is in the way of the other"
)
def test_two_runs_have_a_lock_each(tmp_path: Path, seen: Seen) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first = SqliteStore(tmp_path / "one" / "store.sqlite", create=True)
    SqliteStore(tmp_path / "two" / "store.sqlite", create=True).close()
    first.close()
    seen("both opened")


@pytest.mark.faults
def test_a_holder_that_is_killed_lets_go_though_its_child_lives(
    closed: Callable[..., Path],
) -> None:
    path = closed(2)
    with holder_of(path, HOLD_WITH_A_CHILD) as (process, text):
        child = psutil.Process(int(text))
        try:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert child.is_running()
            SqliteStore(path, write=True).close()
        finally:
            child.kill()


def test_a_lock_is_free_when_the_store_is_closed_or_could_not_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    store = SqliteStore(path, create=True)
    with pytest.raises(StoreError, match="is being written by"):
        SqliteStore(path, write=True)
    store.close()
    path.write_bytes(b"")
    for _ in range(2):
        with pytest.raises(StoreError, match="it is empty"):
            SqliteStore(path, write=True)


def test_what_the_last_one_wrote_is_kept_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    lock = RunLock(path)
    lock.note("a run", 12)
    lock.release()
    lock = RunLock(path)
    held = read_holder(path)
    assert held is not None
    assert (held.run, held.rows) == ("a run", 12)
    assert held.is_alive
    lock.release()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"host": 1}', "null"])
def test_a_lock_file_that_makes_no_sense_is_no_obstacle(tmp_path: Path, content: str) -> None:
    path = tmp_path / "lock"
    path.write_text(content)
    assert read_holder(path) is None
    RunLock(path).release()


def test_a_pid_that_was_given_anew_is_not_the_holder() -> None:
    me = this_process()
    assert me.is_alive
    assert not Holder(me.host, me.pid, me.start - 100.0).is_alive
    assert not Holder("another", me.pid, me.start).is_alive
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert not Holder(me.host, gone.pid, time.time()).is_alive


def test_the_next_holder_finds_the_time_of_the_last_until_it_counts_its_own(
    tmp_path: Path,
) -> None:
    path = tmp_path / "store.lock"
    first = RunLock(path)
    first.count_time(1, time.monotonic() - 40.0)
    first.release()
    os.utime(path, (0, 0))
    second = RunLock(path)
    second.note("run", 3)
    second.note_time()
    found = read_holder(path)
    assert found is not None
    assert (found.session, found.rows) == (1, 3)
    assert 40.0 <= found.seconds < 45.0
    second.count_time(2, time.monotonic() - 5.0)
    found = read_holder(path)
    assert found is not None
    assert found.session == 2
    assert 5.0 <= found.seconds < 10.0
    second.release()
