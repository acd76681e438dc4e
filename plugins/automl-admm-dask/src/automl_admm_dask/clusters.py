"""The cluster of a run: the user's, found by its address, or one of this machine for this run."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from distributed import Client, Security, rpc
from distributed.versions import VersionMismatchWarning

from automl_admm.plugin_api import (
    AutomlAdmmError,
    ConfigurationError,
    remove_tree,
    threads_each,
    wait_readable,
)

CONNECT_SECONDS = 5.0
START_SECONDS = 60.0
STOP_SECONDS = 15.0
SHOWN_LOG = 300
# Not by multiprocessing from here: that would import the user's script again.
BOOT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from automl_admm_dask.own_cluster import main; main()"
)


def connect(address: str) -> Client:
    """Return a client of the scheduler at an address, without making it Dask's default."""
    with ThreadPoolExecutor(1) as thread:  # a loop may run in this one, as in a notebook
        found = thread.submit(lambda: asyncio.run(_ask_who(address))).result()
    if found != "Scheduler":
        what = "no Dask scheduler to reach" if found is None else f"a {found}, no Dask scheduler,"
        raise ConfigurationError(
            f"there is {what} at '{address}'.",
            hint="Start one with `dask scheduler`, and give the address that it prints.",
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)  # ours is more exact
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)


async def _ask_who(address: str) -> str | None:
    """Return the kind of Dask process at an address; None if there is none."""
    try:
        async with rpc(address, connection_args=Security().get_connection_args("client")) as server:
            found = await asyncio.wait_for(server.identity(), CONNECT_SECONDS)
    except Exception:  # noqa: BLE001 - who speaks another language there may be misread as anything
        return None
    return str(found.get("type"))


class OwnCluster:
    """A scheduler and its workers in processes of their own, on this machine's loopback.

    They end when this process closes its end of a pipe, or is gone. The address of the scheduler is
    waited for `START_SECONDS`, or `patience` seconds if they are more.
    """

    def __init__(self, workers: int, scratch: Path, patience: float) -> None:
        self._seconds = max(START_SECONDS, patience)
        self._log, self._folder = scratch / "cluster.log", scratch / "cluster"
        threads = threads_each(workers)
        setting = {"workers": workers, "threads": threads, "scratch": str(self._folder)}
        path = [str(entry) or str(Path.cwd()) for entry in sys.path]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, our own module
                [*_python(), json.dumps(path), json.dumps(setting)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )
        try:
            self.address = self._read_address()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Hang up, and wait until all is gone."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)  # multiprocessing has helpers of its own
        self._log.unlink(missing_ok=True)
        remove_tree(self._folder)

    def _read_address(self) -> str:
        output = self._process.stdout
        if output is None or not wait_readable([output.fileno()], self._seconds):
            raise AutomlAdmmError(
                f"the local Dask cluster did not start: no scheduler within {self._seconds:g} s.",
                hint=f"Wait longer by the option patience={2 * self._seconds:g} of the executor.",
            )
        if line := output.readline().decode().strip():
            return line
        shown = self._log.read_text(errors="replace").strip()[-SHOWN_LOG:]
        last = shown.splitlines()[-1:] or [f"its process ended with code {self._process.wait()}"]
        raise AutomlAdmmError(f"the local Dask cluster did not start: {last[0]}.")


def _python() -> Sequence[str]:
    return (sys.executable, "-P", "-W", "ignore", "-c", BOOT)
