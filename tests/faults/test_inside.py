"""A search in a thread, a daemon, a running loop, a worker of others, and without a file."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import inside
import pytest
from program import run_python

pytestmark = pytest.mark.timeout(400)

WELL = str((["success"] * 3, True))
WITHOUT_A_FILE = """
from automl_admm import Parameter, SearchSpace, minimize
shift = 0.3
space = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))
found = minimize(lambda values: (values["x"] - shift) ** 2, space, max_evaluations=3,
                 theta_solver="random", executor="local", n_jobs=2, random_state=0)
print(([evaluation.status.value for evaluation in found.evaluations], True))
"""


def python(*arguments: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        input=given,
        capture_output=True,
        text=True,
        timeout=350,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def place(function: str, injected: str, expected: str = "works, no signal handler changed"):
    mark = pytest.mark.fault("F30", injected=f"run inside {injected}", expected=expected)
    return pytest.param(function, id=function, marks=mark)


@pytest.mark.parametrize(
    "function",
    [
        place("in_a_thread", "a thread"),
        place("in_a_running_loop", "a running event loop, as Jupyter's"),
    ],
)
def test_a_search_works_anywhere_in_this_process(function, seen):
    assert str(getattr(inside, function)()) == WELL
    seen("3 evaluations, 3 a success")


@pytest.mark.parametrize(
    "function",
    [
        place("in_a_daemon", "a daemonic process", "works"),
        place("in_a_joblib_worker", "two joblib workers", "works"),
        place("in_a_dask_worker", "a dask worker", "works"),
    ],
)
def test_a_search_works_in_processes_of_others(function, seen):
    if "dask" in function and importlib.util.find_spec("distributed") is None:
        pytest.skip("distributed is not installed")
    done = run_python("-c", f"import inside; print(inside.{function}())", timeout=350)
    assert (done.returncode, done.stdout.strip()) == (0, WELL), done.stderr
    seen("3 evaluations, 3 a success")


@pytest.mark.fault("F30", injected="python -c, an objective without a file", expected="works")
@pytest.mark.fault("F30", injected="a program on stdin", expected="works")
def test_a_search_works_without_a_file(seen):
    assert python("-c", WITHOUT_A_FILE) == WELL
    assert python("-", given=WITHOUT_A_FILE) == WELL
    seen("3 evaluations, 3 a success")


@pytest.mark.fault("F30", injected="run inside pytest", expected="works")
def test_a_search_works_inside_pytest(seen):
    assert str(inside.search()) == WELL
    seen("3 evaluations, 3 a success")
