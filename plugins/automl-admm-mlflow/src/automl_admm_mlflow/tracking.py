"""Entries of a run in MLflow: one run for all, one nested in it for each evaluation."""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mlflow.entities import Metric, Param, Run, RunTag
from mlflow.tracking import MlflowClient

from automl_admm.plugin_api import Evaluation, RunInfo, RunState, SavedRun
from automl_admm_mlflow.entries import (
    TAGS,
    best_metrics,
    metrics_of,
    params_of,
    settings_of,
    short,
    tags_of,
    winner_tags,
)
from automl_admm_mlflow.found_run import IDENTITY, MARK, PARENT, find_run, mark_of
from automl_admm_mlflow.model import save_model
from automl_admm_mlflow.places import experiment_of

CERTIFICATE = "certificate"
# The tags of a run's end; any other is the user's.
OF_END = {"model", CERTIFICATE, *(f"best_{name}" for name in TAGS)}
FILES = (
    *("run.json", "grammar.lark", "model.json", "pipeline.py"),
    *("certificate.json", "report.html", "report.json"),
)


@dataclass
class Tracker:
    """Writes the entries of one run; `begun` are nested runs that a failure left open."""

    client: MlflowClient
    run: Run
    info: RunInfo
    logged: frozenset[str]
    begun: Mapping[str, str]

    @classmethod
    def begin(cls, info: RunInfo, uri: str | None, experiment: str | None) -> Tracker:
        """Open the MLflow run of a run: a new one, or the one that its log had."""
        client = _silent(MlflowClient(tracking_uri=uri))
        name = experiment_of(experiment)
        found = client.get_experiment_by_name(name)
        number = client.create_experiment(name) if found is None else found.experiment_id
        before = find_run(client, number, info, _identity(info))
        if before is None:
            run = client.create_run(number, run_name=_title(info), tags=_tags_of_run(info))
            tracker = cls(client, run, info, frozenset(), {})
        else:
            client.update_run(before.run.info.run_id, status="RUNNING")
            # Any other number is given again.
            known = {mark_of(one) for one in info.known}
            nested = {mark: one.info for mark, one in before.nested.items() if mark in known}
            logged = frozenset(mark for mark, one in nested.items() if one.status != "RUNNING")
            begun = {mark: one.run_id for mark, one in nested.items() if mark not in logged}
            tracker = cls(client, before.run, info, logged, begun)
        # A parameter cannot be changed, not even in the order of its limits.
        there = tracker.run.data.params
        settings = {name: it for name, it in settings_of(info).items() if name not in there}
        tracker._log(tracker.run.info.run_id, params=settings)
        return tracker

    def add(self, evaluation: Evaluation) -> None:
        """Log an evaluation: a nested run, and a step of the whole run's metrics."""
        mark, step = mark_of(evaluation), evaluation.number
        if mark in self.logged:
            return
        ended = _now() if evaluation.ended is None else int(evaluation.ended * 1000)
        nested = self.begun.get(mark) or self._nest(evaluation, ended)
        metrics = metrics_of(evaluation, self.info)
        self._log(nested, metrics, params_of(evaluation, self.info), step=step)
        self._log(self.run.info.run_id, metrics, step=step)
        # The last call: after a failure before it, an export logs all of this once more.
        status = "FINISHED" if evaluation.ok else "FAILED"
        self.client.set_terminated(nested, status=status, end_time=ended)
        self.logged |= {mark}

    def _nest(self, evaluation: Evaluation, ended: int) -> str:
        """Open the nested run of an evaluation, and return its id."""
        mark = mark_of(evaluation)
        run = self.client.create_run(
            self.run.info.experiment_id,
            start_time=ended - int(evaluation.seconds * 1000),
            tags={PARENT: self.run.info.run_id, MARK: mark, **tags_of(evaluation, self.info)},
            run_name=short(f"{evaluation.number} {evaluation.text}", 200),
        )
        return str(run.info.run_id)

    def finish(self, best: Evaluation | None, *, feasible: bool, status: str = "FINISHED") -> None:
        """Log the winner with its limits, the files of the run's folder, and its model."""
        own, folder = self.run.info.run_id, self.info.folder
        tags = winner_tags(best, self.info, feasible=feasible)
        found = {} if best is None else metrics_of(best, self.info)
        metrics = {f"best_{name}": value for name, value in found.items()}
        self._log(own, self._stale_metrics() | metrics)
        if folder is not None:
            tags |= _certified(folder) | _shipped(folder)
            for name in FILES:
                if (folder / name).exists():
                    self.client.log_artifact(own, str(folder / name))
            self._log_model(folder)
        tags |= self._withdraw(tags)
        self._log(own, tags=tags)
        self.client.set_terminated(own, status=status)

    def _withdraw(self, tags: Mapping[str, str]) -> dict[str, str]:
        """Delete tags of an earlier end that are true no more; return what to say for them."""
        stale = (self.run.data.tags.keys() & OF_END) - tags.keys()
        # The file stays among the artifacts, so that there is something to be said of it.
        said = dict.fromkeys(stale & {CERTIFICATE}, "none")
        for name in stale - said.keys():
            self.client.delete_tag(self.run.info.run_id, name)
        return said

    def _stale_metrics(self) -> dict[str, float]:
        """Return NaN for each metric of an earlier end: MLflow deletes none."""
        ours = best_metrics(self.info) & self.run.data.metrics.keys()
        return dict.fromkeys(ours, math.nan)

    def _log_model(self, folder: Path) -> None:
        if not (folder / "model.json").exists():
            return
        with tempfile.TemporaryDirectory(prefix="automl-admm-mlflow-") as place:
            save_model(folder, Path(place) / "model")
            self.client.log_artifacts(self.run.info.run_id, str(Path(place) / "model"), "model")

    def _log(
        self,
        run_id: str,
        metrics: Mapping[str, float] | None = None,
        params: Mapping[str, str] | None = None,
        tags: Mapping[str, str] | None = None,
        step: int = 0,
    ) -> None:
        now = _now()
        self.client.log_batch(
            run_id,
            [Metric(name, value, now, step) for name, value in (metrics or {}).items()],
            [Param(name, value) for name, value in (params or {}).items()],
            [RunTag(name, value) for name, value in (tags or {}).items()],
        )


def log_saved_run(run: SavedRun, uri: str, experiment: str | None = None) -> str:
    """Log a run from its folder, and return the id of the MLflow run."""
    tracker = Tracker.begin(run.info, uri, experiment)
    for evaluation in run.log:
        tracker.add(evaluation)
    status = {RunState.DONE: "FINISHED", RunState.STOPPED: "KILLED"}.get(run.state, "RUNNING")
    tracker.finish(run.best, feasible=run.feasible, status=status)
    return str(tracker.run.info.run_id)


def _silent(client: MlflowClient) -> MlflowClient:
    """Keep MLflow from printing the address of every nested run beside the progress of the run."""
    inner: Any = getattr(client, "_tracking_client", None)
    if inner is not None:
        inner._log_url = lambda _: None  # noqa: SLF001 - else a variable for the whole program
    return client


def _title(info: RunInfo) -> str:
    return info.title if info.folder is None else info.folder.resolve().name


def _identity(info: RunInfo) -> str | None:
    """Return a text that no other run has; None for a run without a folder."""
    if info.folder is None or not (info.folder / "run.json").exists():
        return None
    content = json.loads((info.folder / "run.json").read_text(encoding="utf-8"))
    sessions = content.get("sessions") or [{}]
    # A quote would end the text of the query for it.
    return f"{_title(info)} {sessions[0].get('begun')}".replace("'", "")


def _tags_of_run(info: RunInfo) -> dict[str, str]:
    identity = _identity(info)
    return {} if identity is None else {IDENTITY: identity}


def _now() -> int:
    return int(time.time() * 1000)


def _shipped(folder: Path) -> dict[str, str]:
    """Return the model that shipped: an ensemble of pipelines is no evaluation."""
    if not (folder / "model.json").exists():
        return {}
    content: dict[str, Any] = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    return {"model": short(content["pipeline"])}


def _certified(folder: Path) -> dict[str, str]:
    """Return what the certificate of a run says of each limit."""
    if not (folder / "certificate.json").exists():
        return {}
    content: dict[str, Any] = json.loads((folder / "certificate.json").read_text(encoding="utf-8"))
    said = (f"{one['limit']}: {one['verdict']}" for one in content["findings"])
    return {CERTIFICATE: short("; ".join(said))}
