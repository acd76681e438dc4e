"""The child of a task, from the fork to its end: it never returns."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import random
import resource
import signal
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import psutil

from automl_admm.execution.child.process_tree import adopt_orphans, die_with_parent
from automl_admm.execution.child.result_pipe import write_frame
from automl_admm.execution.child.watch import OUTPUT
from automl_admm.execution.task_folders import TASK
from automl_admm.execution.task_report import (
    TaskReport,
    call_work,
    encode_report,
    exit_code,
    report_error,
)

FILE_LIMIT = 4 << 30  # bytes of one file, between two looks of the watch
# Libraries reserve address space that they never touch; memory itself is watched.
ADDRESS_MARGIN = 2 << 30


@dataclass(frozen=True, slots=True)
class Order:
    """A task as the fork server is told of it; method and arguments are in a file of its folder."""

    number: int
    folder: Path
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for a child: folder of temporary files, address space, parent.

    `report` is the descriptor for its result.
    """

    temporary: Path
    address_bytes: int | None
    server: int
    report: int


def run_child(work: Any, order: Order, rules: Rules) -> NoReturn:
    """Do a task and end this process, telling its result unless it was cut short.

    The end is `os._exit`: the exit handlers in memory are the fork server's, not ours.
    """
    code = 1
    try:
        _detach(rules.server)
        _capture_output(order.folder / OUTPUT)
        _confine(rules.address_bytes)
        _divert_temporary_files(rules.temporary)
        _reseed(order.number)
        own = os.getpid()
        encoded = encode_report(_perform(work, order.folder))
        if os.getpid() == own:  # else the work has forked and come back twice
            write_frame(rules.report, encoded)
            code = 0
    except SystemExit as leave:
        code = exit_code(leave)
    except BaseException:  # noqa: BLE001 - nothing may run on into the server's own code
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _detach(server: int) -> None:
    os.setsid()
    die_with_parent()
    adopt_orphans()
    if os.getppid() != server:  # it died before the line above could take effect
        os._exit(1)
    # The pipe is the server's: it must not wake up by our signals.
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # Ctrl-C reaches the whole group; the run alone decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _capture_output(path: Path) -> None:
    # Appending: after the watch has cut the file, output goes on at its new end.
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    output = os.open(path, flags, 0o600)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    faulthandler.enable(file=2)


def _divert_temporary_files(folder: Path) -> None:
    """Give temporary files a folder of this task, removed after it."""
    with contextlib.suppress(OSError):  # there is no room left: let the work find out
        folder.mkdir(mode=0o700)
        os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
        os.environ["JOBLIB_TEMP_FOLDER"] = str(folder)  # else it would take /dev/shm


def _confine(address_bytes: int | None) -> None:
    """Set limits for things between two looks of the watch; memory only as a backstop."""
    # A core dump of a fit may take gigabytes.
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_LIMIT)
    if address_bytes is not None:
        mapped = psutil.Process().memory_info().vms
        _lower(resource.RLIMIT_AS, mapped + address_bytes + ADDRESS_MARGIN)


def _lower(kind: int, limit: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(kind, (limit, hard))


def _reseed(number: int) -> None:
    random.seed(number)
    np.random.seed(number % 2**32)  # noqa: NPY002 - the global generator is what a component may use


def _perform(work: Any, folder: Path) -> TaskReport:
    try:
        with (folder / TASK).open("rb") as file:
            method, arguments = pickle.load(file)  # noqa: S301 - our own parent wrote it
        return call_work(work, method, arguments, folder)
    except SystemExit:
        raise
    except BaseException as error:  # noqa: BLE001 - a work may raise a KeyboardInterrupt of its own
        return report_error(error)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001, S112 - closed or replaced by the work; there is no one to tell
            continue
