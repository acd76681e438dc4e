"""Observers that hang: they are named and left, and the run goes on."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(400)

# How much busier than when its pace was measured the machine may be.
BUSIER = 10

HANGS = """
import os, pathlib, threading
from automl_admm import hookimpl

@hookimpl
def {hook}():
    with pathlib.Path(os.environ["UNRULY_NOTES"], "called").open("a") as file:
        file.write("called\\n")
    threading.Event().wait()
"""


@pytest.fixture
def hanging(install_plugin: Any, begin: Any, tmp_path: Path) -> Any:
    """Begin a run beside a plugin with a hook that never comes back."""

    def call(hook: str, *options: str) -> Any:
        install_plugin(tmp_path, "sleeper", HANGS.format(hook=hook))
        names = {"PYTHONPATH": f"{tmp_path}", "XDG_CACHE_HOME": str(tmp_path / "cache")}
        return begin(tmp_path, ("gaussian_nb", "decision_tree"), *options, environment=names)

    return call


@pytest.mark.parametrize("hook", ["evaluation_finished", "should_stop"])
@pytest.mark.fault(
    "F76",
    injected="an observer, or a should_stop, that never comes back",
    expected="it is named and dropped, the run goes on within its budget",
)
def test_the_run_goes_on_without_it(
    hanging: Any, pace: float, tmp_path: Path, hook: str, seen: Any
) -> None:
    budget = max(16.0, 4 * pace)
    ended = hanging(hook, "--budget", f"{budget}s").end()
    assert ended.code == 0, ended.err
    line = f"observer 'sleeper' is dropped for this run: it did not come back from {hook} within"
    assert ended.err.count(line) == 1
    assert (tmp_path / "called").read_text() == "called\n"
    assert len(ended.rows) == 2
    assert ended.seconds < 1.5 * budget + BUSIER * pace
    seen(
        f"named, called once; 2 evaluations and exit 0 after {ended.seconds:.0f} s of {budget:.0f}"
    )


@pytest.mark.fault(
    "F76",
    injected="SIGTERM while an observer hangs in a run without a budget",
    expected="the run ends, with exit code 143",
)
def test_a_signal_ends_the_run_all_the_same(hanging: Any, tmp_path: Path, seen: Any) -> None:
    run = hanging("evaluation_finished")
    deadline = time.monotonic() + 200
    while not (tmp_path / "called").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    begun = time.monotonic()
    run.process.send_signal(signal.SIGTERM)
    ended = run.end()
    took = time.monotonic() - begun
    assert ended.code == 143, ended.err
    assert took < 60.0, "without a signal it would have been waited for two minutes"
    seen(f"exit 143 after {took:.1f} s")
