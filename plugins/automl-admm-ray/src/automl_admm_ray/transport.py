"""The way to the nodes of a Ray: an actor on each, and the work placed there once."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from automl_admm.plugin_api import (
    Answer,
    AutomlAdmmError,
    Brief,
    Ended,
    ExecutorSetting,
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
from automl_admm_ray.actor import OWN, StationActor
from automl_admm_ray.connection import CONNECTION

LOOK_SECONDS = 0.5
CLOSE_SECONDS = 15.0
SPARE = 4  # calls at a time beside jobs: to kill one, to close
Event = Joined | Left | Refused | Heard | Ended


class RayTransport:
    """Has an actor on each node of the Ray of this process, and calls it for each job."""

    def __init__(self, address: str | None, setting: ExecutorSetting, cpus: int) -> None:
        self._address = address
        self._setting = setting
        self._cpus = cpus
        self._opened = ExitStack()
        self._lock = threading.Lock()
        self._actors: dict[str, tuple[Place, Any]] = {}
        self._refused: set[str] = set()
        self._is_over = threading.Event()

    @property
    def cluster(self) -> str:
        """The Ray by its address."""
        return "the Ray of this run" if self._address is None else f"the Ray at {self._address}"

    @property
    def remedy(self) -> str:
        """Advice on nodes."""
        return "Is there a node with free CPUs? `ray status` lists them."

    def open(self, brief: Brief, scratch: Path, tell: Callable[[Event], None]) -> None:
        """Connect, place the work in Ray's store, and watch over the nodes."""
        del scratch
        self._tell = tell
        cpus = self._setting.workers * self._cpus
        self._opened.enter_context(CONNECTION.to(self._address, cpus, len(brief.work)))
        import ray

        self._brief = ray.put(brief)
        watch = threading.Thread(target=self._watch, name="automl-admm-ray", daemon=True)
        watch.start()
        self._opened.callback(self._stop, watch)

    def submit(self, place: Place, job: Job) -> None:
        """Call the actor of a node."""
        with self._lock:
            here, actor = self._actors.get(place.name, (None, None))
        if here != place or actor is None:
            self._tell(Ended(job.name, Answer.lost(job.number, f"node {place.name} was lost")))
            return
        call: Future[Answer] = actor.run.remote(job).future()
        call.add_done_callback(partial(self._end, place, job))

    def kill(self, place: Place, job: Job) -> None:
        """Have the actor of a node kill a job."""
        with self._lock:
            here, actor = self._actors.get(place.name, (None, None))
        if here == place and actor is not None:
            actor.kill.remote(job.name)

    def check(self) -> None:
        """Raise if somebody has shut Ray down."""
        import ray

        if not ray.is_initialized():
            raise AutomlAdmmError(f"{self.cluster} was shut down.")

    def close(self) -> None:
        """End all actors; a Ray of our own ends."""
        self._opened.close()

    def _watch(self) -> None:
        import ray

        while not self._is_over.is_set():
            with suppress(Exception):  # then nothing is heard, and the run ends if it lasts
                nodes = {node["NodeID"]: node for node in ray.nodes() if node["Alive"]}
                self._compare(nodes)
                self._tell(Heard())
            self._is_over.wait(LOOK_SECONDS)

    def _compare(self, nodes: Mapping[str, Mapping[str, Any]]) -> None:
        """Open a station on each new node, and strike lost ones out."""
        for node in self._actors.keys() - nodes.keys():
            self._lose(self._actors[node][0])
        for node, found in nodes.items():
            at_once = int(found["Resources"].get("CPU", 0)) // self._cpus
            if at_once and node not in self._actors and node not in self._refused:
                self._enrol(Place(node, at_once, secrets.token_hex(8)))

    def _enrol(self, place: Place) -> None:
        """Start the actor of a node; what it has of the node's CPUs, others on it have not."""
        import ray
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        reserved = 0 if self._address is None else place.at_once * self._cpus
        actor = (
            ray.remote(StationActor)
            .options(
                num_cpus=reserved,
                max_concurrency=place.at_once + SPARE,
                max_restarts=0,
                scheduling_strategy=NodeAffinitySchedulingStrategy(place.name, soft=False),
            )
            .remote(self._brief, place.at_once, self._cpus)
        )
        with self._lock:
            self._actors[place.name] = (place, actor)
        actor.introduce.remote().future().add_done_callback(partial(self._greet, place))

    def _greet(self, place: Place, call: Future[tuple[int, dict[str, str | None]]]) -> None:
        """Take a node whose packages are ours."""
        try:
            _, versions = call.result()
            reason = self._explain(versions)
        except Exception as problem:  # noqa: BLE001 - Ray's own, or that of an import there
            reason = say_error(problem)
        if reason is None:
            self._tell(Joined(place))
        elif not self._is_over.is_set():
            self._refused.add(place.name)
            self._tell(Refused(place.name, reason))

    def _explain(self, versions: Mapping[str, str | None]) -> str | None:
        """Return the difference of a node's packages from ours; None if there is none."""
        shared = self._setting
        here = installed_versions(OWN, *shared.plugins, *shared.libraries)
        return explain_difference(here, versions, shared.libraries)

    def _end(self, place: Place, job: Job, call: Future[Answer]) -> None:
        """Tell the end of a job; an actor that is gone is replaced by the next look."""
        from ray.exceptions import RayActorError

        try:
            answer = call.result()
        except RayActorError:
            answer = Answer.lost(job.number, f"the worker on node {place.name} was lost")
            self._lose(place)
        except Exception as problem:  # noqa: BLE001 - Ray's own, or what cannot be unpickled here
            answer = Answer.lost(job.number, f"node {place.name}: {say_error(problem)}")
        self._tell(Ended(job.name, answer))

    def _lose(self, place: Place) -> None:
        with self._lock:
            if self._actors.get(place.name, (None, None))[0] != place:
                return
            del self._actors[place.name]
        self._tell(Left(place))

    def _stop(self, watch: threading.Thread) -> None:
        """Close the stations, then kill the actors: nothing of theirs is left on the nodes."""
        import ray

        self._is_over.set()
        patience = self._setting.patience(CLOSE_SECONDS)
        watch.join(patience)
        with self._lock:
            actors = [actor for _, actor in self._actors.values()]
            self._actors.clear()
        with suppress(Exception):  # a node that does not answer sees by itself that the run ends
            ray.wait(
                [actor.close.remote() for actor in actors],
                num_returns=len(actors),
                timeout=patience,
            )
        for actor in actors:
            with suppress(Exception):
                ray.kill(actor)
        del self._brief
