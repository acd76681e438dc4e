"""Hold installed plugins to their contracts: `python -m automl_admm.testing.check --help`.

The command line starts this in a process of its own, with a folder to work in, and reads the
outcome of each promise there as JSON. It needs nothing but this package: people who only use a
plugin may have no pytest.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import SkipTest

from automl_admm.core.messages import say_error
from automl_admm.testing.subjects import Subject, title_of

RESULTS = "promises.json"
KEPT, BROKEN, NOT_ASKED = "kept", "broken", "not asked"
# A hanging promise must not hang the report on the others.
SECONDS_A_PROMISE = 300
# A file, because some promises are asked again in another process, which imports it.
MODULE = """\
from automl_admm.testing.contracts import {contract}
from automl_admm.testing.subjects import Subject, make_subject, view_of

SUBJECT = {subject!r}


class TestSubject({contract}):
    learns = {learns}
{methods}"""
MAKE = """
    view = view_of(SUBJECT)

    def make(self):
        return make_subject(SUBJECT)
"""
START = """
    def make(self, work, setting):
        return make_subject(SUBJECT)(work, setting)
"""
SEARCH = """
    def search(self, problem, solvers):
        return make_subject(SUBJECT)(problem, solvers)
"""


@dataclass(frozen=True, slots=True)
class Promise:
    """The outcome of one promise; `why` is the first line of the failure, or what it is not for."""

    kind: str
    name: str
    promise: str
    state: str
    why: str = ""


def promises_of(contract: type) -> list[str]:
    """Return the names of the tests of a contract, in the order of writing, its bases' first."""
    found: dict[str, None] = {}
    for base in reversed(contract.__mro__):
        found |= dict.fromkeys(name for name in vars(base) if name.startswith("test_"))
    return list(found)


def ask(contract: type, name: str) -> tuple[str, str]:
    """Run one test of a contract and return its state, and the reason unless it was kept."""
    try:
        with_alarm(partial(_asked, contract(), name))
    except SkipTest as reason:
        return NOT_ASKED, str(reason)
    except AssertionError as broken:
        return BROKEN, _first_line(broken, getattr(contract, name).__doc__)
    except KeyboardInterrupt:
        return BROKEN, "it raised KeyboardInterrupt"
    except BaseException as broken:  # noqa: BLE001 - a plugin is anybody's code
        return BROKEN, say_error(broken)
    return KEPT, ""


def _asked(contract: object, name: str) -> None:
    """Run a test of a contract, and what the contract wants to do after each."""
    try:
        getattr(contract, name)()
    finally:
        _prepared(contract, "teardown_method")


def _prepared(contract: object, method: str) -> None:
    """Call a method of a contract that pytest would call, if there is one."""
    getattr(contract, method, _nothing)()


def _nothing() -> None:
    return None


def with_alarm(test: Callable[[], object]) -> None:
    """Run a test, and interrupt it if it never ends."""
    # An alarm rather than a thread: it raises inside the hanging call.
    before = signal.signal(signal.SIGALRM, _give_up)
    signal.alarm(SECONDS_A_PROMISE)
    try:
        test()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _give_up(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TimeoutError(f"no end after {SECONDS_A_PROMISE} s")


def _first_line(broken: AssertionError, promise: str | None) -> str:
    """Return what an assertion says; else the promise and its code, which pytest would explain."""
    said = str(broken).strip()
    if said:
        return said.splitlines()[0]
    code = traceback.extract_tb(broken.__traceback__)[-1].line or "an assertion"
    asked = (promise or "").strip().partition("\n")[0]
    return f"the promise is: {asked} Not true: {code.removeprefix('assert ')}".strip()


def check(subjects: Sequence[Subject], folder: Path, *, learns: bool) -> list[Promise]:
    """Ask every promise of these subjects."""
    return [
        promise
        for place, subject in enumerate(subjects)
        for promise in _of_subject(subject, folder / f"test_{place}.py", learns=learns)
    ]


def _of_subject(subject: Subject, path: Path, *, learns: bool) -> Iterator[Promise]:
    kind, name = title_of(subject)
    methods = {"strategies": SEARCH, "executors": START}.get(subject.hook, MAKE)
    text = MODULE.format(contract=subject.contract, subject=subject, learns=learns, methods=methods)
    path.write_text(text, encoding="utf-8")
    suite = _imported(path).TestSubject
    _prepared(suite, "setup_class")
    for test in promises_of(suite):
        # Observers write files into the working folder, and here is no run worth one.
        with chdir(path.parent) if subject.hook == "observers" else nullcontext():
            state, why = ask(suite, test)
        yield Promise(kind, name, test.removeprefix("test_").replace("_", " "), state, why)
    _prepared(suite, "teardown_class")


def _imported(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"automl_admm_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # noqa: PT018 - it is a Python file
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main(arguments: Sequence[str] | None = None) -> int:
    """Check plugins from the command line; the exit code is 0 if every promise was kept."""
    parser = argparse.ArgumentParser(description="Hold installed plugins to their contracts.")
    parser.add_argument("folder", type=Path, help="an empty folder to work in")
    parser.add_argument("subjects", nargs="+", help="HOOK=NAME or HOOK=NAME:key=value,…")
    parser.add_argument("--no-progress", action="store_true", help="a solver is not meant to learn")
    given = parser.parse_args(arguments)
    if not __debug__:
        parser.error("with -O nothing is asserted: leave it out")
    subjects = [Subject(*text.split("=", 1)) for text in given.subjects]
    promises = check(subjects, given.folder, learns=not given.no_progress)
    content = json.dumps([asdict(promise) for promise in promises])
    (given.folder / RESULTS).write_text(content, encoding="utf-8")
    return int(any(promise.state == BROKEN for promise in promises))


if __name__ == "__main__":
    sys.exit(main())
