"""A work that does everything a work should not do; imported by the children as `faulty`."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from automl_admm.core.errors import InvalidOutcome

MEGABYTES = 1_000_000


class UnspeakableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("cannot be said")


class UnpicklableError(Exception):
    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one}{two}")
        self.lock = open  # any state will do


class Faulty:
    """One method a fault."""

    def __init__(self, payload: Any = None) -> None:
        self.payload = payload

    # --- well behaved

    def echo(self, folder: Path, **arguments: Any) -> dict[str, Any]:
        (folder / "written.txt").write_text("by the task")
        return {"got": arguments, "pid": os.getpid(), "server": os.getppid()}

    def describe(self, folder: Path) -> dict[str, Any]:
        import random

        import numpy as np

        return {
            "session": os.getsid(0) == os.getpid(),
            "threads": os.environ["OMP_NUM_THREADS"],
            "numpy": float(np.random.random()),  # noqa: NPY002
            "random": random.random(),  # noqa: S311
            "stdin": sys.stdin.read(),
            "interrupt": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        }

    def mutate(self, folder: Path) -> dict[str, Any]:
        self.payload[0] += 1
        os.environ["FAULTY"] = "was here"
        return {"first": float(self.payload[0]), "seen": "FAULTY" in os.environ}

    def look(self, folder: Path) -> dict[str, Any]:
        return {"first": float(self.payload[0]), "seen": "FAULTY" in os.environ}

    def nap(self, folder: Path, seconds: float, started: str | None = None) -> dict[str, Any]:
        if started is not None:
            Path(started).write_text(str(os.getpid()))
        time.sleep(seconds)
        return {}

    def meet(self, folder: Path, own: str, other: str) -> dict[str, Any]:
        Path(own).touch()
        while not Path(other).exists():
            time.sleep(0.01)
        return {}

    # --- without end

    def sleep_for_ever(self, folder: Path) -> None:
        time.sleep(3600)

    def ignore_signals(self, folder: Path) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        while True:
            try:
                time.sleep(3600)
            except BaseException:  # noqa: BLE001, S112
                continue

    def hold_the_lock(self, folder: Path) -> None:
        ctypes.PyDLL(None).sleep(3600)

    # --- memory

    def allocate(self, folder: Path, swallow: bool = False) -> None:
        held = []
        while True:
            try:
                held.append(bytearray(10 * MEGABYTES))
                time.sleep(0.005)
            except MemoryError:
                if not swallow:
                    raise

    def allocate_at_once(self, folder: Path) -> dict[str, Any]:
        import numpy as np

        return {"size": np.ones(200_000_000_000).size}

    def swallow_memory_error(self, folder: Path) -> None:
        import numpy as np

        with contextlib.suppress(MemoryError):
            np.ones(200_000_000_000)
        self.allocate(folder, swallow=True)

    def allocate_in_grandchild(self, folder: Path) -> None:
        code = "b = bytearray(800_000_000); import time; time.sleep(3600)"
        subprocess.run([sys.executable, "-c", code], check=True)

    def share_with_forks(self, folder: Path, blocks: int) -> dict[str, Any]:
        """Write blocks of 200 MB, and leave each to two forks that only sleep."""
        held, helpers = [], []
        for _ in range(blocks):
            held.append(b"x" * (200 * MEGABYTES))
            helpers += [_fork_sleeper() for _ in range(2)]
            time.sleep(1.5)  # a look at such a tree is taken each second
        for pid in helpers:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        return {"size": sum(map(len, held))}

    def fill_memfd(self, folder: Path) -> None:
        self._fill(os.memfd_create("faulty"))

    def fill_shared_memory(self, folder: Path, name: str) -> None:
        self._fill(os.open(name, os.O_CREAT | os.O_RDWR))

    def _fill(self, descriptor: int) -> None:
        for _ in range(80):
            os.write(descriptor, bytes(10 * MEGABYTES))
            time.sleep(0.01)
        time.sleep(3600)

    def share_a_little(self, folder: Path) -> dict[str, Any]:
        """Use memory of a name as it is meant to be used: mapped and open it counts once."""
        from multiprocessing.shared_memory import SharedMemory

        held = SharedMemory(create=True, size=200 * MEGABYTES)
        assert held.buf is not None
        held.buf[:] = bytes(held.size)
        time.sleep(1.5)
        return {"name": held.name}

    def allocate_a_little(self, folder: Path) -> dict[str, Any]:
        return {"size": len(bytearray(100 * MEGABYTES))}

    # --- deaths

    def segfault(self, folder: Path) -> None:
        ctypes.string_at(0)

    def abort(self, folder: Path) -> None:
        print("about to abort", flush=True)  # noqa: T201
        os.abort()

    def leave(self, folder: Path, code: int) -> None:
        os._exit(code)

    def sys_exit(self, folder: Path, code: int) -> None:
        sys.exit(code)

    def kill_self(self, folder: Path) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    # --- exceptions

    def raise_value_error(self, folder: Path) -> None:
        raise ValueError("of no value")

    def raise_unspeakable(self, folder: Path) -> None:
        raise UnspeakableError

    def raise_unpicklable(self, folder: Path) -> None:
        raise UnpicklableError("a", "b")

    def raise_long(self, folder: Path) -> None:
        raise ValueError("x" * 10_000_000)

    def raise_group(self, folder: Path) -> None:
        raise ExceptionGroup("several", [ValueError("one"), TypeError("two")])

    def raise_cancelled(self, folder: Path) -> None:
        raise asyncio.CancelledError("by the loop")

    def raise_interrupt(self, folder: Path) -> None:
        raise KeyboardInterrupt

    def raise_memory_error(self, folder: Path) -> None:
        raise MemoryError

    def raise_invalid(self, folder: Path) -> None:
        raise InvalidOutcome("the predictions are not all finite")

    def recurse(self, folder: Path) -> Any:
        return self.recurse(folder)

    # --- results

    def give(self, folder: Path, what: str) -> Any:
        return {
            "none": None,
            "list": [1, 2],
            "object": {"loss": object()},
            "bytes": {"loss": b"0.5"},
            "complex": {"loss": 1j},
            "huge": {"text": "x" * 20 * MEGABYTES},
            "nan": {"loss": float("nan"), "limits": (float("inf"), -1.5)},
        }[what]

    def give_cycle(self, folder: Path) -> Any:
        cycle: dict[str, Any] = {}
        cycle["self"] = cycle
        return cycle

    def forge(self, folder: Path, then: str = "leave") -> None:
        """Write what would be a report into the folder, and do not come back."""
        report = {"status": "success", "message": "", "result": {"loss": -5.0}}
        (folder / "result.json").write_text(json.dumps(report))
        if then == "hang":
            time.sleep(3600)
        os._exit(0)

    def forge_on_every_descriptor(self, folder: Path) -> dict[str, Any]:
        """Tell a result of its own wherever something can be written."""
        report = json.dumps({"status": "success", "message": "", "result": {"loss": -5.0}})
        frame = len(report).to_bytes(8, "big") + report.encode()
        for path in list(Path("/proc/self/fd").iterdir()):
            with contextlib.suppress(OSError):
                os.write(int(path.name), frame)
        return {"loss": 1.0}

    def lay_fifos(self, folder: Path) -> None:
        """Put a FIFO where anybody may look for a file, and die."""
        for name in ("result.json", "output.txt", "model.skops", "predictions.npz"):
            (folder / name).unlink(missing_ok=True)
            os.mkfifo(folder / name)
        os.abort()

    def come_back_twice(self, folder: Path) -> dict[str, Any]:
        return {"pid": os.getpid(), "twin": os.fork()}

    def dig(self, folder: Path, levels: int) -> dict[str, Any]:
        """Folders in folders: in the folder of the task and among temporary files."""
        import tempfile

        for top in (folder, tempfile.gettempdir()):
            os.chdir(top)
            for _ in range(levels):
                Path("d").mkdir()
                os.chdir("d")
        return {"levels": levels}

    # --- the rest

    def print_much(self, folder: Path, megabytes: int) -> dict[str, Any]:
        line = b"\xff\x1b[31m" + b"x" * 993 + b"\n"
        for _ in range(megabytes):
            os.write(1, line * 500)
            os.write(2, line * 500)
        os.write(1, b"the end")
        return {"printed": megabytes}

    def read_stdin(self, folder: Path) -> dict[str, Any]:
        return {"line": input()}

    def fill_a_file(self, folder: Path) -> dict[str, Any]:
        with (folder / "big").open("wb") as file:
            file.truncate(5 << 30)
        return {}

    def start_grandchildren(self, folder: Path, pids: str, hang: bool) -> dict[str, Any]:
        """A child, one that daemonises, and one that forks it by itself; then return or hang."""
        sleeper = subprocess.Popen(["sleep", "3600"])
        with Path(pids).open("a") as file:
            file.write(f"{os.getpid()}\n{sleeper.pid}\n")
        _daemonise(Path(pids), self.sleep_for_ever)
        if hang:
            time.sleep(3600)
        return {}

    def leave_in_joblib(self, folder: Path, mark: str) -> None:
        """Hang in the midst of a parallel call with a large array; note the process that called."""
        import numpy as np
        from joblib import Parallel, delayed

        Path(f"{mark}.task").write_text(str(os.getpid()))
        Parallel(2)(delayed(_sleep_on)(np.ones(2_000_000), mark) for _ in range(2))

    def close_everything(self, folder: Path) -> dict[str, Any]:
        os.closerange(0, 64)
        return {"closed": True}


def _sleep_on(array: Any, mark: str) -> None:
    Path(mark).touch()
    time.sleep(3600)


def _fork_sleeper() -> int:
    pid = os.fork()
    if pid == 0:
        time.sleep(3600)
        os._exit(0)
    return pid


def _daemonise(pids: Path, then: Callable[[Path], None]) -> None:
    middle = os.fork()
    if middle == 0:
        os.setsid()
        if os.fork() == 0:
            with pids.open("a") as file:
                file.write(f"{os.getpid()}\n")
            then(pids.parent)
        os._exit(0)
    os.waitpid(middle, 0)
    deadline = time.monotonic() + 60
    while len(pids.read_text().split()) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)


class Learning(Faulty):
    """Fits models that use OpenMP and threads."""

    def prepare(self) -> None:
        import sklearn.cluster
        import sklearn.ensemble  # noqa: F401

    def fit(self, folder: Path) -> dict[str, Any]:
        import numpy as np
        from sklearn.cluster import KMeans
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

        X = np.random.default_rng(0).normal(size=(600, 5))
        y = X[:, 0] > 0
        KMeans(3, n_init=1).fit(X @ X.T[:, :100])
        RandomForestClassifier(10, n_jobs=2).fit(X, y)
        return {"score": HistGradientBoostingClassifier(max_iter=5).fit(X, y).score(X, y)}


class SeldomForked(Faulty):
    """Its server gets no process the first times, as where too many are running."""

    def prepare(self) -> None:
        fork, failures = os.fork, iter(range(self.payload))

        def fork_at_last() -> int:
            if next(failures, None) is None:
                return fork()
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

        os.fork = fork_at_last

    def count_descriptors(self, folder: Path) -> dict[str, Any]:
        return {"open": sum(1 for _ in Path("/proc/self/fd").iterdir())}


class BadPrepare(Faulty):
    """Does not get ready."""

    def prepare(self) -> None:
        raise RuntimeError("the moon is in the wrong phase")


class SlowPrepare(Faulty):
    """Takes its time to get ready, and says that it has begun."""

    def prepare(self) -> None:
        Path(self.payload).write_text(str(os.getpid()))
        time.sleep(3600)


class CrashingPrepare(Faulty):
    """Dies while it gets ready."""

    def prepare(self) -> None:
        os._exit(7)


class Unloadable(Faulty):
    """Cannot be loaded where it arrives."""

    def __reduce__(self) -> Any:
        return json.loads, ("{",)
