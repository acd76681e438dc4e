"""What is lost when a worker, the scheduler, or the run itself is killed: no more than must be."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time

import psutil
import pytest
from automl_admm_dask import DaskOptions, build_dask, clusters, crew
from program import start as start_python

from automl_admm.plugin_api import (
    AutomlAdmmError,
    ConfigurationError,
    ExecutorSetting,
    Parameter,
    PluginError,
    SearchSpace,
    Status,
    Task,
)
from automl_admm.testing import hazards
from automl_admm.testing.searches import main, minimize

SPACE = SearchSpace((), (Parameter("x", 0.0, 1.0),))
PATIENCE = 200.0
GRAMMAR = "%import components (logistic_regression)\nstart: logistic_regression\n"
SCRIPT = """
import sys
from automl_admm.plugin_api import ExecutorSetting, Task
from automl_admm_dask import DaskOptions, build_dask
from automl_admm.testing.hazards import Hazards
address, mark = sys.argv[1] or None, sys.argv[2]
executor = build_dask(Hazards(), ExecutorSetting(), DaskOptions(address))
executor.submit(Task(1, "hang", {"mark": mark}))
executor.wait()
"""


def run_script(*arguments, **variables):
    """Run the script in a fork, or in an interpreter that is to be found by its variables."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    line = [sys.executable, "-c", SCRIPT, *arguments]
    return start_python(line, {}, bool(variables), {"env": os.environ | variables, **quiet})


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def try_for_ever(executor):
    """Submit a task again whenever it is lost, as the driver does once."""
    while True:
        executor.submit(Task(1, "echo", {}))
        executor.wait(PATIENCE)


def search(cluster, objective, evaluations, **more):
    return minimize(
        objective,
        SPACE,
        max_evaluations=evaluations,
        theta_solver="random",
        executor=f"dask:address={cluster.address}",
        random_state=0,
        **more,
    )


def kill_in_mid_run(cluster, folder, until):
    """Kill a worker with SIGKILL while it evaluates, when four evaluations have begun.

    It is the first found at work: the other one may have come so late that it has nothing to do.
    """

    def kill():
        until(lambda: len(list(folder.iterdir())) >= 4)
        until(lambda: next((w for w in cluster.workers if hold_one(w, folder)), None)).kill()

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def evaluations_of(worker):
    """The evaluations that run on a worker: they are the children of its fork server."""
    servers = psutil.Process(worker.pid).children()
    return [child for server in servers for child in server.children()]


def hold_one(worker, folder):
    """Stop an evaluation that has left its mark, so that it does not end before its worker."""
    begun = {path.name.partition("-")[0] for path in folder.iterdir()}
    for child in evaluations_of(worker):
        with contextlib.suppress(psutil.NoSuchProcess):
            if str(child.pid) in begun:
                child.suspend()
                while child.status() not in (psutil.STATUS_STOPPED, psutil.STATUS_ZOMBIE):
                    time.sleep(0.001)
                return child.status() == psutil.STATUS_STOPPED
    return False


@pytest.mark.fault(
    "F21d",
    injected="kill -9 of one of two Dask workers in mid-run",
    expected="its evaluation is done again elsewhere; the run ends with all, each once",
)
def test_a_worker_lost_in_mid_run_costs_its_evaluations_only(cluster, tmp_path, until, seen):
    cluster.add()
    cluster.add()
    marks = tmp_path / "marks"
    marks.mkdir()
    thread = kill_in_mid_run(cluster, marks, until)
    result = search(cluster, hazards.Slow(str(marks), 0.3), 24, n_jobs=2)
    thread.join()
    keys = [evaluation.key for evaluation in result.evaluations]
    assert len(keys) == len(set(keys)) == 24
    assert {evaluation.status for evaluation in result.evaluations} == {Status.SUCCESS}
    calls = len(list(marks.iterdir()))
    assert 24 < calls <= 26  # what it was at was begun again, and nothing else
    until(lambda: len(cluster.left()) == 2)
    seen(f"24 evaluations, {len(set(keys))} keys, {calls - 24} done again, no orphan")


@pytest.mark.faults
def test_what_a_lost_worker_was_doing_ends_as_lost(cluster, start, tmp_path, until):
    cluster.add()
    executor = start(hazards.Hazards(), cluster)
    executor.submit(Task(1, "hang", {"mark": str(tmp_path / "pid")}, keep=True))
    pid = int(
        until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text()).split()[0]
    )
    cluster.workers[0].kill()
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.LOST
    assert finished.message.endswith("was lost")
    assert finished.seconds > 0
    until(lambda: not is_alive(pid))
    executor.submit(Task(1, "echo", {}))
    assert list(executor.wait(1.0)) == []
    cluster.add()
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.SUCCESS


@pytest.mark.faults
def test_a_worker_that_stands_still_does_not_hold_up_the_end_of_a_budget(cluster, start):
    cluster.add()
    executor = start(hazards.Hazards(), cluster)
    executor._transport._setting = ExecutorSetting(deadline=time.monotonic() - 1.0)
    psutil.Process(cluster.workers[0].pid).suspend()
    begun = time.monotonic()
    executor.close()
    assert time.monotonic() - begun < crew.REPLY_SECONDS / 2


@pytest.mark.faults
def test_a_worker_that_starts_again_at_its_address_is_another_one(cluster, start, tmp_path, until):
    cluster.add("--worker-port", "0")
    executor = start(hazards.Hazards(), cluster)
    (place,) = executor._roster.places
    executor.submit(Task(1, "hang", {"mark": str(tmp_path / "pid")}))
    until((tmp_path / "pid").exists)
    cluster.workers[0].kill()
    cluster.workers[0].wait()
    cluster.add("--worker-port", place.name.rpartition(":")[2])
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.LOST
    executor.submit(Task(2, "echo", {}))
    (finished,) = executor.wait(PATIENCE)
    if finished.status is Status.LOST:  # it was back before anybody looked
        executor.submit(Task(2, "echo", {}))
        (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.SUCCESS
    assert [p.name for p in executor._roster.places] == [place.name]


@pytest.mark.fault(
    "F21e",
    injected="kill -9 of the Dask scheduler in mid-run",
    expected="one line of error at once, no hang, nothing left running",
)
def test_without_its_scheduler_a_run_ends_with_one_line(cluster, tmp_path, until, seen):
    cluster.add()

    def kill():
        until(lambda: len(list(tmp_path.iterdir())) >= 2)
        cluster.scheduler.kill()

    thread = threading.Thread(target=kill)
    thread.start()
    with pytest.raises(
        PluginError, match=r" failed: the Dask scheduler at tcp\S+ is gone\.$"
    ) as error:
        search(cluster, hazards.Slow(str(tmp_path), 0.2), 1000)
    thread.join()
    until(lambda: cluster.below() == [])
    seen(str(error.value).replace(cluster.address, "…"))


@pytest.mark.faults
def test_without_any_worker_a_run_ends_with_one_line(cluster, start):
    cluster.add()
    executor = start(hazards.Hazards(), cluster)
    executor._patience = 1.0
    cluster.workers[0].kill()
    with pytest.raises(AutomlAdmmError, match=r"has had no worker for \d+ s\. Start one: dask w"):
        try_for_ever(executor)


@pytest.mark.fault(
    "F20d",
    injected="kill -9 of the run, with an evaluation on a worker of the user's cluster",
    expected="the evaluation is killed and its files are removed; the worker goes on",
)
def test_a_killed_run_leaves_nothing_on_the_workers(cluster, tmp_path, until, seen):
    cluster.add()
    mark = tmp_path / "pid"
    with run_script(cluster.address, str(mark)) as script:
        pid = int(until(lambda: mark.exists() and mark.read_text()).split()[0])
        begun = time.monotonic()
        script.kill()
    until(lambda: not is_alive(pid))
    until(lambda: cluster.below() == [])
    until(lambda: cluster.files() == [])
    assert cluster.workers[0].poll() is None
    seen(f"nothing left after {time.monotonic() - begun:.0f} s")


@pytest.mark.faults
def test_a_killed_run_takes_its_own_cluster_with_it(tmp_path, until, marked):
    mark, sign = tmp_path / "pid", str(tmp_path)
    with run_script("", str(mark), DASK_TEST=sign) as script:
        until(lambda: mark.exists() and mark.read_text())
        assert len(marked("DASK_TEST", sign)) >= 4  # cluster, worker, server, evaluation
        script.kill()
    until(lambda: marked("DASK_TEST", sign) == [])


@pytest.mark.faults
def test_a_work_that_does_not_load_is_one_line(one_worker, start):
    executor = start(hazards.Unloadable(), one_worker)
    with pytest.raises(ConfigurationError, match="could not be loaded in a child process"):
        try_for_ever(executor)


@pytest.mark.faults
def test_a_worker_that_differs_is_named(one_worker, monkeypatch):
    found = "scikit-learn is 1.0 there and 1.9 here"
    monkeypatch.setattr(crew, "explain_difference", lambda *_: found)
    with pytest.raises(ConfigurationError, match=rf"^worker tcp\S+ cannot be used: {found}\. Inst"):
        build_dask(hazards.Hazards(), ExecutorSetting(), DaskOptions(one_worker.address))


@pytest.mark.faults
def test_a_worker_with_another_version_behind_the_run_is_named(cluster, tmp_path, monkeypatch):
    # A library of components is there in another version, as its metadata say.
    for version, place in (("1.0", tmp_path / "here"), ("2.0", tmp_path / "there")):
        (place / "own_trees.dist-info").mkdir(parents=True)
        said = f"Metadata-Version: 2.1\nName: own-trees\nVersion: {version}\n"
        (place / "own_trees.dist-info" / "METADATA").write_text(said)
    monkeypatch.syspath_prepend(tmp_path / "here")
    with monkeypatch.context() as elsewhere:
        paths = [str(tmp_path / "there"), os.environ.get("PYTHONPATH", "")]
        elsewhere.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        cluster.add()
    setting = ExecutorSetting(scratch=tmp_path, libraries=("own-trees",))
    with pytest.raises(ConfigurationError, match=r"own-trees is 2\.0 there and 1\.0 here\. Inst"):
        build_dask(hazards.Hazards(), setting, DaskOptions(cluster.address, PATIENCE))


def test_the_address_of_a_worker_is_one_line(one_worker, until):
    address = until(lambda: worker_address(one_worker))
    refuse(address, "there is a Worker, no Dask scheduler, at", 2)


def test_a_cluster_without_workers_is_one_line(cluster):
    refuse(cluster.address, "has had no worker for", 1)


def refuse(address, reason, code):
    """Demand one line for an address, and its exit code."""
    with pytest.raises(AutomlAdmmError, match=reason) as error:
        build_dask(hazards.Hazards(), ExecutorSetting(), DaskOptions(address, patience=1.0))
    assert error.value.exit_code == code


def worker_address(cluster):
    """Where the worker listens, by what it says."""
    lines = (cluster.folder / "log.txt").read_text().splitlines()
    listening = [line.split()[-1] for line in lines if "Listening to:" in line]
    return next(iter(listening), None)


def test_a_local_cluster_searches_and_leaves_nothing(tmp_path, monkeypatch, marked, until, capfd):
    monkeypatch.setenv("DASK_TEST", str(tmp_path))
    (tmp_path / "marks").mkdir()
    result = minimize(
        hazards.Slow(str(tmp_path / "marks"), 0.05),
        SPACE,
        max_evaluations=12,
        n_jobs=2,
        theta_solver="random",
        executor="dask",
        random_state=0,
    )
    assert len({evaluation.key for evaluation in result.evaluations}) == 12
    assert len(list((tmp_path / "marks").iterdir())) == 12
    until(lambda: marked("DASK_TEST", str(tmp_path)) == [])
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (
            "import time; time.sleep(600)",
            r"start: no scheduler within 0\.5 s\. Wait longer by the option patience=1 of",
        ),
        ("raise SystemExit('no room left')", r"start: no room left\.$"),
        ("import sys; sys.exit(7)", r"start: its process ended with code 7\.$"),
    ],
)
def test_a_local_cluster_that_does_not_start_says_why(program, says, tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "BOOT", program)
    if "sleep" in program:
        monkeypatch.setattr(clusters, "START_SECONDS", 0.1)
    setting = ExecutorSetting(1, None, tmp_path)
    with pytest.raises(AutomlAdmmError, match=says):
        build_dask(hazards.Hazards(), setting, DaskOptions(patience=0.5))
    assert list(tmp_path.iterdir()) == []


def run_command(capfd, *arguments):
    """What the command line ends with, prints, and says besides."""
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code, *capfd.readouterr()


def test_the_command_line_fits_on_a_cluster(one_worker, tmp_path, capfd):
    (tmp_path / "tiny.lark").write_text(GRAMMAR)
    rows = [f"{x / 50},{(x * 7) % 11},{int(x % 50 > 25)}" for x in range(100)]
    (tmp_path / "data.csv").write_text("\n".join(["a,b,c", *rows]))
    code, out, err = run_command(
        capfd,
        *("fit", tmp_path / "data.csv", "--target", "c", "--grammar", tmp_path / "tiny.lark"),
        *("--executor", f"dask:address={one_worker.address}", "--theta-solver", "random"),
        *("--max-evaluations", "3", "--cv", "0.25", "--out", tmp_path / "run", "--json"),
    )
    assert not code, err
    assert json.loads(out)
    assert (tmp_path / "run" / "model.skops").exists()
    assert "distributed" not in err


def test_the_command_line_says_what_is_wrong_with_an_address(tmp_path, capfd):
    executor = "dask:address=tcp://127.0.0.1:1"
    code, _, err = run_command(
        capfd, "fit", "--max-evaluations", "4", "--executor", executor, "--out", tmp_path / "run"
    )
    assert code == 2
    assert "there is no Dask scheduler to reach at 'tcp://127.0.0.1:1'" in err
    assert "Traceback" not in err
