"""Works that behave, hang and die, for tests of executors; workers import this module."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

CHUNK = 10_000_000


class Hazards:
    """A work with a method for each end of a task."""

    def __init__(self) -> None:
        self.is_prepared = False

    def prepare(self) -> None:
        """Note that the executor has called this, once and before all tasks."""
        self.is_prepared = True

    def echo(self, folder: Path, **arguments: Any) -> dict[str, Any]:
        """Print, write a file, and return the arguments with facts about the process."""
        (folder / "below").mkdir()
        (folder / "below" / "written.txt").write_text("by the task")
        sys.stdout.write("printed\n")
        return {
            "got": arguments,
            "pid": os.getpid(),
            "server": os.getppid(),
            "threads": os.environ.get("OMP_NUM_THREADS", ""),
            "is_prepared": self.is_prepared,
        }

    def odd_numbers(self, folder: Path) -> dict[str, Any]:
        """Return numbers that strict JSON does not know, and a tuple."""
        del folder
        return {"nan": math.nan, "infinity": math.inf, "pair": (1, 2)}

    def no_json(self, folder: Path) -> dict[str, Any]:
        """Return what JSON cannot hold."""
        del folder
        return {"found": {1, 2}}

    def fail(self, folder: Path) -> NoReturn:
        """Write a file, and raise."""
        (folder / "written.txt").write_text("in vain")
        raise ValueError("this is wrong")

    def crash(self, folder: Path) -> dict[str, Any]:
        """Die by a segmentation fault."""
        del folder
        os.kill(os.getpid(), signal.SIGSEGV)
        return {}

    def leave(self, folder: Path) -> NoReturn:
        """Exit with a code."""
        del folder
        os._exit(3)

    def fill(self, folder: Path) -> NoReturn:
        """Take memory without end."""
        del folder
        held = []
        while True:
            held.append(bytearray(b"x" * CHUNK))

    def hang(self, folder: Path, mark: str) -> dict[str, Any]:
        """Write the numbers of this process and of its parent to a file, and hang."""
        del folder
        half = Path(f"{mark}.half")
        half.write_text(f"{os.getpid()} {os.getppid()}")
        half.rename(mark)  # a reader finds both numbers or no file
        time.sleep(600)
        return {}


class Unloadable:
    """A work that cannot be unpickled on a worker."""

    def __reduce__(self) -> Any:
        """Pickle as a call that raises."""
        return _refuse, (os.getpid(),)


def _refuse(pid: int) -> NoReturn:
    raise ModuleNotFoundError(f"No module named 'of_the_user', unlike in process {pid}")


class Slow:
    """An objective that leaves a mark for every call, and takes its time."""

    def __init__(self, folder: Path | str, seconds: float) -> None:
        self.folder = folder
        self.seconds = seconds

    def __call__(self, values: Mapping[str, Any]) -> float:
        """Return the loss, (x - 0.3)²."""
        name = f"{os.getpid()}-{time.monotonic_ns()}"
        Path(self.folder, name).write_text(f"{values['x']!r}")
        time.sleep(self.seconds)
        return float((values["x"] - 0.3) ** 2)
