"""What the executor owes its caller, on a scheduler and two workers that are real processes."""

from __future__ import annotations

import logging
import os
import threading

import psutil
import pytest
from automl_admm_dask import DaskOptions, build_dask

from automl_admm.plugin_api import ConfigurationError, ExecutorSetting, LocalExecutor, Status, Task
from automl_admm.testing import hazards
from automl_admm.testing.searches import load_plugins

MEMORY = 200_000_000
PATIENCE = 100.0
WORKERS = 2


@pytest.fixture(scope="module")
def of_all(shared_cluster, tmp_path_factory):
    """One executor for the tests that leave it as it is: each begins a server on both workers."""
    scratch = tmp_path_factory.mktemp("run")
    setting = ExecutorSetting(1, None, scratch, True)
    made = build_dask(hazards.Hazards(), setting, DaskOptions(shared_cluster.address, PATIENCE))
    yield made, scratch
    made.close()


@pytest.fixture
def executor(of_all):
    return of_all[0]


def finish(executor, number=1, method="echo", *, seconds=PATIENCE, keep=False, **arguments):
    executor.submit(Task(number, method, arguments, seconds, keep))
    (finished,) = executor.wait(2 * PATIENCE)
    assert finished.number == number
    return finished


def test_it_is_a_plugin():
    assert "dask" in [record.name for record in load_plugins().executors]


def test_a_result_comes_back_and_nothing_stays_or_is_said(shared_cluster, start, tmp_path, capfd):
    level = logging.getLogger("distributed").level
    executor = start(hazards.Hazards(), shared_cluster)
    finished = finish(executor, a=1, b=[1.5, None, "ü"])
    assert finished.status is Status.SUCCESS
    assert finished.result["got"] == {"a": 1, "b": [1.5, None, "ü"]}
    assert finished.seconds > 0
    assert finished.folder is None
    executor.close()
    assert list((tmp_path / "run").iterdir()) == []
    assert capfd.readouterr() == ("", "")
    assert logging.getLogger("distributed").level == level


def test_files_come_back_into_a_folder_of_the_run(of_all):
    executor, scratch = of_all
    folder = finish(executor, 7, keep=True).folder
    assert folder is not None
    assert folder.parent == scratch
    assert (folder / "below" / "written.txt").read_text() == "by the task"
    assert (folder / "output.txt").read_text() == "printed\n"


def test_each_task_has_the_threads_that_dask_gives_it(cluster, start):
    cluster.add("--nthreads", str(os.cpu_count()))
    assert finish(start(hazards.Hazards(), cluster)).result["threads"] == "1"


@pytest.mark.faults
def test_ends_are_named_as_the_local_executor_names_them(shared_cluster, start, tmp_path):
    ours = start(hazards.Hazards(), shared_cluster, memory=MEMORY)
    theirs = LocalExecutor(hazards.Hazards(), ExecutorSetting(1, MEMORY, tmp_path))
    methods = ["fail", "crash", "leave", "fill", "hang", "nothing"]
    try:
        for number, method in enumerate(methods):
            arguments = {"mark": str(tmp_path / "mark")} if method == "hang" else {}
            seconds = 1.0 if method == "hang" else PATIENCE
            one = finish(ours, number, method, seconds=seconds, **arguments)
            other = finish(theirs, number, method, seconds=seconds, **arguments)
            assert one.status is other.status
            # How much was used when it was looked at is never the same.
            assert one.message.split(" of ")[-1] == other.message.split(" of ")[-1]
    finally:
        theirs.close()


def test_as_many_run_at_once_as_there_are_threads(executor, shared_cluster, until, tmp_path):
    until(lambda: not executor.wait(0.0) and executor.workers == 2)
    for number in (1, 2):
        executor.submit(Task(number, "hang", {"mark": str(tmp_path / f"{number}")}))
    until(lambda: (tmp_path / "1").exists() and (tmp_path / "2").exists())
    for number in (1, 2):
        executor.kill(number)
    assert {finished.status for finished in executor.wait(PATIENCE)} == {Status.CANCELLED}


def test_the_user_may_want_fewer_workers(shared_cluster, start, tmp_path, until):
    executor = start(hazards.Hazards(), shared_cluster, workers=1)
    executor.submit(Task(1, "hang", {"mark": str(tmp_path / "1")}))
    until((tmp_path / "1").exists)
    executor.submit(Task(2, "echo", {}))
    assert executor.workers == 1
    assert list(executor.wait(1.0)) == []
    executor.kill(1)
    ended = list(executor.wait(PATIENCE))
    ended += [] if len(ended) == 2 else executor.wait(PATIENCE)
    assert {f.number: f.status for f in ended} == {1: Status.CANCELLED, 2: Status.SUCCESS}


def test_a_killed_task_is_dead(executor, tmp_path, until):
    mark = tmp_path / "pid"
    executor.submit(Task(1, "hang", {"mark": str(mark)}))
    pid = int(until(lambda: mark.exists() and mark.read_text()).split()[0])
    executor.kill(1)
    (finished,) = executor.wait(PATIENCE)
    assert (finished.status, finished.message) == (Status.CANCELLED, "killed on request")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert finish(executor, 2).status is Status.SUCCESS


def test_killing_what_does_not_run_is_no_mistake(executor):
    executor.kill(9)
    assert list(executor.wait(0.0)) == []


def test_one_server_a_worker_does_all_tasks(executor, shared_cluster):
    servers = {finish(executor, number).result["server"] for number in range(6)}
    assert 1 <= len(servers) <= 2


def test_a_late_worker_is_given_the_work(cluster, start, until, tmp_path):
    cluster.add()
    executor = start(hazards.Hazards(), cluster)
    assert executor.workers == 1
    cluster.add()
    until(lambda: not executor.wait(0.0) and executor.workers == 2)
    for number in (1, 2):
        executor.submit(Task(number, "hang", {"mark": str(tmp_path / f"{number}")}))
    until(lambda: (tmp_path / "1").exists() and (tmp_path / "2").exists())
    assert all(psutil.Process(worker.pid).children() for worker in cluster.workers)


def test_closing_leaves_nothing_on_the_workers(cluster, start, tmp_path, until):
    cluster.add()
    executor = start(hazards.Hazards(), cluster)
    executor.submit(Task(1, "hang", {"mark": str(tmp_path / "1")}))
    until((tmp_path / "1").exists)
    assert cluster.below() != []
    executor.close()
    executor.close()
    assert [f.status for f in executor.wait(0.0)] == [Status.CANCELLED]
    until(lambda: cluster.below() == [])
    until(lambda: cluster.files() == [])
    assert list((tmp_path / "run").iterdir()) == []


def test_work_that_cannot_be_pickled_is_a_configuration_error(shared_cluster):
    with pytest.raises(ConfigurationError, match="cannot be sent"):
        build_dask(threading.Lock(), ExecutorSetting(), DaskOptions(shared_cluster.address))


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan")])
def test_options_are_checked(wrong):
    with pytest.raises(ValueError, match="patience"):
        DaskOptions(patience=wrong)


def test_an_address_is_not_empty():
    with pytest.raises(ValueError, match="empty"):
        DaskOptions(address="")


def test_stations_that_dask_has_dropped_are_opened_again(executor, until):
    """Each is missed by the first job that comes to it, which is lost."""
    until(lambda: is_done(executor) and len(executor._roster.places) == WORKERS)
    before = set(executor._roster.places)
    server = finish(executor, 1).result["server"]
    for hold in list(executor._transport._crew._holds.values()):
        hold.release()
    until(lambda: is_done(executor) and before.isdisjoint(executor._roster.places))
    assert finish(executor, 3).result["server"] != server


def is_done(executor):
    """Whether a task was done, and not lost."""
    executor.submit(Task(2, "echo", {}))
    (finished,) = executor.wait(2 * PATIENCE)
    return finished.status is Status.SUCCESS
