"""The executor on a Ray that is there already, and what is left when something dies."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import ray
from automl_admm_ray import RayOptions, build_ray
from automl_admm_ray.connection import CONNECTION
from automl_admm_ray.own_folders import make_folder
from ray._private.utils import publish_error_to_driver

from automl_admm.plugin_api import ConfigurationError, ExecutorSetting, Status, Task
from automl_admm.testing.hazards import Hazards
from automl_admm.testing.searches import load_plugins

PATIENCE = 200.0
SCRIPT = """
import sys
from automl_admm.plugin_api import ExecutorSetting, Task
from automl_admm_ray import RayOptions, build_ray
from automl_admm.testing.hazards import Hazards
executor = build_ray(Hazards(), ExecutorSetting(), RayOptions(patience=200.0))
executor.submit(Task(1, "hang", {"mark": sys.argv[1]}))
executor.wait()
"""


def until(condition):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)
    return found


def find_marked(value):
    """The processes with a variable of ours in their environment, but this one."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("RAY_TEST") == value and process.pid != os.getpid():
                found.append(process)
        except psutil.Error:
            continue
    return found


def have_ended(value):
    """Wait for the ends of the marked processes: each look for them asks all there are."""
    psutil.wait_procs(find_marked(value), timeout=1.0)
    return find_marked(value) == []


def is_dead(pid):
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.fixture(scope="module")
def of_the_user():
    """A Ray that belongs to the program; ours is only its start, which is tried again."""
    with CONNECTION.to(None, 1, 0):
        yield


@pytest.fixture
def executor(of_the_user, tmp_path):
    setting = ExecutorSetting(1, None, tmp_path)  # so no other actor can take a task
    made = build_ray(Hazards(), setting, RayOptions(patience=PATIENCE))
    yield made
    made.close()


def hang(executor, mark):
    executor.submit(Task(1, "hang", {"mark": str(mark)}))
    until(mark.exists)
    pid, parent = map(int, mark.read_text().split())
    return pid, psutil.Process(parent).ppid()


def test_it_is_a_plugin():
    assert "ray" in [record.name for record in load_plugins().executors]


@pytest.mark.faults
def test_a_lost_actor_costs_its_tasks_and_is_replaced(executor, tmp_path):
    pid, actor = hang(executor, tmp_path / "mark")
    psutil.Process(actor).kill()
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.LOST
    assert finished.message.endswith("was lost")
    until(lambda: is_dead(pid))
    executor.submit(Task(2, "echo", {}, PATIENCE))
    (finished,) = executor.wait(PATIENCE)
    assert finished.status is Status.SUCCESS


def test_a_ray_that_was_there_stays(executor, tmp_path):
    pid, actor = hang(executor, tmp_path / "mark")
    executor.close()
    until(lambda: is_dead(pid) and is_dead(actor))
    assert ray.is_initialized()


def test_a_program_uses_one_ray_at_a_time(of_the_user):
    with pytest.raises(ConfigurationError, match="uses another Ray"):
        build_ray(Hazards(), ExecutorSetting(), RayOptions(address="10.0.0.5:6379"))


def test_errors_of_a_cluster_are_not_printed(of_the_user, capsys):
    """Its next error comes when one before would have been printed."""
    worker = ray._private.worker.global_worker
    heard = ray._raylet.GcsErrorSubscriber(address=worker.gcs_client.address)
    heard.subscribe()
    for error in ("Raylet is terminated.", "It was.", "And again."):
        publish_error_to_driver("raylet_died", error, gcs_client=worker.gcs_client)
        until(lambda error=error: heard.poll(1.0)[1]["error_message"] == error)
    heard.close()
    assert capsys.readouterr() == ("", "")


@pytest.mark.faults
def test_a_killed_run_takes_its_own_ray_with_it(tmp_path):
    mark, sign = tmp_path / "mark", str(tmp_path)
    with (tmp_path / "log").open("wb") as log:
        script = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(mark)],
            env=os.environ | {"RAY_TEST": sign},
            stdout=log,
            stderr=log,
        )
    until(lambda: mark.exists() or script.poll() is not None)
    assert len(find_marked(sign)) >= 4, (tmp_path / "log").read_text()
    script.kill()
    script.wait()
    until(lambda: have_ended(sign))
    assert (tmp_path / "log").read_text() == ""


def test_the_example_of_the_readme_runs_and_leaves_nothing(tmp_path):
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    (tmp_path / "example.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", "example.py"],
        cwd=tmp_path,
        env=os.environ | {"RAY_TEST": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.startswith("8 evaluations, best 0.")
    assert find_marked(str(tmp_path)) == []
    assert [path.name for path in tmp_path.iterdir()] == ["example.py"]


def test_folders_of_dead_processes_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    dead, other = tmp_path / f"kind-{process.pid}-abc", tmp_path / "kind-of-mine"
    for folder in (dead, other):
        folder.mkdir()
        (folder / "file").touch()
    made = make_folder("kind")
    again = make_folder("kind")
    assert not dead.exists()
    assert other.exists()
    assert made.is_dir()
    assert again.is_dir()


@pytest.mark.parametrize(
    ("options", "reason"),
    [({"address": ""}, "empty"), ({"cpus": 0}, "cpus"), ({"patience": float("nan")}, "patience")],
)
def test_options_are_checked(options, reason):
    with pytest.raises(ValueError, match=reason):
        RayOptions(**options)
