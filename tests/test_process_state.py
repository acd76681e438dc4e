"""The library leaves the process that calls it alone: streams, signals, folder, random state."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from program import start

from automl_admm.execution.shared_state import OneAtATime, SharedSetting, unheard_warnings

pytestmark = pytest.mark.timeout(400)  # many imports, on a machine that may be busy

PRINTS = """
import time
from automl_admm import ConstraintPlugin, hookimpl

@hookimpl
def constraints():
    print("welcome")
    time.sleep(0.002)
    return [ConstraintPlugin(name="steps", summary="one", function=lambda evaluated: 1.0)]
"""
# Whoever runs the tests in the background has SIGINT ignored, and so would the child.
FIT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from sklearn.datasets import load_iris
from automl_admm import AutoMLClassifier

class Watcher:
    def evaluation_finished(self, evaluation):
        print("evaluated", flush=True)

X, y = load_iris(return_X_y=True)
search = AutoMLClassifier("tiny", time_budget=300, callbacks=[Watcher()])
search.fit(X, y)
print("ended by", search.stopped_by_, search.predict(X[:1]).shape, flush=True)
"""


def chatty(folder: Path) -> dict[str, str]:
    """The environment of a program that finds a plugin which prints."""
    (folder / "chatty.py").write_text(PRINTS)
    about = folder / "chatty-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: chatty\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[automl_admm]\nchatty = chatty\n")
    path = os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])
    return os.environ | {"PYTHONPATH": path, "AUTOML_ADMM_PLUGINS": "chatty"}


@pytest.mark.fault(
    "F75",
    injected="fits, minimize, plugins that print and grammars in eight threads at once",
    expected="streams, signals, folder, warnings, environment and random state as before",
)
def test_eight_threads_leave_the_process_as_it_was(
    tmp_path: Path, seen: Callable[[str], None]
) -> None:
    program = [sys.executable, "-m", "process_state", str(tmp_path / "found.json")]
    env = chatty(tmp_path)
    del env["OPENBLAS_NUM_THREADS"]  # its number of threads is one of the things that must stay
    done = subprocess.run(program, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["problems"] == []
    assert min(found["heard"]) >= 4
    assert (found["alone"], found["meanwhile"], found["together"]) == ([], [], [])
    seen("nothing changed, neither meanwhile nor afterwards")


@pytest.mark.fault(
    "F75",
    injected="Ctrl-C in a fit from Python, which sets no handler of signals",
    expected="it ends well: the best so far is fitted and returned",
)
def test_ctrl_c_ends_a_fit_from_python_well(tmp_path: Path, seen: Callable[[str], None]) -> None:
    env = os.environ | {"AUTOML_ADMM_PLUGINS": ""}
    options = {"env": env, "stdout": subprocess.PIPE, "text": True, "cwd": tmp_path}
    with start([sys.executable, "-c", FIT], {}, False, options) as child:
        assert child.stdout is not None
        said = [child.stdout.readline() for _ in range(2)]
        assert said == ["evaluated\n"] * 2
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=300)
    assert child.returncode == 0
    assert rest.splitlines()[-1] == "ended by interrupt (1,)"
    seen(rest.splitlines()[-1])


def test_the_last_thread_that_leaves_undoes_what_the_first_has_set() -> None:
    before = list(warnings.filters)
    inside, leave = threading.Event(), threading.Event()

    def stay() -> None:
        with unheard_warnings():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=stay)
    with unheard_warnings():
        thread.start()
        inside.wait()
    assert list(warnings.filters) != before
    leave.set()
    thread.join()
    assert list(warnings.filters) == before


def test_a_state_that_cannot_be_set_is_nobodys() -> None:
    together = SharedSetting()

    def fail() -> SharedSetting:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError), together.within(fail):  # type: ignore[arg-type]
        pass
    with together.within(unheard_warnings):
        pass


def test_a_thread_that_comes_second_does_not_touch_what_the_first_undoes() -> None:
    alone, entered = OneAtATime(), []

    @contextmanager
    def setting() -> Iterator[None]:
        entered.append("set")
        yield
        entered.append("undone")

    with alone.within(setting):
        with alone.within(setting):
            assert entered == ["set"]
        assert entered == ["set"]
    with alone.within(setting):
        pass
    assert entered == ["set", "undone"] * 2
