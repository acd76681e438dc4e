"""The workers of the cluster as the run sees them; everything here happens in the client's loop.

Every worker, early or late, is checked, given the work once, and announced. A job is a Dask task
bound to its worker: Dask never repeats it elsewhere without our knowing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from typing import Any

from distributed import Client, Future
from distributed.versions import get_versions

from automl_admm.plugin_api import (
    Answer,
    AutomlAdmmError,
    Brief,
    Ended,
    Heard,
    Job,
    Joined,
    Left,
    Place,
    Refused,
    explain_difference,
    installed_versions,
    say_error,
)
from automl_admm_dask.remote import (
    StationGoneError,
    close_station,
    do_job,
    hold_station,
    kill_job,
    open_station,
)

LOOK_SECONDS = 0.5
REPLY_SECONDS = 10.0
FIRST = 1_000
OWN = "automl-admm-dask"
Event = Joined | Left | Refused | Heard | Ended


class Crew:
    """Watches over the workers and hands them jobs; `tell` receives all events."""

    def __init__(self, client: Client, brief: Brief, tell: Callable[[Event], None]) -> None:
        self._client = client
        self._brief = brief
        self._tell = tell
        self._known: set[str] = set()
        self._places: dict[str, Place] = {}
        self._holds: dict[str, Future] = {}
        self._jobs: dict[str, tuple[Place, asyncio.Task[None]]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._is_over = False

    async def start(self) -> None:
        """Begin to watch."""
        self._spawn(self._watch())

    def submit(self, place: Place, job: Job) -> None:
        """Hand a job to a worker; from any thread."""
        self._client.loop.add_callback(self._begin, place, job)

    def kill(self, place: Place, job: Job) -> None:
        """Kill a job; from any thread. It ends as usual, and soon."""
        call = _call(self._client, place.name, kill_job, self._brief.run, job.name)
        self._client.loop.add_callback(lambda: self._spawn(_ignored(call)))

    async def stop(self, patience: float) -> None:
        """Close all stations; a worker that is silent for so long finds out by itself."""
        self._is_over = True  # `wait_for` of Python 3.11 may swallow a cancellation
        tasks = [*self._others, *(task for _, task in self._jobs.values())]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        closing = [
            _ignored(_call(self._client, address, close_station, self._brief.run, within=patience))
            for address in self._known
        ]
        await asyncio.gather(*closing)
        for future in self._holds.values():
            future.release()

    async def _watch(self) -> None:
        while not self._is_over:
            with suppress(OSError):
                found = await asyncio.wait_for(self._client.scheduler.identity(), REPLY_SECONDS)
                self._compare(found["workers"])
                self._tell(Heard())
            await asyncio.sleep(LOOK_SECONDS)

    def _compare(self, workers: Mapping[str, Mapping[str, Any]]) -> None:
        """Compare the present workers with the known ones."""
        for place in list(self._places.values()):
            if place.name not in workers:
                self._lose(place)
        self._known &= set(workers)
        new = {a: int(w["nthreads"]) for a, w in workers.items() if a not in self._known}
        if new:
            self._known |= set(new)
            self._spawn(self._enrol(new))

    def _lose(self, place: Place) -> None:
        """Strike a worker out; its jobs end as lost."""
        if self._places.get(place.name) != place:
            return
        del self._places[place.name]
        self._holds.pop(place.name).release()
        self._tell(Left(place))
        for other, task in list(self._jobs.values()):
            if other == place:
                task.cancel()

    async def _enrol(self, threads: Mapping[str, int]) -> None:
        """Check new workers, and send the work to all suitable ones at once."""
        token = secrets.token_hex(8)
        found = await asyncio.gather(
            *(_inspect(self._client, address, self._brief) for address in threads)
        )
        reasons = dict(zip(threads, found, strict=True))
        fit = [address for address, reason in reasons.items() if reason is None]
        if fit:
            answers = await self._client.run(
                open_station, self._brief, token, workers=fit, on_error="return"
            )
            reasons |= {address: answers.get(address, OSError()) for address in fit}
        for address, reason in reasons.items():
            if reason is None:
                self._spawn(self._hold(Place(address, threads[address], token)))
            elif isinstance(reason, OSError):
                self._known.discard(address)  # it left or was too busy, and is looked at again
            else:
                self._tell(Refused(address, _describe(reason)))

    async def _hold(self, place: Place) -> None:
        """Keep a station open by a key; Dask drops it when this client is gone."""
        key = f"automl-admm-station-{place.token}-{place.name}"
        call = (hold_station, self._brief.run, place.token)
        hold = _submit(self._client, place, *call, key=key, priority=FIRST)
        self._holds[place.name] = hold
        self._places[place.name] = place
        try:
            await hold
        except Exception:  # noqa: BLE001 - it is gone; if it came back, it is looked at again
            self._lose(place)
            self._known.discard(place.name)
            return
        self._tell(Joined(place))

    def _begin(self, place: Place, job: Job) -> None:
        if self._places.get(place.name) != place:
            answer = Answer.lost(job.number, f"worker {place.name} was lost")
            self._tell(Ended(job.name, answer))
            return
        self._jobs[job.name] = (place, asyncio.ensure_future(self._do(place, job)))

    async def _do(self, place: Place, job: Job) -> None:
        key = f"automl-admm-{job.method}-{job.name}"
        call = (do_job, self._brief.run, place.token, job)
        future = _submit(self._client, place, *call, key=key)
        try:
            answer = await future
        except StationGoneError:
            answer = Answer.lost(job.number, f"worker {place.name} was started again")
            self._lose(place)
            self._known.discard(place.name)  # so that it is looked at anew
        except asyncio.CancelledError:
            answer = Answer.lost(job.number, f"worker {place.name} was lost")
        except Exception as problem:  # noqa: BLE001 - Dask's own, or what cannot be unpickled here
            answer = Answer.lost(job.number, f"worker {place.name}: {_describe(problem)}")
        finally:
            future.release()
            del self._jobs[job.name]
        self._tell(Ended(job.name, answer))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)


def _submit(client: Client, place: Place, *call: Any, **options: Any) -> Future:
    """Submit a Dask task bound to one worker."""
    where = {"workers": [place.name], "allow_other_workers": False}
    return client.submit(*call, pure=False, **where, **options)


async def _call(
    client: Client,
    address: str,
    function: Callable[..., Any],
    *arguments: Any,
    within: float = REPLY_SECONDS,
) -> Any:
    """Call a function in a worker out of band; return its exception, if it raises."""
    call = client.run(function, *arguments, workers=[address], on_error="return")
    answers = await asyncio.wait_for(call, within)
    return answers.get(address, OSError("it left"))


async def _inspect(client: Client, address: str, brief: Brief) -> Exception | None:
    """Return the reason against a worker; None if it can be used."""
    here = installed_versions(OWN, *brief.plugins, *brief.libraries)
    try:
        # A function of Dask: one of ours could not be loaded where our packages are missing.
        there = await _call(client, address, get_versions, list(here))
    except TimeoutError as problem:
        return problem
    if isinstance(there, Exception):
        return there
    difference = explain_difference(here, _read(there), brief.libraries)
    return None if difference is None else AutomlAdmmError(difference)


async def _ignored(call: Coroutine[Any, Any, Any]) -> None:
    """Make a call, though its worker may be gone."""
    with suppress(OSError):
        await call


def _describe(problem: BaseException) -> str:
    if isinstance(problem, AutomlAdmmError):
        return problem.message
    return say_error(problem)


def _read(found: Mapping[str, Any]) -> dict[str, str | None]:
    """Return an answer of Dask's in the form of `installed_versions`."""
    python = ".".join(found["host"]["python"].split(".")[:2])
    return {**found["packages"], "Python": python}
