"""Real runs of the program on a plugin whose components do what none should."""

from __future__ import annotations

import os
import py_compile
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
import unruly
from program import command, start_program
from running_tasks import RunningTask, find_below, find_tasks

from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.runs.driving.dispatch import TaskKind
from automl_admm.store.sqlite.log import SqliteStore

HEALTHY = ("decision_tree", "gaussian_nb")

WATCHER_SECONDS = 30.0


@dataclass
class Ended:
    """A run of the program, and what was to be seen of it from outside."""

    code: int
    out: str
    err: str
    seconds: float
    grown_mb: float
    left: list[int]
    rows: dict[str, Evaluation] = field(default_factory=dict)


@dataclass
class Running:
    """A run of the program that goes on; `below` are all processes that were seen below it."""

    process: subprocess.Popen[str]
    out: Path
    begun: float
    below: set[psutil.Process] = field(default_factory=set)

    def server(self, name: str) -> psutil.Process:
        """The fork server, when it evaluates the component of this name."""
        return self.evaluating(name).parent()

    def evaluating(self, name: str = "") -> psutil.Process:
        """The process that evaluates a component, as soon as there is one."""
        return self._doing(lambda task: task.evaluates(name))

    def fitting_the_last(self) -> psutil.Process:
        """The process of a final fit, as soon as there is one."""
        return self._doing(lambda task: task.kind is TaskKind.REFIT)

    def _doing(self, is_meant: Callable[[RunningTask], bool]) -> psutil.Process:
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline and self.process.poll() is None:
            for task in find_tasks(self.process.pid):
                if is_meant(task):
                    return task.process
            time.sleep(0.005)
        raise AssertionError(f"there is no such task: {self.process.communicate()}")

    def wait_for_rows(self, count: int) -> None:
        """Wait until so many evaluations are in the log."""
        deadline = time.monotonic() + 200
        while time.monotonic() < deadline and self.process.poll() is None:
            if len(self._rows_so_far()) >= count:
                return
            time.sleep(0.02)
        raise AssertionError(f"fewer than {count} rows: {self.process.communicate()}")

    def _rows_so_far(self) -> dict[str, Evaluation]:
        try:
            return rows_of(self.out)
        except StoreError:  # it is just being made
            return {}

    def end(self, timeout: float = 350.0) -> Ended:
        """Wait for the end, noting all processes below it and how its memory grows."""
        process = psutil.Process(self.process.pid)
        base = most = 0
        while self.process.poll() is None and time.monotonic() < self.begun + timeout:
            try:
                self.below.update(find_below(self.process.pid))
                resident = process.memory_info().rss
            except psutil.Error:
                break
            if not base and any(self.out.glob(".scratch-*/task-1")):
                base = resident
            most = max(most, resident)
            time.sleep(0.05)
        out, err = self.process.communicate(timeout=10)
        seconds = time.monotonic() - self.begun
        # The watcher over orphans ends a moment after what it watches, later on a busy machine.
        until = time.monotonic() + WATCHER_SECONDS
        while any(map(lives, self.below)) and time.monotonic() < until:
            time.sleep(0.05)
        left = [one.pid for one in self.below if lives(one)]
        grown = (most - base) / 1e6 if base else 0.0
        rows = rows_of(self.out)
        return Ended(self.process.returncode, out, err, seconds, grown, left, rows)


Begin = Callable[..., Running]
Fit = Callable[..., Ended]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the plugin is installed, and nothing else.

    It is compiled: a run that may write no file would leave half of its byte code to all others.
    """
    folder = tmp_path_factory.mktemp("site")
    install(folder, "unruly", Path(unruly.__file__).read_text(encoding="utf-8"))
    py_compile.compile(str(folder / "unruly.py"), doraise=True)
    return folder


@pytest.fixture(scope="session")
def install_plugin() -> Callable[..., None]:
    """The function below, for tests."""
    return install


def install(folder: Path, name: str, source: str, version: str = "1.0") -> None:
    """Lay a distribution with one plugin, a module of its name, into a folder."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    about = folder / f"{name}-{version}.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (about / "entry_points.txt").write_text(f"[automl_admm]\n{name} = {name}\n")


@pytest.fixture(scope="session")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small table of numbers with a target of two classes."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    frame["buys"] = np.where(frame["a"] + rng.normal(size=120) > 0, "yes", "no")
    path = tmp_path_factory.mktemp("data") / "people.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def begin(site: Path, table: Path) -> Iterator[Begin]:
    """Start `automl-admm fit` on a grammar of these components; they are tried in this order."""
    started: list[subprocess.Popen[str]] = []

    def call(
        folder: Path,
        components: Iterable[str] = HEALTHY,
        *options: str,
        out: str = "out",
        environment: Mapping[str, str | None] | None = None,
        **more: Any,
    ) -> Running:
        names = list(components)
        (folder / "grammar.lark").write_text(grammar_of(names))
        (folder / "starts.txt").write_text("".join(f"{name}()\n" for name in names))
        (folder / "people.csv").write_bytes(table.read_bytes())
        arguments = [
            *("fit", "people.csv", "--target", "buys", "--metric", "accuracy", "--cv", "0.25"),
            *("--grammar", "grammar.lark", "--start", "starts.txt", "--theta-solver", "random"),
            *("--max-evaluations", str(len(names)), "--out", out, "-q", *options),
        ]
        run = start(arguments, folder, environment_of(site, folder, environment or {}), **more)
        begun = time.monotonic()
        started.append(run)
        return Running(run, folder / out, begun)

    yield call
    for run in started:
        if run.poll() is None:  # its test has failed
            run.kill()
            run.communicate()


@pytest.fixture(scope="session")
def fit(begin: Begin) -> Fit:
    """The same, from its start to its end."""

    def call(*arguments: Any, **options: Any) -> Ended:
        return begin(*arguments, **options).end()

    return call


@pytest.fixture(scope="session")
def pace(fit: Fit, tmp_path_factory: pytest.TempPathFactory) -> float:
    """Seconds that a small healthy run takes on this machine, with all its imports."""
    ended = fit(tmp_path_factory.mktemp("pace"), ("gaussian_nb",), new_interpreter=True)
    assert ended.code == 0, ended.err
    return ended.seconds


def grammar_of(names: Iterable[str]) -> str:
    """A grammar of pipelines of one step."""
    listed = list(names)
    return (
        f"%import components ({', '.join(listed)})\n\n"
        f"start: estimator\nestimator: {' | '.join(listed)}\n"
    )


def environment_of(site: Path, folder: Path, changes: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of a run with the plugin installed; what is None is left out."""
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    cache = str(site / "cache")
    own = {"PYTHONPATH": path, "XDG_CACHE_HOME": cache, "UNRULY_NOTES": str(folder)}
    return {k: v for k, v in (os.environ | own | changes).items() if v is not None}


def start(
    arguments: Iterable[str],
    folder: Path,
    environment: Mapping[str, str],
    prefix: Sequence[str] = (),
    **more: Any,
) -> subprocess.Popen[str]:
    """Start the program in a folder, perhaps by another program."""
    more |= {"cwd": folder, "env": environment, "text": True}
    more |= {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    if not prefix:
        return start_program(*arguments, **more)
    return subprocess.Popen([*prefix, *command(*arguments)], **more)


def lives(process: psutil.Process) -> bool:
    """Whether it is there, and no zombie that nobody buries."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def rows_of(folder: Path) -> dict[str, Evaluation]:
    """What the run logged, by the name of the component."""
    path = folder / "store.sqlite"
    if not path.is_file():
        return {}
    store = SqliteStore(path)
    try:
        return {row.text.partition("(")[0]: row for row in store.read()}
    finally:
        store.close()
