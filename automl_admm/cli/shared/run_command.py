"""The shared parts of `fit` and `resume`: read the data, run, and report the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from automl_admm.cli.shared.announcement import announce
from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.cli.shared.solver_prints import solver_prints_logged
from automl_admm.cli.shared.summary import print_summary, summarise
from automl_admm.cli.signals import INTERRUPTED
from automl_admm.core.errors import ConfigurationError, InfeasibleError
from automl_admm.core.messages import resume_command, say_count
from automl_admm.data.ingest.answers import tell_answers
from automl_admm.data.ingest.leaks import tell_leaks
from automl_admm.data.ingest.reporting import tell_readings
from automl_admm.data.reading.file_options import NO_OPTIONS, FileOptions
from automl_admm.data.reading.shares import Share
from automl_admm.data.reading.streams import source_of, table_name
from automl_admm.data.reading.tables import place_in, read_table, row_read, split_target
from automl_admm.data.reading.timed_reading import read_in_time
from automl_admm.data.row_portions import Portion, take_rows
from automl_admm.data.row_roles import NO_COLUMNS, RoleColumns, take_columns
from automl_admm.data.sample_table import SHIPPED, shipped_table
from automl_admm.data.sensitive import set_aside
from automl_admm.progress.observer import Progress
from automl_admm.progress.visible_text import in_a_line
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.profile import profile_of
from automl_admm.runs.finish.decision_summary import explain_held_out_class
from automl_admm.runs.finish.demands import (
    cure_fallback,
    demand_certified,
    demand_evaluated,
    demand_feasible,
    explain_fallback,
    tell_broken,
)
from automl_admm.runs.finish.no_success import is_interrupted
from automl_admm.runs.finish.outcome import PipelineResult
from automl_admm.runs.options import FLAGS
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.prepare.suggestions import tell_left_out
from automl_admm.runs.reuse import reuse_runs
from automl_admm.store.network_fs import network_notice

# The share of a budget that reading may take: what follows on these rows takes some times as long.
READING = 0.15
WARNING = "warning: "
# On a busy machine little may be left when reading begins: the imports come first.
READING_OF_THE_REST = 0.25


@dataclass(frozen=True)
class Loaded:
    """The input of a run: features, target, sensitive columns, and a name for messages.

    `encoding` is that of a text file by its bytes.
    """

    X: Any
    y: Any
    sensitive: Any
    name: str
    source: str
    share: Share | None = None
    portion: Portion | None = None
    encoding: str | None = None
    columns: RoleColumns = NO_COLUMNS

    def with_portion(self, portion: Portion | None) -> Loaded:
        """Return the portion of its rows; all rows for another number of rows."""
        if portion is None or portion.rows != len(self.X):
            return self
        places = portion.places(self.y)
        parts = (self.X, self.y, self.sensitive)
        X, y, sensitive = (take_rows(part, places).reset_index(drop=True) for part in parts)
        columns = self.columns.part(places)
        return replace(self, X=X, y=y, sensitive=sensitive, portion=portion, columns=columns)


Read = Callable[[Path, FileOptions], tuple[Any, Share | None]]


def load(
    data: Path | None,
    target: str | None,
    sensitive: tuple[str, ...],
    read: Read,
    roles: Mapping[str, str | None] = MappingProxyType({}),
    options: FileOptions = NO_OPTIONS,
) -> Loaded:
    """Read DATA, or the shipped data set, and divide it into the input of a run.

    `roles` names the columns with weights, groups or times; `options` are those of DATA.
    """
    share, noted = None, list[str]()
    options = replace(options, note=noted.append)
    if data is None:
        frame, shipped_target = shipped_table()
        name, source, target = SHIPPED, SHIPPED, target or shipped_target
    else:
        frame, share = read(data, options)
        name, source = table_name(data), source_of(data)
    if target is None:
        columns = ", ".join(map(str, list(frame.columns)[-5:]))
        hint = f"Name a column; the last are: {columns}."
        raise ConfigurationError("--target is missing.", hint=hint)
    place = place_in(data, options) if data is not None and share is None else row_read
    features, y = split_target(frame, target, place)
    features, with_roles = take_columns(features, roles, target, place)
    X, apart = set_aside(features, sensitive)
    encoding = noted[-1] if noted else None
    return Loaded(X, y, apart, name, source, share, encoding=encoding, columns=with_roles)


def read_within(
    data: Path, options: FileOptions, *, budget: float | None, begun: float
) -> tuple[Any, Share | None]:
    """Read DATA for the first time, or rows from all over it if the budget is short."""
    if budget is None:
        return read_table(data, keep_codes=True, options=options), None
    left = max(begun + budget - time.monotonic(), 0.0)
    return read_in_time(data, min(READING * budget, READING_OF_THE_REST * left), options)


def ready(config: RunConfig, loaded: Loaded) -> Preparation:
    """Check all settings; prints of a new solver go to the log, not to the result."""
    with redirect_stdout(sys.stderr), solver_prints_logged():
        prepared = prepare(config, loaded.X, loaded.y, loaded.sensitive, loaded.columns)
        return reuse_runs(prepared)


@dataclass(frozen=True, slots=True)
class Manner:
    """The way a run is told: as JSON, with a profile of the seconds, with a report, quietly."""

    as_json: bool = False
    profile: bool = False
    report: bool = False
    quiet: bool = False


def conduct(prepared: Preparation, loaded: Loaded, progress: Progress, manner: Manner) -> int:
    """Run, print the result, and return the exit code.

    Only the result goes to stdout: prints of observers go to stderr, those of solvers to the log.
    """
    with redirect_stdout(sys.stderr), progress, solver_prints_logged():
        _tell_facts(facts_of(prepared, loaded), progress, manner)
        outcome = _run(prepared)
        for constraint in outcome.preparation.constraints:
            if constraint.of_baseline is not None:
                text = prepared.problem.text(prepared.baseline)
                factor = f"{constraint.of_baseline:g} times what the baseline has, {text}"
                progress.say(f"{constraint.limit}: {factor}")
    _print(outcome, manner)
    if manner.report:
        _write_report(outcome)
    told = (outcome.result.stop.warning, explain_held_out_class(outcome), *tell_broken(outcome))
    for line in filter(None, told):
        say(f"warning: {line}", err=True)
    interrupted = is_interrupted(outcome.result)
    if not interrupted or outcome.fallback is None:
        demand_evaluated(outcome)
    if outcome.fallback is not None:
        cure = cure_fallback(outcome).on_command_line(FLAGS)
        say(f"warning: {explain_fallback(outcome)} {cure}", err=True)
        if interrupted:
            return INTERRUPTED
    if prepared.config.on_infeasible == "raise":
        _demand(outcome)
    return INTERRUPTED if interrupted else 0


def _print(outcome: PipelineResult, manner: Manner) -> None:
    """Print the result; beside JSON the profile goes to stderr."""
    summary = summarise(outcome)
    if manner.as_json:
        hand_on_json(summary)
    else:
        print_summary(summary)
    if manner.profile:
        for line in profile_of(outcome.result).lines():
            say(in_a_line(line), err=manner.as_json)


def _tell_facts(facts: Sequence[str], progress: Progress, manner: Manner) -> None:
    """Show the facts before a search; without progress the warnings among them alone."""
    for line in facts:
        if not manner.quiet:
            progress.say(line)
        elif line.startswith(WARNING):
            say(line, err=True)


def _write_report(outcome: PipelineResult) -> None:
    """Write the report into the run's folder; beside JSON its place goes to stderr, so always."""
    from automl_admm.report.writing import write_report

    folder = outcome.preparation.config.work_dir
    if folder is not None:
        page, _ = write_report(folder)
        say(f"report: {page}", err=True)


def facts_of(prepared: Preparation, loaded: Loaded) -> list[str]:
    """Return the facts known before a search, a line each."""
    size = f"{say_count(len(loaded.X), 'row')}, {say_count(loaded.X.shape[1], 'column')}"
    lines = [f"{loaded.name}: {size}, {prepared.task} of '{loaded.y.name}'"]
    lines += map(in_a_line, tell_answers(prepared.answers, prepared.target, prepared.sensitive))
    lines += map(in_a_line, tell_readings(prepared.ingest))
    left_out = tell_left_out(prepared.grammar.left_out, prepared.plugins)
    lines += [] if left_out is None else [in_a_line(left_out)]
    warned = (*tell_leaks(prepared.leaks), *prepared.doubts, *prepared.doubtful_limits)
    lines += [f"{WARNING}{in_a_line(line)}" for line in warned]
    if loaded.share is not None:
        lines.append(f"{WARNING}{loaded.share.tell()}")
    if loaded.portion is not None:
        lines.append(f"{WARNING}{loaded.portion.tell()}")
    lines.append(f"validation: {prepared.split}")
    lines += map(in_a_line, prepared.reused.lines)
    if prepared.caution is not None:
        lines.append(f"{WARNING}{prepared.caution}")
    lines += announce(prepared)
    notice = network_notice(prepared.config.place or Path())
    if notice is not None:
        lines.append(f"{WARNING}{notice}")
    if len(loaded.sensitive.columns):
        names = ", ".join(map(str, loaded.sensitive.columns))
        lines.append(f"set aside for limits, not given to pipelines: {names}")
    if named := loaded.columns.names():
        words = ", ".join(f"'{name}' ({role})" for role, name in named.items())
        lines.append(f"not given to pipelines: {words}")
    return lines


def _run(prepared: Preparation) -> PipelineResult:
    """Run; after an interrupt, say how to continue."""
    try:
        return run_pipelines(prepared)
    except KeyboardInterrupt:
        folder, place = prepared.config.work_dir, prepared.config.place
        if place is not None and (place / "run.json").exists():
            say(f"go on with: {resume_command(folder)}", err=True)
        raise


def _demand(outcome: PipelineResult) -> None:
    """Raise the error behind the exit code: no model within the limits, or no proof of it."""
    try:
        demand_certified(outcome)
        demand_feasible(outcome)
    except InfeasibleError as problem:
        hint = "The closest one was saved, marked as infeasible."
        raise InfeasibleError(problem.message, hint=hint, closest=outcome) from None
