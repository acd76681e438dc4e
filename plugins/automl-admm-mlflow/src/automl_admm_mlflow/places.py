"""Servers and experiments, and the runs that are being logged there now."""

from __future__ import annotations

import os

from automl_admm.plugin_api import RunInfo
from automl_admm_mlflow.clerk import Clerk

TRACKING_URI, EXPERIMENT_NAME = "MLFLOW_TRACKING_URI", "MLFLOW_EXPERIMENT_NAME"
EXPERIMENT = "automl-admm"

Place = tuple[str | None, str]
# A run by its id, which no other has as long as the run is kept here.
_LOGGED: dict[int, tuple[RunInfo, dict[Place, Clerk]]] = {}


def place_of(uri: str | None, experiment: str | None) -> Place:
    """Return a server and an experiment, by default those of the environment."""
    return uri or os.environ.get(TRACKING_URI), experiment_of(experiment)


def experiment_of(name: str | None) -> str:
    """Return the name of an experiment, by default that of the environment."""
    return name or os.environ.get(EXPERIMENT_NAME) or EXPERIMENT


def clerks_of(info: RunInfo) -> dict[Place, Clerk]:
    """Return the clerks that log a run, to be added to; it counts as logged from here on."""
    return _LOGGED.setdefault(id(info), (info, {}))[1]


def is_logged(info: RunInfo) -> bool:
    """Return True if an observer logs this run now."""
    return id(info) in _LOGGED


def forget(info: RunInfo) -> None:
    """Count a run that has finished as logged no more."""
    _LOGGED.pop(id(info), None)
