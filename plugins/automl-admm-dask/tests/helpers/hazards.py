"""Works that behave, hang and die; workers of the cluster import it as `hazards`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


class Hazards:
    """One method a hazard."""

    def echo(self, folder: Path, **arguments: Any) -> dict[str, Any]:
        (folder / "below").mkdir()
        (folder / "below" / "written.txt").write_text("by the task")
        sys.stdout.write("printed\n")
        threads = os.environ["OMP_NUM_THREADS"]
        return {"got": arguments, "server": os.getppid(), "threads": threads}

    def fail(self, folder: Path) -> None:
        raise ValueError("this is wrong")

    def crash(self, folder: Path) -> None:
        os.kill(os.getpid(), signal.SIGSEGV)

    def leave(self, folder: Path) -> None:
        os._exit(3)

    def fill(self, folder: Path) -> None:
        held = []
        while True:
            held.append(bytearray(b"x" * 10_000_000))

    def hang(self, folder: Path, mark: str) -> None:
        Path(mark).write_text(str(os.getpid()))
        time.sleep(600)


class Unloadable:
    """Cannot be unpickled where it arrives."""

    def __reduce__(self) -> Any:
        return refuse, (os.getpid(),)


def refuse(pid: int) -> None:
    raise ModuleNotFoundError("No module named 'of_the_user'")


class Slow:
    """An objective that leaves a mark for every call, and takes its time."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds

    def __call__(self, values: Any) -> Any:
        name = f"{os.getpid()}-{time.monotonic_ns()}"
        (Path(self.folder) / name).write_text(f"{values['x']!r}")
        time.sleep(self.seconds)
        return (values["x"] - 0.3) ** 2
