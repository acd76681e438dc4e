"""The fork server as the parent sees it: started, talked to, stopped."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from automl_admm.core.errors import naming_os_errors
from automl_admm.execution.child.process_tree import MARK, kill_marked
from automl_admm.execution.child.watch import last_line
from automl_admm.execution.server.channel import Channel
from automl_admm.execution.server.fork_server import Instructions, serve
from automl_admm.execution.server.forked_process import (
    ForkedProcess,
    Surroundings,
    can_fork,
    copy_above_streams,
    fork_process,
)
from automl_admm.execution.task_folders import remove_tree
from automl_admm.execution.task_report import describe_exit
from automl_admm.execution.threads import THREAD_VARIABLES, thread_environment, threads_each

STOP_SECONDS = 3.0  # for killing children and removing their files
TEMPORARY = "automl-admm-tmp-"
LOG = "server.log"
# Threads that wait for each other by spinning make a fit fifty times slower on a busy machine.
PATIENT = {"OMP_WAIT_POLICY": "PASSIVE"}
# The parent's path comes first of all, so that the same package is imported, installed or not.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from automl_admm.execution.server.fork_server import main; main()"
)


@dataclass(frozen=True, slots=True)
class Assignment:
    """The file of the work for a fork server, and the bounds of its children.

    `memory_bytes` are watched; `address_bytes`, if any, bound a child's address space, too.
    """

    work: Path
    memory_bytes: int | None
    address_bytes: int | None = None


class ServerProcess:
    """A fork server, running or ended.

    Temporary files of it and its children go to a folder removed with it. Its path is short,
    wherever the run folder is: sockets have no room for a long one. It imports some `modules`, and
    waits for its assignment. If this program `may_fork`, the server is a fork of it where that is
    possible, with all that is imported by now.
    """

    def __init__(
        self, workers: int, modules: Sequence[str] = (), *, may_fork: bool = False
    ) -> None:
        self._may_fork = may_fork
        self._mark = secrets.token_hex(8)
        with naming_os_errors("the process that evaluates cannot be started"):
            self._temporary = tempfile.mkdtemp(prefix=TEMPORARY)
            try:
                self._begin(workers, modules)
            except OSError:
                self._remove_temporary()
                raise

    def _begin(self, workers: int, modules: Sequence[str]) -> None:
        ours, theirs = map(_above_streams, socket.socketpair())
        instructions = Instructions(theirs.fileno(), os.getpid(), self._temporary, tuple(modules))
        self.channel = Channel(ours)
        try:
            with theirs:
                self._process = self._start(workers, instructions)
        except OSError:
            self.channel.close()
            raise
        self.pid = self._process.pid

    def assign(self, assignment: Assignment) -> None:
        """Give the server its work; a dead one is noticed at the next order."""
        order = {"order": "load", **asdict(assignment), "work": str(assignment.work)}
        with suppress(OSError):
            self.channel.send(order)

    def _start(
        self, workers: int, instructions: Instructions
    ) -> subprocess.Popen[bytes] | ForkedProcess:
        path = [str(entry) or str(Path.cwd()) for entry in sys.path]
        environment = _environment(self._mark, workers, self._temporary)
        with self._log.open("ab") as log:
            if self._may_fork and can_fork():
                threads, socket = threads_each(workers), instructions.socket
                around = Surroundings(environment, log.fileno(), threads, socket)
                return fork_process(partial(serve, instructions), around)
            return subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                [
                    # -P: the current folder may hold a file named like a module of Python.
                    *(sys.executable, "-P", "-W", "ignore", "-c", BOOT),
                    *(json.dumps(path), json.dumps(asdict(instructions))),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                pass_fds=[instructions.socket],
                start_new_session=True,
            )

    def stop(self) -> None:
        """Hang up; the server then kills its children and exits.

        While it loads the work it does not listen, but has no children: SIGTERM ends it.
        """
        self.channel.close()
        self._process.terminate()
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        # It did not end in order: something of it may be left.
        if code != 0:
            self.bury()
        self._remove_temporary()

    def bury(self) -> str:
        """Kill the server and all it left; return its exit and its last output."""
        self.channel.close()
        self._process.kill()
        code = self._process.wait()
        kill_marked(self._mark)
        end = describe_exit(code) + last_line(self._log)
        self._remove_temporary()
        return end

    @property
    def _log(self) -> Path:
        return Path(self._temporary, LOG)

    def _remove_temporary(self) -> None:
        remove_tree(Path(self._temporary))


def _above_streams(end: socket.socket) -> socket.socket:
    with end:
        return socket.socket(fileno=copy_above_streams(end.fileno()))


def _environment(mark: str, workers: int, temporary: str) -> dict[str, str]:
    own = {MARK: mark, "TMPDIR": temporary}
    # The user may choose to spin; the number of threads is ours, and so is the rest.
    return PATIENT | os.environ | thread_environment(threads_each(workers)) | own


@contextmanager
def loading_for(workers: int) -> Iterator[None]:
    """Load libraries of mathematics in this process as a server for so many workers does.

    They look at the environment once, when they are loaded.
    """
    before = dict(os.environ)
    os.environ.update(PATIENT | before | thread_environment(threads_each(workers)))
    try:
        yield
    finally:
        for name in (*PATIENT, *THREAD_VARIABLES):
            if name in before:
                os.environ[name] = before[name]
            else:
                os.environ.pop(name, None)
