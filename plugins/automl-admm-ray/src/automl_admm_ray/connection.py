"""The Ray of this process: there is one at most, so runs at the same time share it."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil

from automl_admm.plugin_api import AutomlAdmmError, ConfigurationError, remove_tree, say_error
from automl_admm_ray.own_folders import make_folder

MARK = "AUTOML_ADMM_RAY"
BREAKPOINT = "PYTHONBREAKPOINT"  # Ray has it start a debugger of its own
TRIES = 6
END_SECONDS = 15.0
KNOCK_SECONDS = 5.0
STORE_BYTES = 200_000_000
# Ray keeps the token that it has read first, so there is one for all clusters of this process.
TOKEN = secrets.token_hex(16)


class Connection:
    """A Ray started by this package, or a connection to a cluster, for all runs that want it.

    If this program had called `ray.init` before, that Ray is used, and stays. A thread of its own
    holds it: Linux ends the processes of a Ray with the thread that started it, and in the main
    thread Ray would take over SIGTERM.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._address: str | None = None
        self._over = threading.Event()
        self._thread = threading.Thread()

    @contextmanager
    def to(self, address: str | None, cpus: int, work_bytes: int) -> Iterator[None]:
        """Be connected within a block; without an address, to a Ray with so many CPUs."""
        with self._lock:
            if self._users and address != self._address:
                raise ConfigurationError(
                    "this program uses another Ray at the moment, and can use one at a time.",
                    hint="Name the same address for all runs.",
                )
            if not self._users:
                self._begin(address, cpus, work_bytes)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if not self._users:
                    self._over.set()
                    self._thread.join()

    def _begin(self, address: str | None, cpus: int, work_bytes: int) -> None:
        is_ready: Future[None] = Future()
        self._over, self._address = threading.Event(), address
        self._thread = threading.Thread(
            target=_hold,
            args=(address, cpus, work_bytes, is_ready, self._over),
            name="automl-admm-ray-holder",
            daemon=True,
        )
        self._thread.start()
        is_ready.result()


CONNECTION = Connection()


def _hold(
    address: str | None, cpus: int, work_bytes: int, is_ready: Future[None], over: threading.Event
) -> None:
    """Hold a Ray until it is over; a problem of its start goes to the waiting thread."""
    with ExitStack() as undone:
        try:
            _open(address, cpus, work_bytes, undone)
        except BaseException as problem:  # noqa: BLE001 - it is raised where somebody waits
            undone.close()
            is_ready.set_exception(problem)
            return
        is_ready.set_result(None)
        over.wait()


def _open(address: str | None, cpus: int, work_bytes: int, undone: ExitStack) -> None:
    """Connect, or start a Ray, unless this program has one."""
    undone.callback(_restore, dict(os.environ))
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
    logger = logging.getLogger("ray")  # its import has set a level
    undone.callback(logger.setLevel, logger.level)
    logger.setLevel(logging.CRITICAL + 1)
    if ray.is_initialized():
        return
    if address is not None:
        _connect(address)
        undone.callback(ray.shutdown)
        return
    folder = make_folder("automl-admm-ray")
    undone.callback(remove_tree, folder)
    os.environ[MARK] = mark = secrets.token_hex(8)
    os.environ.setdefault("RAY_AUTH_TOKEN", TOKEN)
    undone.callback(_bury, mark)
    undone.callback(ray.shutdown)
    _start(cpus, work_bytes, folder)


def _connect(address: str) -> None:
    try:
        if address != "auto":
            _knock(address)
        _init(address=address)
    except Exception as problem:
        raise ConfigurationError(
            f"there is no Ray to reach at '{address}': {say_error(problem)}.",
            hint="Start one with `ray start --head`, and give the address that it prints.",
        ) from problem


def _knock(address: str) -> None:
    """Raise OSError or ValueError if nobody listens at an address; Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or "/" in host:
        raise ValueError("an address is HOST:PORT")
    socket.create_connection((host.strip("[]"), int(port)), KNOCK_SECONDS).close()


def _start(cpus: int, work_bytes: int, folder: Path) -> None:
    """Start a Ray of this machine; on a busy machine its first try may take too long for Ray."""
    for left in reversed(range(TRIES)):
        try:
            _init(
                num_cpus=cpus,
                num_gpus=0,
                include_dashboard=False,
                object_store_memory=STORE_BYTES + 2 * work_bytes,
                _temp_dir=str(folder),
                _system_config={"agent_register_timeout_ms": 120_000},
            )
        except Exception as problem:
            _shut_down()
            if not left:
                raise AutomlAdmmError(f"Ray did not start: {say_error(problem)}.") from problem
        else:
            return


def _init(**options: Any) -> None:
    import ray

    with warnings.catch_warnings(), _without_listener():
        warnings.simplefilter("ignore")
        ray.init(configure_logging=False, log_to_driver=False, logging_level="critical", **options)


@contextmanager
def _without_listener() -> Iterator[None]:
    """Keep Ray from printing errors of the cluster, as a node that died, on standard output.

    A thread of the driver prints them. `log_to_driver=False` stops only the lines of workers, and
    Ray has no setting for this thread, so its function is replaced while `ray.init` starts it.
    """
    from ray._private import worker

    listen = worker.listen_error_messages
    worker.listen_error_messages = lambda *_: None
    try:
        yield
    finally:
        worker.listen_error_messages = listen


def _shut_down() -> None:
    import ray

    ray.shutdown()


def _bury(mark: str) -> None:
    """Wait for the end of all processes of a Ray of ours, and kill what does not end."""
    deadline = time.monotonic() + END_SECONDS
    while left := [process for process in psutil.process_iter() if _carries(process, mark)]:
        if time.monotonic() > deadline:
            for process in left:
                process.kill()
        psutil.wait_procs(left, timeout=0.5)


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        is_dead = process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE
        return not is_dead and process.environ().get(MARK) == mark
    except (psutil.Error, OSError):
        return False


def _restore(before: dict[str, str]) -> None:
    """Put the variables back that we or Ray have set."""
    for name in [*os.environ]:
        if name.startswith("RAY_") or name in {MARK, BREAKPOINT}:
            if name in before:
                os.environ[name] = before[name]
            else:
                del os.environ[name]
