"""Hold an installed solver to its contract: `python -m automl_admm.testing.check --help`.

The command line starts this in a process of its own, with a folder to work in, and reads the
outcome of each promise there as JSON. So people who only use solvers do not need pytest.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

import pytest

from automl_admm.plugins.plugin_options import split_request
from automl_admm.testing import WITH_PROMISES

RESULTS = "promises.json"
# A hanging promise must not hang the report on the others.
SECONDS_A_PROMISE = 300
# A file, because pytest collects tests from files only.
MODULE = """\
from automl_admm.plugins.loading import load_plugins
from automl_admm.runs.prepare.assembly import build_solver
from automl_admm.testing.contracts import ThetaSolverContract, ZSolverContract

# Once and outside of the promises: what is wrong with other plugins is not this solver's fault.
PLUGINS = load_plugins()


class TestSolver({contract}):
    learns = {learns}
    view = getattr(PLUGINS.{registry}.get({name!r}), "joint", None)

    def make(self):
        return build_solver(PLUGINS.{registry}, {request!r})
"""
SUITES = {
    "theta": ("ThetaSolverContract", "theta_solvers"),
    "z": ("ZSolverContract", "z_solvers"),
}


@dataclass(frozen=True, slots=True)
class Promise:
    """The outcome of one promise; `why` is the first line of the failure."""

    kind: str
    name: str
    kept: bool
    why: str = ""


class Recorder:
    """A pytest plugin that records the outcome of every promise, and stops a hanging one."""

    def __init__(self) -> None:
        self.promises: list[Promise] = []

    def pytest_configure(self) -> None:
        """Let pytest explain failed promises, because this package was imported before it."""
        pytest.register_assert_rewrite(*WITH_PROMISES)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Interrupt a test that never ends; fail one interrupted by its solver."""
        del item
        # An alarm rather than a thread: it raises inside the hanging call.
        before = signal.signal(signal.SIGALRM, _give_up)
        signal.alarm(SECONDS_A_PROMISE)
        try:
            return (yield)
        except KeyboardInterrupt:
            raise RuntimeError("it raised KeyboardInterrupt") from None
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, before)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a test."""
        # Setting up and tearing down count only if they fail.
        if report.when != "call" and not report.failed:
            return
        kind = Path(report.location[0]).stem.removeprefix("test_")
        name = report.location[2].rpartition(".test_")[2].replace("_", " ")
        self.promises.append(Promise(kind, name, report.passed, _first_line(report)))


def _give_up(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError(f"no end after {SECONDS_A_PROMISE} s")


def _first_line(report: pytest.TestReport) -> str:
    if report.passed:
        return ""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = report.longreprtext if crash is None else str(crash.message)
    return text.strip().splitlines()[0].removeprefix("AssertionError: ")


def check(request: str, kinds: Sequence[str], folder: Path, *, learns: bool) -> bool:
    """Run the suites of these kinds; return True if every promise was kept."""
    modules = []
    for kind in kinds:
        contract, registry = SUITES[kind]
        text = MODULE.format(
            contract=contract,
            registry=registry,
            name=split_request(request)[0],
            learns=learns,
            request=request,
        )
        modules.append(folder / f"test_{kind}.py")
        modules[-1].write_text(text, encoding="utf-8")
    settings = folder / "pytest.ini"
    settings.write_text("[pytest]\n", encoding="utf-8")
    recorder = Recorder()
    # No cache and no settings of the user's project: the folder is all there is.
    options = ["-q", "-p", "no:cacheprovider", "-c", str(settings), "--rootdir", str(folder)]
    code = pytest.main([*options, "--import-mode=importlib", *map(str, modules)], [recorder])
    content = json.dumps([asdict(promise) for promise in recorder.promises])
    (folder / RESULTS).write_text(content, encoding="utf-8")
    return code == pytest.ExitCode.OK


def main(arguments: Sequence[str] | None = None) -> int:
    """Check a solver from the command line; the exit code is 0 if every promise was kept."""
    parser = argparse.ArgumentParser(description="Hold an installed solver to its contract.")
    parser.add_argument("request", help="NAME or NAME:key=value,…")
    parser.add_argument("folder", type=Path, help="an empty folder to work in")
    parser.add_argument("kinds", nargs="+", choices=sorted(SUITES))
    parser.add_argument("--no-progress", action="store_true", help="it is not meant to learn")
    given = parser.parse_args(arguments)
    is_well = check(given.request, given.kinds, given.folder, learns=not given.no_progress)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
