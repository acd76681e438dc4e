"""A process to outlive the fork server and kill its remains, whoever killed the server.

It stands beside the server, not above or below it: a kill of the run, its server and all of their
descendants does not reach it. It finds remaining processes by the mark in their environment.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from pathlib import Path

from automl_admm.execution.child.process_tree import MARK, kill_marked
from automl_admm.execution.task_folders import remove_tree

ROUNDS = 3
PAUSE = 0.3
OPEN_FILES = 256


def leave_watcher(temporary: Path) -> None:
    """Start the watcher of this process; call it before there are threads or children."""
    server = os.getpid()
    # Twice, so that the watcher is a child of init: no kill of a tree reaches it.
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return
    try:
        os.setsid()
        if not os.fork():
            os.closerange(0, OPEN_FILES)  # the parent is to see it when the server hangs up
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            _await_end(server)
            _clean_up(temporary)
    finally:
        os._exit(0)


def _await_end(pid: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        # A descriptor stays with its process; a pid may be reused while polling (below).
        descriptor = os.pidfd_open(pid)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll()
        return
    with contextlib.suppress(OSError):
        while True:
            os.kill(pid, 0)
            time.sleep(PAUSE)


def _clean_up(temporary: Path) -> None:
    """Kill all processes with the mark; one just starting needs another round."""
    for _ in range(ROUNDS):
        kill_marked(os.environ[MARK])
        time.sleep(PAUSE)
    remove_tree(temporary)
