"""The fork server: one thread, the work in memory, and a forked child for each task.

It is started as a program of its own (multiprocessing would import the user's script again), loads
the work once, and shares it with every child by copy-on-write. It enforces the limits, reaps the
children, and kills everything below it when its parent is gone.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import psutil

from automl_admm.core.evaluations import Status
from automl_admm.core.messages import shorten
from automl_admm.execution.child.process_tree import (
    MARK,
    adopt_orphans,
    children_of,
    kill_group,
    kill_marked,
    own_memory,
)
from automl_admm.execution.child.result_pipe import Mailbox
from automl_admm.execution.child.task_child import Order, Rules, run_child
from automl_admm.execution.child.watch import Bounds, Cause, ChildFolders, Watch
from automl_admm.execution.deferred_imports import defer_imports
from automl_admm.execution.quick_imports import importing
from automl_admm.execution.server.channel import Channel, Message, wait_readable
from automl_admm.execution.server.orphan_watcher import leave_watcher
from automl_admm.execution.shared_arrays import read_mapped
from automl_admm.execution.task_folders import remove_tree
from automl_admm.execution.task_report import MESSAGE_LIMIT, report_error

MEMORY_POLL_SECONDS = 0.05  # a fit may allocate gigabytes in a second
IDLE_SECONDS = 1.0
LAST_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Instructions:
    """The command line of a fork server; `parent` is the pid of its run.

    `temporary` is a folder for temporary files of it and its children. The `modules` are imported
    while it waits for its work.
    """

    socket: int
    parent: int
    temporary: str
    modules: tuple[str, ...] = ()


def main() -> None:
    """Serve the parent of this program, by the instructions on its command line."""
    serve(Instructions(**json.loads(sys.argv[2])))


def serve(instructions: Instructions) -> None:
    """Serve the parent of this process, until it hangs up or is gone."""
    # A parent may have been started with its dead children ignored: then nobody's end is told.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # First of all: a fork is only safe before there are threads.
    leave_watcher(Path(instructions.temporary))
    channel = Channel(socket.socket(fileno=instructions.socket))
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(ConnectionError, EOFError):
        with _leaving_if_orphaned(instructions):
            import_all(instructions.modules)
            assignment, *orders = _await_orders(channel)
            work = _load_work(Path(assignment["work"]), channel)
        with _wakeups() as wakeup:
            channel.post({"event": "ready"})
            _Server(instructions, assignment, work, channel, wakeup).run(orders)
    if _is_orphan(instructions):  # else it is the parent who removes them
        _remove_temporary_files(instructions)


def _is_orphan(instructions: Instructions) -> bool:
    return os.getppid() != instructions.parent


def _remove_temporary_files(instructions: Instructions) -> None:
    remove_tree(Path(instructions.temporary))


@contextmanager
def _leaving_if_orphaned(instructions: Instructions) -> Iterator[None]:
    """Look every second if the parent is there: while the work loads nobody reads the socket."""

    def leave(number: int, frame: FrameType | None) -> None:
        del number, frame
        if _is_orphan(instructions):
            _remove_temporary_files(instructions)
            os._exit(1)

    signal.signal(signal.SIGALRM, leave)
    signal.setitimer(signal.ITIMER_REAL, IDLE_SECONDS, IDLE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def import_all(modules: Sequence[str]) -> None:
    """Import modules for the work, in a program of our own; the work itself reports failures."""
    defer_imports()
    with importing():
        for module in modules:
            try:
                import_module(module)
            except BaseException:  # noqa: BLE001 - an import runs anybody's code
                traceback.print_exc()


def _await_orders(channel: Channel) -> list[Message]:
    """Wait for orders of the parent; the first is to load the work."""
    while True:
        orders = channel.receive(None)
        if orders:
            return orders


def _load_work(path: Path, channel: Channel) -> Any:
    """Load the work and let it prepare itself; the parent raises the errors."""
    with _telling_failure(channel):
        work = read_mapped(path)
        prepare = getattr(work, "prepare", None)
        if prepare is not None:
            prepare()
    # What is there by now stays: collecting it in a child would write on shared pages.
    gc.collect()
    gc.freeze()
    return work


@contextmanager
def _telling_failure(channel: Channel) -> Iterator[None]:
    """Tell the parent of an error within the block, and end this process."""
    try:
        yield
    except BaseException as error:  # noqa: BLE001 - the work is anybody's code
        traceback.print_exc()
        channel.send({"event": "failed", "message": report_error(error).message})
        sys.exit(1)


@contextmanager
def _wakeups() -> Iterator[int]:
    """Return a descriptor, readable after the end of a child."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    os.set_blocking(writer, False)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # from now on it ends when the parent hangs up
    signal.signal(signal.SIGCHLD, lambda *_: None)
    # A full pipe wakes up as well.
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    try:
        yield reader
    finally:
        signal.set_wakeup_fd(-1)


class _Server:
    """The loop: orders in, children forked, watched and reaped, events out."""

    def __init__(
        self,
        instructions: Instructions,
        assignment: Message,
        work: Any,
        channel: Channel,
        wakeup: int,
    ) -> None:
        self._instructions = instructions
        self._memory_bytes: int | None = assignment["memory_bytes"]
        self._address_bytes: int | None = assignment["address_bytes"]
        self._work, self._is_whole = work, False
        self._channel = channel
        self._wakeup = wakeup
        self._pid = os.getpid()
        self._watches: dict[int, Watch] = {}
        self._mail: dict[int, Mailbox] = {}
        self._is_warm = False
        self._more: Iterator[object] | None = None

    def run(self, orders: Sequence[Message] = ()) -> None:
        """Serve until the parent is gone, then leave nothing alive; some orders came before."""
        try:
            for order in orders:
                self._obey(order)
            while not _is_orphan(self._instructions):
                self._listen()
                self._reap()
                for watch in self._watches.values():
                    watch.check(time.monotonic())
                self._prepare_more()
        except EOFError:
            pass
        finally:
            self._end_all()

    def _listen(self) -> None:
        channel, mail = self._channel.fileno(), [box for box in self._mail.values() if box.is_open]
        waited_for = [channel, self._wakeup, *(box.fileno() for box in mail)]
        writable = [channel] if self._channel.has_mail else []
        ready = wait_readable(waited_for, self._patience(), writable)
        self._channel.flush()
        if self._wakeup in ready:
            os.read(self._wakeup, 4096)
        for box in mail:
            box.read()
        if self._channel.fileno() in ready:
            for message in self._channel.receive(0.0):
                self._obey(message)

    def _prepare_more(self) -> None:
        """Let the work take one step of what it prepares after its first task has ended."""
        if self._more is None:
            return
        try:
            next(self._more)
        except BaseException as end:  # noqa: BLE001 - the work is anybody's code
            if not isinstance(end, StopIteration):
                traceback.print_exc()
            self._more = None
            gc.freeze()

    def _patience(self) -> float:
        if self._more is not None:
            return 0.0
        if not self._watches:
            return IDLE_SECONDS
        now = time.monotonic()
        seconds = min(watch.seconds_to_next(now) for watch in self._watches.values())
        has_memory_limit = self._memory_bytes is not None
        return min(seconds, MEMORY_POLL_SECONDS) if has_memory_limit else seconds

    def _obey(self, message: Message) -> None:
        number = message["number"]
        if message["order"] == "run":
            if message["rest"] is not None and not self._is_whole:
                self._complete(Path(message["rest"]))
            self._fork(Order(number, Path(message["folder"]), message["seconds"]))
        elif number in self._watches:
            self._watches[number].kill(Cause(Status.CANCELLED, "killed on request"))

    def _complete(self, path: Path) -> None:
        """Load the rest of the work, for this task and all later ones."""
        with _telling_failure(self._channel):
            self._work, self._is_whole = self._work.complete(read_mapped(path)), True
        gc.freeze()

    def _fork(self, order: Order) -> None:
        begun = time.monotonic()
        folders = ChildFolders(order.folder, Path(self._instructions.temporary, str(order.number)))
        try:
            mailbox = Mailbox()
            pid = _fork_for(mailbox)
        except OSError as error:
            message = f"no process could be started: {error.strerror}"
            self._tell_end(order.number, 1, Cause(Status.LOST, message))
            return
        if pid == 0:
            # A child with the ends of others could read, or keep open, their results.
            for box in (*self._mail.values(), mailbox):
                box.close()
            self._channel.close()
            rules = Rules(folders.temporary, self._address_bytes, self._pid, mailbox.writer)
            run_child(self._work, order, rules)
        mailbox.hand_over()
        self._mail[order.number] = mailbox
        # Measured at each fork: the memory of this process grows, and what it has now is free.
        inherited = own_memory(psutil.Process())[1]
        bounds = Bounds(order.seconds, self._memory_bytes, inherited)
        self._watches[order.number] = Watch(pid, folders, bounds, begun)
        self._channel.post(
            {"event": "started", "number": order.number, "pid": pid, "moment": begun}
        )

    def _reap(self) -> None:
        """Collect dead children; kill their remains before the report."""
        # All at once: of many dead children only one signal may arrive.
        ended = dict(_ended_children())
        if not ended:
            return
        finished = [(n, watch) for n, watch in self._watches.items() if watch.pid in ended]
        for number, watch in finished:
            del self._watches[number]
            watch.kill_remains()
        self._kill_strays()
        if finished and not self._is_warm:
            self._is_warm = True
            prepare_more = getattr(self._work, "prepare_more", None)
            self._more = None if prepare_more is None else iter(prepare_more())
        for number, watch in finished:
            # Only now that all processes are dead: a living one would write anew.
            watch.remove_remains()
            remove_tree(watch.folders.temporary)
            self._tell_end(number, ended[watch.pid], watch.cause, self._told(number))

    def _told(self, number: int) -> bytes | None:
        """Return the report of a dead child, with the rest in the pipe."""
        mailbox = self._mail.pop(number)
        mailbox.read()
        mailbox.close()
        return mailbox.content()

    def _kill_strays(self) -> None:
        """Kill the orphans adopted by this process; more may follow after their end."""
        known = {watch.pid for watch in self._watches.values()}
        for pid in children_of(self._pid):
            if pid not in known:
                kill_group(pid)

    def _tell_end(
        self, number: int, code: int, cause: Cause | None, told: bytes | None = None
    ) -> None:
        self._channel.post(
            {
                "event": "ended",
                "number": number,
                "code": code,
                "status": None if cause is None else cause.status,
                "message": "" if cause is None else shorten(cause.message, MESSAGE_LIMIT),
                "moment": time.monotonic(),
                "report": None if told is None else told.decode(errors="replace"),
            }
        )

    def _end_all(self) -> None:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for watch in self._watches.values():
            watch.kill(Cause(Status.LOST, "the parent is gone"))
        self._watches.clear()
        latest = time.monotonic() + LAST_SECONDS
        while children_of(self._pid) and time.monotonic() < latest:
            self._kill_strays()
            time.sleep(LAST_SECONDS / 200)
            dict(_ended_children())
        kill_marked(os.environ[MARK])


def _fork_for(mailbox: Mailbox) -> int:
    """Fork a child that will tell its result there; if none comes to be, close both ends."""
    try:
        return os.fork()
    except OSError:
        mailbox.hand_over()
        mailbox.close()
        raise


def _ended_children() -> Iterator[tuple[int, int]]:
    """Reap every dead child: its pid, and its exit code as in Popen."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        yield pid, os.waitstatus_to_exitcode(status)
