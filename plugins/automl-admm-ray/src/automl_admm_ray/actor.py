"""The actor of a run on a node: a station, and its name for Ray."""

from __future__ import annotations

import os

from automl_admm.plugin_api import Answer, Brief, Job, Station, count_cores, installed_versions
from automl_admm_ray.own_folders import make_folder

OWN = "automl-admm-ray"


class StationActor:
    """Runs jobs of one run on its node, as many at a time as Ray calls it.

    Ray kills it with the run; its fork server then kills the evaluations and ends.
    """

    def __init__(self, brief: Brief, at_once: int, cpus: int) -> None:
        self._packages = (OWN, *brief.plugins, *brief.libraries)
        self._folder = make_folder("automl-admm-station")
        workers = max(at_once, count_cores() // cpus)
        self._station = Station(brief, self._folder / "scratch", workers)
        self._station.start()

    def introduce(self) -> tuple[int, dict[str, str | None]]:
        """Return the number of this process, and the versions of its packages."""
        return os.getpid(), dict(installed_versions(*self._packages))

    def run(self, job: Job) -> Answer:
        """Do a job."""
        return self._station.run(job)

    def kill(self, name: str) -> None:
        """Kill a job, or keep it from starting."""
        self._station.kill(name)

    def close(self) -> None:
        """End the station, and wait until nothing of it is left."""
        self._station.close()
        self._station.join()
        self._folder.rmdir()
