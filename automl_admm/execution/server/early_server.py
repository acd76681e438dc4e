"""A fork server started before its work exists: it imports while the data are read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.execution.server.client import ServerProcess
from automl_admm.execution.skops_import import SKOPS

# What any pipeline of scikit-learn needs. Components import what is theirs alone.
MODULES = (
    "pandas",
    "cloudpickle",
    "sklearn.ensemble",
    "sklearn.linear_model",
    "sklearn.neighbors",
    "sklearn.svm",
    "sklearn.pipeline",
    "automl_admm.pipelines.work",
    "automl_admm.plugins.loading",
)


class EarlyServer:
    """One server, to be taken once; otherwise it stops with its run."""

    def __init__(self, workers: int, *, saves: bool) -> None:
        self._workers = workers
        self._server: ServerProcess | None = None
        with suppress(AutomlAdmmError, OSError):  # an executor that cannot start its own tells it
            self._server = ServerProcess(workers, (*MODULES, SKOPS) if saves else MODULES)

    def take(self, workers: int) -> ServerProcess | None:
        """Hand out the server, to be stopped by the caller; None for another number of workers."""
        # Threads are counted out when libraries load, so another number needs another server.
        if workers != self._workers:
            return None
        server, self._server = self._server, None
        return server

    def close(self) -> None:
        """Stop it if nobody took it."""
        server = self.take(self._workers)
        if server is not None:
            server.stop()


@contextmanager
def started_early(executor: str, workers: int, *, saves: bool) -> Iterator[EarlyServer | None]:
    """Start a server for a run over pipelines; None if its executor takes none.

    For a run that `saves` its model it imports skops as well.
    """
    if executor != "local" or os.name != "posix" or workers < 1:  # which the settings refuse
        yield None
        return
    early = EarlyServer(workers, saves=saves)
    try:
        yield early
    finally:
        early.close()
