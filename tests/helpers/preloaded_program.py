"""A process that has imported the program, and becomes it in a fork for each order.

Imports take seconds of the processor, many times what most tests need of a program. This process
imports once, listens on its one socket, and forks. The fork unwinds to the end of this file and
runs the program as `python -m automl_admm` does. Where the program starts an interpreter for a code
of its own, to look at plugins apart, that is a fork as well.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import gc
import importlib
import io
import json
import os
import pkgutil
import resource
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import types
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NoReturn, TextIO

import numpy as np
import pandas as pd

PROGRAM = "automl_admm"
# The parts of libraries that the shortest search and the shortest prediction import late; skops,
# which the program imports without dask, comes with the rehearsal.
MODULES = (
    *("cloudpickle", "pandas", "threadpoolctl"),
    *("sklearn.calibration", "sklearn.compose", "sklearn.dummy", "sklearn.ensemble"),
    *("sklearn.feature_selection", "sklearn.impute", "sklearn.linear_model", "sklearn.metrics"),
    *("sklearn.model_selection", "sklearn.naive_bayes", "sklearn.neighbors", "sklearn.pipeline"),
    *("sklearn.preprocessing", "sklearn.tree"),
)
MESSAGE = 1_000_000
STREAMS = 3
HIGHEST = 65_536
MADV_COLLAPSE = 25  # of Linux 6.1; earlier ones answer with an error


@dataclass(frozen=True)
class Order:
    """One start of Python, and its descriptors: three streams and the pipe for answers.

    The arguments are those of an interpreter: `-m MODULE …`, `-c CODE …` or `SCRIPT …`.
    """

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    umask: int
    apart: bool
    limits: list[tuple[int, int]]
    descriptors: list[int]
    imported: Sequence[str] = ()  # before the fork, and so for all later ones as well
    is_safe: bool = False  # by -P: the first place for modules is left out


def main() -> None:
    """Import the program, and become it; only a fork comes to the end."""
    control, root = int(sys.argv[1]), sys.argv[2]
    own_path = sys.path[1:]  # without the folder of this file
    # The package of the tests, and none that is installed beside it.
    sys.path[0] = root
    import_program()
    order = serve(control)
    become(order, own_path)


def import_program() -> None:
    """Import every module of the program, what these import late, and the installed plugins."""
    gc.disable()
    package = importlib.import_module(PROGRAM)
    for module in pkgutil.walk_packages(package.__path__, f"{PROGRAM}."):
        if not module.name.startswith((f"{PROGRAM}.testing", f"{PROGRAM}.__main__")):
            with contextlib.suppress(ImportError):  # of a library that is not installed here
                importlib.import_module(module.name)
    for name in MODULES:
        importlib.import_module(name)
    rehearse()
    forget_places()
    gc.freeze()
    join_pages()


def forget_places() -> None:
    """Forget the folders of modules, as each fork would, page by page of its memory."""
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()


def join_pages() -> None:
    """Join the pages of memory into large ones: a fork copies and drops fewer entries."""
    madvise = ctypes.CDLL(None).madvise
    for line in Path("/proc/self/maps").read_text("utf-8").splitlines():
        place, rights, _, _, file, *_ = line.split()
        if rights == "rw-p" and file == "0":
            begin, end = (int(part, 16) for part in place.split("-"))
            madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin), MADV_COLLAPSE)


def rehearse() -> None:
    """Search, load and predict: all that is found out once in a process is then known to forks."""
    package = importlib.import_module(PROGRAM)
    rows = pd.DataFrame({"a": np.arange(40.0), "b": [*"uvwx"] * 10, "c": [*"uuvv"] * 10})
    few = {"cv": 2, "max_evaluations": 1, "executor": "inline", "random_state": 0}
    kept = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        package.AutoMLClassifier("tiny", work_dir=f"{folder}/run", **few).fit(rows, [0, 1] * 20)
        package.load(f"{folder}/run").predict(rows)
    os.environ.clear()
    os.environ.update(kept)


def forget_installed() -> None:
    """Forget the installed distributions: a test has installed others."""
    for item in vars(importlib.import_module(f"{PROGRAM}.plugins.distributions")).values():
        if hasattr(item, "cache_clear"):
            item.cache_clear()


def serve(control: int) -> Order:
    """Answer orders until nobody can send any more; return only in a fork, with its order."""
    # Ctrl-C is for the tests and for what they run.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The memory of Arrow has a thread of its own, which knows forks.
    assert threading.active_count() == 1, "a fork is only safe with one thread"
    watched: dict[int, tuple[int, int]] = {}
    poll = select.poll()
    poll.register(control, select.POLLIN)
    while True:
        for ready, _ in poll.poll():
            if ready in watched:
                poll.unregister(ready)
                answer_end(ready, *watched.pop(ready))
            elif (order := receive(control)) is None:
                os._exit(0)
            elif (pid := fork_for(order)) == 0:
                return order
            else:
                watch = os.pidfd_open(pid)
                watched[watch] = (pid, keep_answer(order, pid))
                poll.register(watch, select.POLLIN)


def receive(control: int) -> Order | None:
    """Receive an order; None if there will be no more."""
    # Made anew, and let go of: an object that lived on in a fork would close what is not its own.
    connection = socket.socket(fileno=control)
    try:
        text, descriptors, _, _ = socket.recv_fds(connection, MESSAGE, STREAMS + 1)
    finally:
        connection.detach()
    if not text:
        return None
    content: dict[str, Any] = json.loads(text)
    return Order(descriptors=list(descriptors), **content)


def fork_for(order: Order) -> int:
    """Fork, with the modules that the order wants to find imported."""
    for name in order.imported:
        importlib.import_module(name)
    assert threading.active_count() == 1, "a fork is only safe with one thread"
    return os.fork()


def keep_answer(order: Order, pid: int) -> int:
    """Tell the number of a process, close its streams, and return the pipe for its end."""
    *streams, answer = order.descriptors
    for stream in streams:
        os.close(stream)
    os.write(answer, pid.to_bytes(4, "little"))
    return answer


def answer_end(watch: int, pid: int, answer: int) -> None:
    """Bury a process and tell how it ended."""
    os.close(watch)
    _, status = os.waitpid(pid, 0)
    with contextlib.suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(answer, status.to_bytes(4, "little"))
    os.close(answer)


def become(order: Order, own_path: list[str]) -> None:
    """Make a fork what a new interpreter would be, and run the program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order.apart:
        os.setsid()
    os.chdir(order.folder)
    if order.umask >= 0:
        os.umask(order.umask)
    take_streams(order.descriptors)
    for kind, most in order.limits:
        resource.setrlimit(kind, (most, most))
    os.environ.clear()
    os.environ.update(order.environment)
    tempfile.tempdir = None  # it was found in the environment
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    first = [] if order.is_safe else [first_place(order.arguments[0])]
    sys.path[:] = [*first, *filter(None, named), *own_path]
    importlib.invalidate_caches()
    if any(next(Path(place).glob("*.dist-info"), None) for place in (order.folder, *named)):
        forget_installed()
    np.random.seed()  # noqa: NPY002 - forks would draw the same, and processes do not
    ForkedCode.own_path = own_path
    subprocess.Popen = ForkedCode  # type: ignore[misc] # also for what the program calls by this name
    gc.enable()
    try:
        run(order.arguments)
    except SystemExit as leave:
        if isinstance(leave.code, int | None):
            end(leave.code or 0)
        raise
    end(0)


class ForkedCode(subprocess.Popen[Any]):
    """A code that the program runs in an interpreter apart: a fork; else what `Popen` gives."""

    own_path: ClassVar[list[str]] = []

    def _execute_child(self, *given: Any) -> None:
        # The order in which Popen calls it; see `ForkedProgram`.
        arguments, shared, cwd, environment = list(given[0]), *given[4:7]
        is_known = arguments[:2] == [sys.executable, "-P"] and arguments[2:3] in (["-c"], ["-m"])
        if not is_known or shared or cwd is not None or threading.active_count() > 1:
            super()._execute_child(*given)  # type: ignore[misc]
            return
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):  # it may be full, or closed
                stream.flush()
        pipes = given[10:16]
        self.pid = os.fork()
        if self.pid == 0:
            own = dict(os.environ if environment is None else environment)
            streams = [pipes[0], pipes[3], pipes[5]]
            there = str(Path.cwd())
            order = Order(arguments[2:], there, own, -1, given[21], [], streams, is_safe=True)
            run_code(order, self.own_path)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


def run_code(order: Order, own_path: list[str]) -> NoReturn:
    """Run a code in a fork of the program, which knows neither its handlers nor its end."""
    try:
        atexit._clear()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        given = enumerate(order.descriptors)
        streams = [os.dup(number) if found < 0 else found for number, found in given]
        become(replace(order, descriptors=streams), own_path)
    except BaseException:  # noqa: BLE001 - nothing may run on into the program
        traceback.print_exc()
    os._exit(1)


def first_place(kind: str) -> str:
    """Return the folder that an interpreter searches first for modules."""
    if kind == "-c":
        return ""
    return str(Path.cwd() if kind == "-m" else Path(kind).absolute().parent)


def run(arguments: list[str]) -> None:
    """Run the program, a code or a script, as an interpreter does with these arguments."""
    kind, *rest = arguments
    if kind == "-m":
        sys.argv[:] = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    sys.argv[:] = arguments if kind != "-c" else [kind, *rest[1:]]
    text, name = (rest[0], "<string>") if kind == "-c" else (Path(kind).read_text("utf-8"), kind)
    # Names defined there are found in `__main__`, as pickle looks for them.
    sys.modules["__main__"] = main_module = types.ModuleType("__main__")
    if kind != "-c":
        main_module.__file__ = str(Path(kind).absolute())
    exec(compile(text, name, "exec", dont_inherit=True), main_module.__dict__)  # noqa: S102 - it is what was asked for


def end(code: int) -> None:
    """End as the interpreter does, but do not free the memory; return if streams are broken."""
    threading._shutdown()  # type: ignore[attr-defined] # wait for threads that are no daemons
    atexit._run_exitfuncs()
    try:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # none where it was closed
            stream.flush()
    except OSError:
        return
    os._exit(code & 0xFF)


def take_streams(descriptors: list[int]) -> None:
    """Take the first three descriptors for streams, and close all others."""
    for number, descriptor in enumerate(descriptors[:STREAMS]):
        os.dup2(descriptor, number)
    os.closerange(STREAMS, HIGHEST)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        # The program may write to wrappers of its streams.
        stream = reopened(getattr(sys, f"__{name}__"), number, mode)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def reopened(stream: TextIO, number: int, mode: str) -> io.TextIOWrapper:
    """Open a stream as the interpreter opened this one of its own."""
    assert isinstance(stream, io.TextIOWrapper)
    at_once = stream.write_through  # the environment may say so
    raw = open(number, f"{mode}b", buffering=0 if at_once else -1, closefd=False)  # noqa: SIM115
    opened = io.TextIOWrapper(
        raw,
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=not at_once and (number == 2 or os.isatty(number)),
        write_through=at_once,
    )
    opened.mode = mode  # type: ignore[misc] # which the interpreter sets as well
    return opened


if __name__ == "__main__":
    if os.fork():  # its child is nobody's: tests look at the children of their own process
        os._exit(0)
    main()
