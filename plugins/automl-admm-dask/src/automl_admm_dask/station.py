"""A station of the run in a Dask worker, as a plugin of that worker.

It ends with the worker, when the run says so, and when Dask has dropped the key that the run holds
it by: that happens too if the run is killed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Container
from pathlib import Path
from typing import Any

from distributed.diagnostics.plugin import WorkerPlugin

from automl_admm.plugin_api import Brief, Station, count_cores

UNHELD_SECONDS = 600.0
DROPPED_SECONDS = 5.0


class Lease:
    """The life of a station: it lasts while its worker has data under the key of the run.

    Dask drops the key after the run releases it or is gone. It need not be there at once.
    """

    def __init__(self) -> None:
        self._key: str | None = None
        self._until = time.monotonic() + UNHELD_SECONDS

    def hold(self, key: str) -> None:
        """From now on this is the key."""
        self._until = time.monotonic() + DROPPED_SECONDS
        self._key = key

    def is_held(self, data: Container[str]) -> bool:
        """Return True if the key is in the data, or was a moment ago."""
        now = time.monotonic()
        if self._key is not None and self._key in data:
            self._until = now + DROPPED_SECONDS
        return now < self._until


class DaskStation(WorkerPlugin):  # type: ignore[misc] # Dask has no types for us
    """Opens and closes a station with its worker; `station` runs the jobs.

    They come from the worker's task threads, kills from its event loop.
    """

    station: Station

    def __init__(self, brief: Brief, token: str) -> None:
        self.token = token
        self.lease = Lease()
        self._brief: Brief | None = brief

    def setup(self, worker: Any) -> None:
        """Start serving; called by the worker."""
        brief, self._brief = self._brief, None  # the station has it now, and lets go of it
        assert brief is not None  # noqa: S101 - a worker sets a plugin up once
        scratch = Path(worker.local_directory) / f"automl-admm-{self.token}"
        at_once = _share_of_cores(worker.state.nthreads)
        self.station = Station(brief, scratch, at_once, lambda: self.lease.is_held(worker.data))
        self.station.start()

    def teardown(self, worker: Any) -> None:
        """Ask for the end, without waiting; called by the worker when it closes or is told to."""
        del worker
        self.station.close()


def _share_of_cores(tasks: int) -> int:
    """Return the number of evaluations that share the cores, each with a Dask task's threads."""
    cores = count_cores()
    given = os.environ.get("OMP_NUM_THREADS", "")
    threads = int(given) if given.isdecimal() else cores // tasks
    return max(cores // max(threads, 1), 1)
