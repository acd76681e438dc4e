"""The fork server as the parent sees it: started, talked to, stopped."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from automl_admm.evaluation.calls import describe_exit
from automl_admm.evaluation.channel import Channel
from automl_admm.evaluation.forkserver import Instructions
from automl_admm.evaluation.processes import MARK, kill_marked

STOP_SECONDS = 3.0
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
# The parent's path comes first of all, so that the same package is imported, installed or not.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from automl_admm.evaluation.forkserver import main; main()"
)


@dataclass(frozen=True, slots=True)
class Launch:
    """What a fork server is started with."""

    work: Path
    log: Path
    workers: int
    memory_bytes: int | None


class ServerProcess:
    """A fork server that runs, or did."""

    def __init__(self, launch: Launch) -> None:
        self._mark = secrets.token_hex(8)
        ours, theirs = socket.socketpair()
        instructions = Instructions(
            str(launch.work), theirs.fileno(), os.getpid(), launch.memory_bytes
        )
        path = [str(entry) or str(Path.cwd()) for entry in sys.path]
        with theirs, launch.log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                [
                    *(sys.executable, "-P", "-W", "ignore", "-c", BOOT),
                    *(json.dumps(path), json.dumps(asdict(instructions))),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=_environment(self._mark, launch.workers),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.pid = self._process.pid
        self.channel = Channel(ours)

    def stop(self) -> None:
        """Hang up, which makes the server kill its children and leave.

        One that still loads the work does not listen, but has no children: SIGTERM ends it.
        """
        self.channel.close()
        self._process.terminate()
        try:
            code = self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            code = None
        if code != 0:
            self.bury()

    def bury(self) -> str:
        """Kill the server and whatever it left; say how it ended."""
        self.channel.close()
        self._process.kill()
        code = self._process.wait()
        kill_marked(self._mark)
        return describe_exit(code)


def _environment(mark: str, workers: int) -> dict[str, str]:
    threads = str(max(1, _cores() // workers))
    return os.environ | dict.fromkeys(THREAD_VARIABLES, threads) | {MARK: mark}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
