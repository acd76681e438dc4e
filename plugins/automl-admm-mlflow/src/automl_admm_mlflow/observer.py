"""The observer that logs a run while it goes on."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from automl_admm.plugin_api import Evaluation, RunInfo, RunResult
from automl_admm_mlflow.clerk import Clerk, hush
from automl_admm_mlflow.places import clerks_of, forget, place_of

if TYPE_CHECKING:
    from automl_admm_mlflow.tracking import Tracker

# A run waits this long at its end for the last entries; after its budget hardly at all.
SHORT, LONG = 0.5, 30.0


class MlflowObserver:
    """Logs runs as MLflow runs, from a thread of its own; no failure of a server harms them.

    In Python: `AutoMLClassifier(callbacks=[MlflowObserver("sqlite:///mlflow.db")])`. Without a
    `tracking_uri` or an `experiment` those of the environment count, as everywhere in MLflow.
    """

    def __init__(self, tracking_uri: str | None = None, experiment: str | None = None) -> None:
        self._uri = tracking_uri
        self._experiment = experiment
        self._open: dict[int, _Logged] = {}
        self._clerks: list[Clerk] = []

    def run_started(self, info: RunInfo) -> None:
        """Open an MLflow run, unless another observer has one there."""
        place, clerks = place_of(self._uri, self._experiment), clerks_of(info)
        if place in clerks:
            self._clerks.append(clerks[place])
            return
        clerks[place] = clerk = Clerk(f"run '{info.title}'")
        self._clerks.append(clerk)
        self._open[id(info)] = logged = _Logged(clerk, self._uri, self._experiment)
        clerk.do(partial(logged.begin, info))

    def evaluation_finished(self, info: RunInfo, evaluation: Evaluation) -> None:
        """Log an evaluation as a nested run."""
        if id(info) in self._open:
            self._open[id(info)].add(evaluation)

    def run_finished(self, info: RunInfo, result: RunResult) -> None:
        """Log the winner, and close the MLflow run."""
        logged = self._open.pop(id(info), None)
        forget(info)
        if logged is not None:
            logged.finish(result)
            logged.clerk.wait(_patience(info))

    def wait(self, seconds: float = LONG) -> bool:
        """Wait until everything is logged; return False if it is not by then."""
        end = time.monotonic() + seconds
        return all(clerk.wait(max(end - time.monotonic(), 0.0)) for clerk in self._clerks)


class _Logged:
    """A run that is being logged; its tracker is there as soon as the server has answered."""

    def __init__(self, clerk: Clerk, uri: str | None, experiment: str | None) -> None:
        self.clerk = clerk
        self._uri = uri
        self._experiment = experiment
        self._tracker: Tracker | None = None

    def begin(self, info: RunInfo) -> None:
        # The import takes seconds, and the run goes on meanwhile.
        from automl_admm_mlflow.tracking import Tracker

        hush()
        self._tracker = Tracker.begin(info, self._uri, self._experiment)
        for evaluation in info.known:
            self._tracker.add(evaluation)

    def add(self, evaluation: Evaluation) -> None:
        self.clerk.do(lambda: self._there.add(evaluation))

    def finish(self, result: RunResult) -> None:
        best, feasible = result.best, result.feasible
        self.clerk.do(lambda: self._there.finish(best, feasible=feasible))

    @property
    def _there(self) -> Tracker:
        if self._tracker is None:
            raise RuntimeError("it was never begun")
        return self._tracker


def _patience(info: RunInfo) -> float:
    """Return the seconds to wait at the end of a run, when its budget, if any, is over."""
    return LONG if info.budget_seconds is None else SHORT
