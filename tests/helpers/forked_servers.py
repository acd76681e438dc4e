"""Fork servers of the executor `local` as forks of a process that has imported all: see `program`.

A new interpreter imports for seconds of the processor what the first evaluation of a search needs,
and most tests of searches with children are not about that. Those of the server itself start one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import pytest
from program import ForkedProgram

from automl_admm.execution.server.client import ServerProcess, _environment
from automl_admm.execution.server.fork_server import Instructions
from automl_admm.execution.threads import threads_each

# The socket comes in the place of the standard input, and the parent is who forks.
BOOT = """
import json, os, sys, warnings
from automl_admm.execution.server import forked_process
from automl_admm.execution.server.fork_server import Instructions, serve
from automl_admm.execution.threads import limit_threads
sys.path[:] = json.loads(sys.argv[1])
channel, nothing = os.dup(0), os.open(os.devnull, os.O_RDONLY)
os.dup2(nothing, 0)
forked_process._take_environment(dict(os.environ))
limit_threads(int(sys.argv[3]))
warnings.simplefilter("ignore")
given = json.loads(sys.argv[2])
serve(Instructions(**given | {"socket": channel, "parent": os.getppid()}))
"""


def start_fork(self: ServerProcess, workers: int, instructions: Instructions) -> ForkedProgram:
    """Start a server as `ServerProcess._start` does."""
    path = [str(entry) or str(Path.cwd()) for entry in sys.path]
    threads = str(threads_each(workers))
    line = ["-c", BOOT, json.dumps(path), json.dumps(asdict(instructions)), threads]
    with self._log.open("ab") as log:
        return ForkedProgram(
            [sys.executable, *line],
            {},
            stdin=instructions.socket,
            stdout=log,
            stderr=log,
            env=_environment(self._mark, workers, self._temporary),
            start_new_session=True,
        )


@contextmanager
def forked_servers() -> Iterator[None]:
    """Let searches with the executor `local` fork their servers, where the system can."""
    with pytest.MonkeyPatch.context() as patch:
        if sys.platform == "linux":
            patch.setattr(ServerProcess, "_start", start_fork)
        yield
