"""The way to the workers of a Dask cluster, the user's or one for this run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from automl_admm.plugin_api import (
    AutomlAdmmError,
    Brief,
    ConfigurationError,
    ExecutorSetting,
    Job,
    Place,
)
from automl_admm_dask.clusters import OwnCluster, connect
from automl_admm_dask.crew import REPLY_SECONDS, Crew, Event
from automl_admm_dask.quiet import Silence

STOP_SECONDS = 20.0
LARGEST_WORK = 2_000_000_000


class DaskTransport:
    """Carries jobs to the workers of a scheduler; without an address it starts a cluster."""

    def __init__(self, address: str | None, setting: ExecutorSetting, patience: float) -> None:
        self._address = address
        self._setting = setting
        self._patience = patience
        self._opened = ExitStack()

    @property
    def cluster(self) -> str:
        """The cluster by its address."""
        return f"the Dask cluster at {self._address}"

    @property
    def remedy(self) -> str:
        """The command that starts a worker."""
        return f"Start one: dask worker {self._address}"

    def open(self, brief: Brief, scratch: Path, tell: Callable[[Event], None]) -> None:
        """Connect to the scheduler, and watch over its workers."""
        if len(brief.work) > LARGEST_WORK:
            raise ConfigurationError(
                f"the work is too large for Dask: {len(brief.work) / 1e9:.1f} GB of at most 2.",
                hint="Use the executor 'local'.",
            )
        self._opened.callback(Silence().end)
        if self._address is None:
            own = OwnCluster(self._setting.workers, scratch, self._patience)
            self._opened.callback(own.close)
            self._address = own.address
        self._client = connect(self._address)
        self._opened.callback(self._hang_up)
        self._crew = Crew(self._client, brief, tell)
        self._client.sync(self._crew.start)
        self._opened.callback(self._stop)

    def submit(self, place: Place, job: Job) -> None:
        """Send a job to a worker."""
        self._crew.submit(place, job)

    def kill(self, place: Place, job: Job) -> None:
        """Kill a job on its worker."""
        self._crew.kill(place, job)

    def check(self) -> None:
        """Raise if the scheduler is gone."""
        if self._client.status != "running":
            raise AutomlAdmmError(f"the Dask scheduler at {self._address} is gone.")

    def close(self) -> None:
        """Close all stations and the connection; a cluster of our own ends."""
        self._opened.close()

    def _stop(self) -> None:
        """Close the stations; if the scheduler is gone, their workers see that by themselves."""
        if self._client.status == "running":
            patience = self._setting.patience(REPLY_SECONDS)
            try:
                self._client.sync(self._crew.stop, patience, callback_timeout=2 * patience)
            except (OSError, TimeoutError):
                return

    def _hang_up(self) -> None:
        self._client.close(timeout=self._setting.patience(STOP_SECONDS))
