"""The MLflow run of a run that goes on, or is exported once more.

An MLflow run is of one log: its parameters cannot be changed, and a log that is begun anew gives
the numbers of its evaluations again, as does one that lost some. So a run that goes on with other
limits or with other data has one more MLflow run, and those before it stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mlflow.entities import Run
from mlflow.tracking import MlflowClient

from automl_admm.plugin_api import Evaluation, RunInfo
from automl_admm_mlflow.entries import (
    SECONDS,
    legal,
    metric_names,
    metrics_of,
    settings_of,
    tags_of,
)

# By these tags runs are found again.
IDENTITY = "automl_admm.run"
MARK = "automl_admm.evaluation"
PARENT = "mlflow.parentRunId"
# A log has its results for good; what ended otherwise may be tried again.
OF_RESULTS = ("success", "stopped")


@dataclass(frozen=True, slots=True)
class FoundRun:
    """An MLflow run, and by their marks the runs nested in it."""

    run: Run
    nested: Mapping[str, Run]


def find_run(
    client: MlflowClient, experiment: str, info: RunInfo, identity: str | None
) -> FoundRun | None:
    """Return the last MLflow run of this log, else the last empty one; None if there is none."""
    if identity is None:
        return None
    empty = None
    for run in client.search_runs([experiment], f"tags.`{IDENTITY}` = '{identity}'"):
        if not _has_settings(run, info):
            continue
        nested = dict(_nested(client, run))
        if _is_of_log(nested, info):
            return FoundRun(run, nested)
        if not nested and empty is None:
            empty = FoundRun(run, nested)
    return empty


def mark_of(evaluation: Evaluation) -> str:
    """Return the text by which an evaluation is found again in its MLflow run."""
    return f"{evaluation.number} {evaluation.ending}"


def _nested(client: MlflowClient, run: Run) -> Iterator[tuple[str, Run]]:
    """Yield the marks of the evaluations nested in a run, each with its own run."""
    wanted, page = f"tags.`{PARENT}` = '{run.info.run_id}'", None
    while page != "":
        found = client.search_runs([run.info.experiment_id], wanted, page_token=page)
        yield from ((one.data.tags[MARK], one) for one in found if MARK in one.data.tags)
        page = found.token or ""


def _has_settings(run: Run, info: RunInfo) -> bool:
    """Return True if a run has these settings, its limits in any order."""
    there = run.data.params
    return all(
        sorted(there.get(name, value).split("; ")) == sorted(value.split("; "))
        for name, value in settings_of(info).items()
    )


def _is_of_log(nested: Mapping[str, Run], info: RunInfo) -> bool:
    """Return True if the nested runs are evaluations of this log, and not of one before it."""
    known = {mark_of(one): one for one in info.known}
    if any(mark not in known and mark.endswith(OF_RESULTS) for mark in nested):
        return False
    both = [(run, known[mark]) for mark, run in nested.items() if mark in known]
    return bool(both) and all(_shows(run, one, info) for run, one in both)


def _shows(run: Run, evaluation: Evaluation, info: RunInfo) -> bool:
    """Return True if a nested run has the pipeline and the values of an evaluation."""
    if run.data.tags.get("pipeline") != tags_of(evaluation, info).get("pipeline"):
        return False
    measured = metrics_of(evaluation, info)
    # A run of an earlier version may have other ones beside them, and a limit's value as seconds.
    shared = measured.keys() & run.data.metrics.keys()
    if any(legal(name) == SECONDS for name in metric_names(info)):
        shared -= {SECONDS}
    return all(math.isclose(measured[name], run.data.metrics[name]) for name in shared)
