"""What `fit` and `resume` share: reading the data, running, and saying how it ended."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from automl_admm.cli.interrupts import INTERRUPTED
from automl_admm.cli.progress import Progress
from automl_admm.cli.summary import announce, print_summary, resume_command, summarise
from automl_admm.data.samples import shipped_table
from automl_admm.data.sensitive import set_aside
from automl_admm.data.tables import read_table, split_target
from automl_admm.errors import ConfigurationError, InfeasibleError
from automl_admm.evaluation.driver import INTERRUPT, TERMINATION
from automl_admm.runner.config import RunConfig
from automl_admm.runner.pipelines import (
    PipelineResult,
    demand_certified,
    demand_feasible,
    run_pipelines,
)
from automl_admm.runner.preparation import Preparation, prepare
from automl_admm.store.filesystem import network_notice

SHIPPED = "german_credit"


@dataclass(frozen=True)
class Loaded:
    """A table as a run takes it: features, target, sensitive columns, what to call it."""

    X: Any
    y: Any
    sensitive: Any
    name: str
    source: str


def load(data: Path | None, target: str | None, sensitive: tuple[str, ...]) -> Loaded:
    """Read DATA, or the data set that ships with the package."""
    if data is None:
        frame, shipped_target = shipped_table()
        name, source, target = SHIPPED, SHIPPED, target or shipped_target
    else:
        frame, name, source = read_table(data), data.stem, str(data.resolve())
    if target is None:
        columns = ", ".join(map(str, list(frame.columns)[-5:]))
        hint = f"Name a column; the last are: {columns}."
        raise ConfigurationError("--target is missing.", hint=hint)
    features, y = split_target(frame, target)
    X, apart = set_aside(features, sensitive)
    return Loaded(X, y, apart, name, source)


def ready(config: RunConfig, loaded: Loaded) -> Preparation:
    """Check all that was given; what a solver prints when it is made is not the result's."""
    with redirect_stdout(sys.stderr):
        return prepare(config, loaded.X, loaded.y, loaded.sensitive)


def conduct(
    prepared: Preparation, loaded: Loaded, progress: Progress, *, as_json: bool, demands: bool
) -> int:
    """Run, print what came of it, and return the exit code; `demands` says if limits must hold.

    The result is all that stands on stdout: what solvers and observers print is no part of it.
    """
    with redirect_stdout(sys.stderr), progress:
        for line in _facts(prepared, loaded):
            progress.say(line)
        outcome = _run(prepared)
        for constraint in outcome.preparation.constraints:
            if constraint.of_baseline is not None:
                factor = f"{constraint.of_baseline:g} times what the first pipeline has"
                progress.say(f"{constraint.limit}: {factor}")
    summary = summarise(outcome)
    if as_json:
        click.echo(json.dumps(summary, indent=2))
    else:
        print_summary(summary)
    if demands:
        _demand(outcome)
    return INTERRUPTED if outcome.result.stopped_by in (INTERRUPT, TERMINATION) else 0


def _facts(prepared: Preparation, loaded: Loaded) -> list[str]:
    columns = f"{len(loaded.X)} rows, {loaded.X.shape[1]} columns"
    lines = [f"{loaded.name}: {columns}, {prepared.task} of '{loaded.y.name}'"]
    lines += announce(prepared)
    notice = network_notice(prepared.config.place or Path())
    if notice is not None:
        lines.append(f"warning: {notice}")
    if len(loaded.sensitive.columns):
        names = ", ".join(map(str, loaded.sensitive.columns))
        lines.append(f"set aside for limits, not given to pipelines: {names}")
    return lines


def _run(prepared: Preparation) -> PipelineResult:
    """Run; one that is broken off says how to go on with it."""
    try:
        return run_pipelines(prepared)
    except KeyboardInterrupt:
        folder, place = prepared.config.folder, prepared.config.place
        if place is not None and (place / "run.json").exists():
            click.echo(f"go on with: {resume_command(str(folder))}", err=True)
        raise


def _demand(outcome: PipelineResult) -> None:
    """Raise what the exit code says: nothing within the limits, or nothing that is proven to be."""
    try:
        demand_certified(outcome)
        demand_feasible(outcome)
    except InfeasibleError as problem:
        hint = "The closest one was saved, marked as infeasible."
        raise InfeasibleError(problem.message, hint=hint, closest=outcome) from None
