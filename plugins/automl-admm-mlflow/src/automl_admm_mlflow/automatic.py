"""The observer of the installed plugin, for runs that the program itself does not log."""

from __future__ import annotations

import os

from automl_admm.plugin_api import Evaluation, RunInfo, RunResult
from automl_admm_mlflow.observer import MlflowObserver
from automl_admm_mlflow.places import TRACKING_URI, is_logged


class Automatic:
    """Logs a run if MLFLOW_TRACKING_URI is set at its start, and no other observer logs it."""

    def __init__(self) -> None:
        self._observer = MlflowObserver()
        self._waiting: dict[int, RunInfo] = {}

    def run_started(self, info: RunInfo) -> None:
        """Remember the run: plugins hear of its start before the observers of the program."""
        if os.environ.get(TRACKING_URI):
            self._waiting[id(info)] = info

    def evaluation_started(self, info: RunInfo) -> None:
        """Begin to log, at the first event after the start."""
        if self._waiting.pop(id(info), None) is not None and not is_logged(info):
            self._observer.run_started(info)

    def evaluation_finished(self, info: RunInfo, evaluation: Evaluation) -> None:
        """Log an evaluation, if the start of its run was logged."""
        self.evaluation_started(info)
        self._observer.evaluation_finished(info, evaluation)

    def run_finished(self, info: RunInfo, result: RunResult) -> None:
        """Log the winner, if the start of its run was logged."""
        self.evaluation_started(info)
        self._observer.run_finished(info, result)
