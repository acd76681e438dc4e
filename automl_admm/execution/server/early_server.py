"""A fork server started before its work exists: with a program's imports, or beside them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from automl_admm.core.errors import AutomlAdmmError
from automl_admm.execution.quick_imports import import_for_frames, importing
from automl_admm.execution.server.client import ServerProcess, loading_for
from automl_admm.execution.server.fork_server import import_all

# What the first pipelines need. The work imports the rest, while they are fitted.
MODULES = (
    "pandas",
    "cloudpickle",
    "sklearn.compose",
    "sklearn.impute",
    "sklearn.linear_model",
    "sklearn.pipeline",
    "automl_admm.pipelines.work",
    "automl_admm.plugins.loading",
)


class EarlyServer:
    """One server, to be taken once; otherwise it stops with its run.

    A program that `may_fork` imports for both, and the server is a fork of it. Else the server
    imports for itself, while this process reads its data.
    """

    def __init__(self, workers: int, *, may_fork: bool = False) -> None:
        self._workers = workers
        self._server: ServerProcess | None = None
        if may_fork:
            with loading_for(workers), importing(), suppress(ImportError):
                import_all(MODULES)
                import_for_frames()
        with suppress(AutomlAdmmError, OSError):  # an executor that cannot start its own tells it
            self._server = ServerProcess(workers, MODULES, may_fork=may_fork)

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
def started_early(
    executor: str, workers: int, *, may_fork: bool = False
) -> Iterator[EarlyServer | None]:
    """Start a server for a run over pipelines; None if its executor takes none.

    Only a program of our own `may_fork`.
    """
    if executor != "local" or os.name != "posix" or workers < 1:  # which the settings refuse
        yield None
        return
    early = EarlyServer(workers, may_fork=may_fork)
    try:
        yield early
    finally:
        early.close()
