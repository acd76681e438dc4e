"""Work of the run in a Dask worker: calls out of band, and tasks.

A station is found among the worker's plugins. It is known by the name of the run, and by a token:
a worker that was started again at the same address is another one.
"""

from __future__ import annotations

import asyncio
from typing import Any

from distributed import get_worker

from automl_admm.plugin_api import Answer, Brief, Job
from automl_admm_dask.station import DaskStation


class StationGoneError(Exception):
    """The worker at this address was started again, and has lost its station."""


async def open_station(brief: Brief, token: str, dask_worker: Any) -> None:
    """Out of band: start a station; it is closed with the worker at the latest."""
    station = DaskStation(brief, token)
    await dask_worker.plugin_add(station, name=_name(brief.run), catch_errors=False)


async def close_station(run: str, dask_worker: Any) -> None:
    """Out of band: end the station of a run, and wait until nothing of it is left."""
    plugin = dask_worker.plugins.get(_name(run))
    if plugin is not None:
        await dask_worker.plugin_remove(name=_name(run))
        await asyncio.to_thread(plugin.station.join)


async def kill_job(run: str, name: str, dask_worker: Any) -> None:
    """Out of band: kill a job, or keep it from starting."""
    plugin = dask_worker.plugins.get(_name(run))
    if plugin is not None:
        plugin.station.kill(name)


def hold_station(run: str, token: str) -> None:
    """As a task: the station lives as long as the result of this is wanted."""
    _plugin(run, token).lease.hold(get_worker().get_current_task())


def do_job(run: str, token: str, job: Job) -> Answer:
    """As a task: do a job at its station, if that is still the same."""
    return _plugin(run, token).station.run(job)


def _name(run: str) -> str:
    return f"automl-admm-{run}"


def _plugin(run: str, token: str) -> DaskStation:
    found = get_worker().plugins.get(_name(run))
    if isinstance(found, DaskStation) and found.token == token and not found.station.is_over:
        return found
    raise StationGoneError
