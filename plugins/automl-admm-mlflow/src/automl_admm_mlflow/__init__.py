"""MLflow for automl-admm: runs as MLflow runs, while they go on or later, and their models."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

from automl_admm.plugin_api import (
    Evaluation,
    ExporterPlugin,
    RunInfo,
    RunResult,
    SavedRun,
    hookimpl,
)
from automl_admm_mlflow.automatic import Automatic
from automl_admm_mlflow.observer import MlflowObserver

__all__ = ["MlflowObserver", "exporters", "log_run", "save_model"]


def log_run(run: SavedRun, tracking_uri: str, experiment: str | None = None) -> str:
    """Log a run of `read_run` as an MLflow run, new or brought up to date; return its id."""
    from automl_admm_mlflow.tracking import log_saved_run

    return log_saved_run(run, tracking_uri, experiment)


def save_model(folder: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Save the model of a run folder as an MLflow model, for `mlflow.pyfunc.load_model`."""
    from automl_admm_mlflow.model import save_model as save

    save(folder, path)


def _write(run: SavedRun, target: str) -> str:
    return f"{target}: logged as the MLflow run {log_run(run, target)}"


@hookimpl
def exporters() -> Iterator[ExporterPlugin]:
    """Provide runs as MLflow runs."""
    yield ExporterPlugin(
        name="mlflow",
        summary="a run of MLflow, its evaluations nested in it, with the model",
        target="sqlite:///mlflow.db",
        write=_write,
    )


@cache
def _automatic() -> Automatic:
    return Automatic()


@hookimpl
def run_started(info: RunInfo) -> None:
    """Hear of a run; an installed plugin alone logs nothing."""
    _automatic().run_started(info)


@hookimpl
def evaluation_started(info: RunInfo) -> None:
    """Begin to log, if MLFLOW_TRACKING_URI is set and no observer of the program logs the run."""
    _automatic().evaluation_started(info)


@hookimpl
def evaluation_finished(info: RunInfo, evaluation: Evaluation) -> None:
    """Log an evaluation, if the start of its run was logged."""
    _automatic().evaluation_finished(info, evaluation)


@hookimpl
def run_finished(info: RunInfo, result: RunResult) -> None:
    """Log the winner, if the start of its run was logged."""
    _automatic().run_finished(info, result)
