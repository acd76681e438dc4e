"""Faults in real child processes under `local`: each ends by its name, and the next task works."""

from __future__ import annotations

import os
import re
import secrets
import signal
import sys
import tempfile
import time
from pathlib import Path

import faulty
import psutil
import pytest

from automl_admm.builtin.executors import build_local
from automl_admm.core.evaluations import Status
from automl_admm.core.protocols import Task
from automl_admm.execution.task_folders import remove_tree, temporary_folder
from automl_admm.plugins.records import ExecutorSetting, NoOptions

pytestmark = pytest.mark.faults

MEMORY_LIMIT = 300_000_000
# Long enough for a machine that is busy with other tests.
PATIENCE = 120.0


@pytest.fixture(scope="module")
def executor(tmp_path_factory):
    setting = ExecutorSetting(2, None, tmp_path_factory.mktemp("scratch"))
    made = build_local(faulty.Faulty([0.0]), setting, NoOptions())
    yield made
    made.close()


@pytest.fixture(scope="module")
def limited(tmp_path_factory):
    """An executor with a memory limit, whose work is by itself larger than the limit."""
    import numpy as np

    setting = ExecutorSetting(1, MEMORY_LIMIT, tmp_path_factory.mktemp("scratch"))
    made = build_local(faulty.Faulty(np.ones(50_000_000)), setting, NoOptions())
    yield made
    made.close()


def finish(executor, method, number=1, *, seconds=PATIENCE, keep=False, **arguments):
    executor.submit(Task(number, method, arguments, seconds, keep))
    (finished,) = executor.wait(2 * PATIENCE)
    assert finished.number == number
    return finished


def collect(executor, count):
    finished = []
    while len(finished) < count:
        ended = executor.wait(2 * PATIENCE)
        assert ended
        finished += ended
    return finished


def is_gone(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def all_gone(pids):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if all(map(is_gone, pids)):
            return True
        time.sleep(0.02)
    return False


def read_pids(path, count):
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pids = path.read_text().split() if path.exists() else []
        if len(pids) >= count:
            return [int(pid) for pid in pids]
        time.sleep(0.02)
    raise AssertionError(f"fewer than {count} processes were started")


@pytest.mark.parametrize("method", ["sleep_for_ever", "ignore_signals", "hold_the_lock"])
def test_what_does_not_end_is_killed_at_its_limit(executor, method):
    finished = finish(executor, method, seconds=0.5)
    assert (finished.status, finished.message) == (Status.TIMEOUT, "killed after 0.5 s")
    assert finished.seconds >= 0.5


def test_a_limit_holds_while_the_parent_does_something_else(executor, tmp_path):
    started = tmp_path / "started"
    executor.submit(Task(1, "nap", {"seconds": 600, "started": str(started)}, 3.0))
    (pid,) = read_pids(started, 1)
    assert all_gone([pid])
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.TIMEOUT


@pytest.mark.fault(
    "F81",
    injected="a component writes result.json with a loss of -5, and exits with 0 or hangs",
    expected="crashed, timeout: no file is a result",
)
@pytest.mark.parametrize(("then", "status"), [("leave", Status.CRASHED), ("hang", Status.TIMEOUT)])
def test_a_report_that_a_work_forges_is_none(executor, then, status, seen):
    finished = finish(executor, "forge", seconds=1.0 if then == "hang" else PATIENCE, then=then)
    seen(f"{finished.status}: {finished.message}")
    assert finished.status is status
    assert "loss" not in finished.result


def test_two_results_are_none(executor):
    finished = finish(executor, "forge_on_every_descriptor")
    assert finished.status is Status.CRASHED
    assert "loss" not in finished.result


def test_a_work_that_comes_back_twice_is_heard_once(executor):
    finished = finish(executor, "come_back_twice")
    assert finished.status is Status.SUCCESS
    assert finished.result["twin"] > 0


@pytest.mark.fault(
    "F82",
    injected="FIFOs named result.json, output.txt and model.skops in the folder of a task",
    expected="crashed at once: nobody opens them",
)
def test_a_fifo_is_not_waited_for(executor, seen):
    begun = time.monotonic()
    finished = finish(executor, "lay_fifos")
    took = time.monotonic() - begun
    seen(f"{finished.status}: {finished.message}, after {took:.1f} s")
    assert (finished.status, finished.message) == (Status.CRASHED, "signal SIGABRT")
    assert took < PATIENCE


@pytest.fixture
def in_memory(monkeypatch):
    """An executor whose folders are in memory: many disks take long to remove thousands."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    place = memory if memory.is_dir() else None
    with temporary_folder("automl-admm-test-", place) as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder))
        (folder / "run").mkdir()
        made = build_local(faulty.Faulty(), ExecutorSetting(1, None, folder / "run"), NoOptions())
        yield made
        made.close()
        assert not list(folder.glob("*/*"))


@pytest.mark.fault(
    "F83",
    injected="3,000 folders one in the other, in its folder and among temporary files",
    expected="all of it is removed, server and parent go on",
)
def test_a_deep_folder_is_removed(in_memory, seen):
    before = finish(in_memory, "echo").result["server"]
    finished = finish(in_memory, "dig", levels=3000)
    assert finished.status in (Status.SUCCESS, Status.ERROR), finished
    kept = finish(in_memory, "dig", keep=True, levels=50).folder
    remove_tree(kept)
    assert not kept.exists()
    assert finish(in_memory, "echo", 2).result["server"] == before
    assert not list(in_memory._folders.scratch.glob("task-*"))
    seen(f"{finished.status}; the same server; nothing left")


@pytest.mark.parametrize(
    "method", ["allocate", "allocate_at_once", "swallow_memory_error", "allocate_in_grandchild"]
)
def test_too_much_memory_is_memout(limited, method):
    assert finish(limited, method).status is Status.MEMOUT


@pytest.mark.skipif(sys.platform != "linux", reason="who shares a page is not told here")
@pytest.mark.parametrize(("blocks", "status"), [(1, Status.SUCCESS), (3, Status.MEMOUT)])
def test_what_is_shared_with_own_forks_counts_once(limited, blocks, status):
    """Written before a fork, a page is in the USS of neither process."""
    finished = finish(limited, "share_with_forks", blocks=blocks)
    assert finished.status is status, finished


SHARED = Path("/dev/shm")  # noqa: S108 - only looked at, but for one file with a name of its own


@pytest.mark.skipif(not SHARED.is_dir(), reason="memory has no names here")
@pytest.mark.parametrize("method", ["fill_memfd", "fill_shared_memory"])
@pytest.mark.fault(
    "F89",
    injected="800 MB into a memfd, into a file of /dev/shm, under a limit of 300 MB",
    expected="memout, and nothing stays in memory",
)
def test_memory_that_no_process_maps_counts_and_is_freed(limited, method, seen):
    name = SHARED / f"automl-admm-test-{secrets.token_hex(8)}"
    arguments = {"name": str(name)} if method == "fill_shared_memory" else {}
    finished = finish(limited, method, **arguments)
    seen(f"{finished.status}: {finished.message}; left: {name.exists()}")
    assert finished.status is Status.MEMOUT, finished
    assert not name.exists()


@pytest.mark.skipif(not SHARED.is_dir(), reason="memory has no names here")
def test_memory_that_is_mapped_and_has_a_name_counts_once(limited):
    finished = finish(limited, "share_a_little")
    assert finished.status is Status.SUCCESS, finished
    assert not (SHARED / finished.result["name"]).exists()


@pytest.mark.skipif(not SHARED.is_dir(), reason="memory has no names here")
@pytest.mark.fault(
    "F90",
    injected="a kill in the midst of a parallel call of joblib with large arrays",
    expected="cancelled, nothing of it stays in /dev/shm",
)
def test_what_joblib_leaves_is_removed(executor, tmp_path, seen):
    mark = tmp_path / "mark"
    executor.submit(Task(1, "leave_in_joblib", {"mark": str(mark)}, 2 * PATIENCE))
    while not mark.exists():
        assert executor.wait(0.05) == []
    pid = (tmp_path / "mark.task").read_text()
    executor.kill(1)
    (finished,) = executor.wait(PATIENCE)
    # Other tests use joblib at the same time; its names hold the process that called it.
    left = {path.name for path in SHARED.iterdir() if pid in re.findall(r"\d+", path.name)}
    seen(f"{finished.status}; {len(left)} left")
    assert finished.status is Status.CANCELLED
    assert not left


def test_what_is_inherited_is_free_but_writing_on_it_is_not_seen_by_others(limited):
    assert finish(limited, "allocate_a_little").status is Status.SUCCESS
    assert finish(limited, "mutate").result == {"first": 2.0, "seen": True}
    assert finish(limited, "look").result == {"first": 1.0, "seen": False}


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("segfault", {}, "signal SIGSEGV"),
        ("abort", {}, "signal SIGABRT"),
        ("kill_self", {}, "signal SIGKILL"),
        ("leave", {"code": 3}, "exit 3"),
        ("leave", {"code": 0}, "exit 0 without a result"),
    ],
)
def test_a_death_is_a_crash_by_its_name(executor, method, arguments, message):
    finished = finish(executor, method, **arguments)
    assert (finished.status, finished.message) == (Status.CRASHED, message)
    assert finish(executor, "echo", 2).status is Status.SUCCESS


def test_a_crash_shows_what_was_printed_last(executor):
    output = finish(executor, "abort").result["output"]
    assert "about to abort" in output
    assert "in abort" in output


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors are not listed here")
def test_a_failed_fork_is_lost_and_leaves_no_descriptor(tmp_path):
    found = []
    for failures in (0, 5):
        setting = ExecutorSetting(1, None, tmp_path)
        made = build_local(faulty.SeldomForked(failures), setting, NoOptions())
        ended = [finish(made, "count_descriptors", number) for number in range(failures + 1)]
        made.close()
        assert all(one.status is Status.LOST for one in ended[:-1])
        assert all("no process could be started" in one.message for one in ended[:-1])
        found.append(ended[-1].result["open"])
    assert found[0] == found[1]


def test_a_neighbour_survives_a_crash(executor):
    executor.submit(Task(1, "nap", {"seconds": 0.5}))
    executor.submit(Task(2, "segfault", {}))
    statuses = {finished.number: finished.status for finished in collect(executor, 2)}
    assert statuses == {1: Status.SUCCESS, 2: Status.CRASHED}


def test_killed_from_outside_is_a_crash(executor, tmp_path):
    started = tmp_path / "started"
    executor.submit(Task(1, "nap", {"seconds": 600, "started": str(started)}))
    os.kill(read_pids(started, 1)[0], signal.SIGKILL)
    (finished,) = executor.wait(PATIENCE)
    assert (finished.status, finished.message) == (Status.CRASHED, "signal SIGKILL")
    assert finish(executor, "echo", 2).status is Status.SUCCESS


def test_an_interrupt_raised_by_a_work_is_its_own(executor):
    finished = finish(executor, "raise_interrupt")
    assert (finished.status, finished.message) == (Status.ERROR, "KeyboardInterrupt")


def test_output_is_captured_and_capped(executor, capfd):
    finished = finish(executor, "print_much", megabytes=12, keep=True)
    assert finished.result == {"printed": 12}
    output = (finished.folder / "output.txt").read_bytes()
    assert len(output) < 1_000_100
    assert output.endswith(b"the end")
    # Beyond 16 MB it is cut while it grows, and that may be after the last line.
    finished = finish(executor, "print_much", megabytes=50, keep=True)
    assert finished.result == {"printed": 50}
    assert (finished.folder / "output.txt").stat().st_size < 1_000_100
    assert capfd.readouterr() == ("", "")


def test_there_is_nothing_to_read(executor):
    finished = finish(executor, "read_stdin")
    assert finished.status is Status.ERROR
    assert finished.message.startswith("EOFError")


def test_a_file_without_end_is_an_error(executor):
    finished = finish(executor, "fill_a_file")
    assert finished.status is Status.ERROR
    assert finished.message.startswith("OSError")


def test_a_closed_descriptor_hurts_only_its_own_task(executor):
    assert finish(executor, "close_everything").status is Status.SUCCESS
    assert finish(executor, "echo", 2).status is Status.SUCCESS


@pytest.mark.parametrize("hang", [True, False])
def test_grandchildren_and_daemons_end_with_their_task(executor, tmp_path, hang):
    pids = tmp_path / "pids"
    finished = finish(
        executor,
        "start_grandchildren",
        seconds=4.0 if hang else PATIENCE,
        pids=str(pids),
        hang=hang,
    )
    assert finished.status is (Status.TIMEOUT if hang else Status.SUCCESS)
    assert all_gone(read_pids(pids, 3))


def test_two_run_at_once(executor, tmp_path):
    """Each ends only when it has seen the other."""
    marks = [str(tmp_path / name) for name in ("one", "other")]
    for number, (own, other) in enumerate((marks, marks[::-1])):
        executor.submit(Task(number, "meet", {"own": own, "other": other}, PATIENCE))
    assert {finished.status for finished in collect(executor, 2)} == {Status.SUCCESS}


def test_a_child_is_set_up(executor):
    cores = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count()
    one, again, other = (finish(executor, "describe", number).result for number in (5, 5, 6))
    assert one["session"]
    assert one["interrupt"]
    assert one["stdin"] == ""
    assert one["threads"] == str(max(1, cores // 2))
    assert (one["numpy"], one["random"]) == (again["numpy"], again["random"])
    assert one["numpy"] != other["numpy"]
    assert one["random"] != other["random"]


def test_fits_with_threads_do_not_hang_in_children(tmp_path):
    executor = build_local(faulty.Learning(), ExecutorSetting(1, None, tmp_path), NoOptions())
    try:
        for number in (1, 2):
            finished = finish(executor, "fit", number)
            assert finished.status is Status.SUCCESS, finished
            assert finished.result["score"] > 0.9
    finally:
        executor.close()
