"""`automl-admm resume`: go on with a run that was interrupted or killed, or needs more time."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
import numpy as np

from automl_admm.cli.shared.param_types import DURATION
from automl_admm.cli.shared.progress import command_progress
from automl_admm.cli.shared.run_command import Loaded, Manner, conduct, load, ready
from automl_admm.cli.shared.run_options import RESUME_OPTIONS, add_options, is_given, run_option
from automl_admm.cli.shared.screen import say
from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.core.ranking import best_of
from automl_admm.core.run import StopReason
from automl_admm.data.reading.encodings import is_misnamed
from automl_admm.data.reading.file_options import file_options
from automl_admm.data.reading.plain_files import LIKE_UTF_8
from automl_admm.data.reading.shares import Share, share_of
from automl_admm.data.reading.streams import STDIN
from automl_admm.data.reading.tables import read_table
from automl_admm.data.reading.timed_reading import read_again
from automl_admm.data.row_portions import Portion, read_portion
from automl_admm.data.row_roles import NAMES
from automl_admm.data.sample_table import SHIPPED
from automl_admm.data.table_schema import read_schema
from automl_admm.execution.server.early_server import started_early
from automl_admm.pipelines.labels import number_classes
from automl_admm.pipelines.thresholds.cost_text import read_costs
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.driver import ROUNDING
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.driving.logbook import spent_on
from automl_admm.runs.gone_plugins import telling_gone_plugins
from automl_admm.runs.option_record import Option
from automl_admm.runs.saved_request import read_request
from automl_admm.runs.session.begun_change import settle_change
from automl_admm.runs.session.run_json import labels_in_text
from automl_admm.runs.session.run_log import read_log
from automl_admm.runs.session.session import seconds_used
from automl_admm.store.run_folder import RunFolder

# Seconds for a run that was killed just before its end, to fit its best pipeline; at least
# those of a start and of twice its evaluation: a final fit on all rows seldom takes more.
CLOSING_SECONDS = 10.0
START_SECONDS = 4.0
# Executors that never leave this machine.
OWN_EXECUTORS = ("local", "inline")
# What goes on with a run, by the limit that ended it.
MORE: Mapping[str, str] = MappingProxyType(
    {StopReason.BUDGET: "--budget +10m", StopReason.EVALUATIONS: "--max-evaluations +100"}
)

# Options that a plus makes larger than before.
GROWING: Mapping[str, click.ParamType] = MappingProxyType(  # type: ignore[type-arg]
    {"time_budget": DURATION, "max_evaluations": click.IntRange(1)}
)


class Extension(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A quantity, or with a plus an increase of the earlier one: (number, is_more)."""

    def __init__(self, base: click.ParamType) -> None:  # type: ignore[type-arg]
        self.name = base.name
        self._base = base

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, bool]:
        """Read the number, and whether a plus stands before it."""
        if isinstance(value, tuple):
            return value
        text = str(value)
        return self._base.convert(text.removeprefix("+"), param, ctx), text.startswith("+")


def _resume_option(option: Option) -> click.Option:
    if option.name not in GROWING:
        return run_option(option, at_resume=True)
    return run_option(option, at_resume=True, type=Extension(GROWING[option.name]))


@add_options(*(_resume_option(option) for option in RESUME_OPTIONS))
@click.command("resume")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option(
    "--allow-changed",
    is_flag=True,
    help="Go on although the data, the grammar or the limits changed.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--profile", is_flag=True, help="Say at the end where the seconds went.")
@click.option(
    "--report", is_flag=True, help="Write a report of the run as a page, RUN/report.html."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, only warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Show every evaluation.")
def command(run: Path, data: Path | None, **options: Any) -> int:
    """Go on with the run in the folder RUN; nothing is evaluated twice.

    The data are read from their earlier place, unless you give DATA.
    """
    folder = RunFolder(run)
    quiet = options["quiet"] or options["as_json"]
    progress = command_progress(quiet=quiet, verbose=options["verbose"])
    begun = click.get_current_context().obj
    settle_change(folder)
    request = read_request(folder, _given(options))
    # A name that the user typed just now is the user's own choice.
    if not is_given(options["executor"]):
        _refuse_to_connect(request, folder)
    config = _extended(request, folder, options)
    manner = Manner(options["as_json"], options["profile"], options["report"], quiet)
    with (
        telling_gone_plugins(folder.read(folder.settings)),
        started_early(config.executor, config.n_jobs, may_fork=True) as server,
    ):
        loaded = _load(data, config, folder).with_portion(read_portion(config.portion))
        check_named_classes(config, loaded.y, str(folder.path))
        _tell_encoding(loaded, config)
        config = replace(
            config,
            title=config.title if data is None else loaded.name,
            source=loaded.source,
            share=_text(loaded.share),
            portion=_text(loaded.portion),
            found_encoding=loaded.encoding,
            callbacks=(progress,),
            interrupts=Deferral(enabled=True),
            server=server,
            begun=begun,
        )
        return conduct(ready(config, loaded), loaded, progress, manner)


def _refuse_to_connect(config: RunConfig, folder: RunFolder) -> None:
    """Raise if only the folder names the machine to connect to: the folder may be another's."""
    name, _, given = config.executor.partition(":")
    if given and name not in OWN_EXECUTORS:
        again = shlex.join(["--executor", config.executor])
        raise ConfigurationError(
            f"the run in '{folder.path}' would evaluate on '{config.executor}', which may be in "
            "the hands of whoever made the folder.",
            hint=f"If it is yours, say so: {again}; if not: --executor local.",
        )


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that the user gave; those that grow depend on the sessions before."""
    names = [option.name for option in RESUME_OPTIONS if option.name not in GROWING]
    changed = {name: options[name] for name in names if is_given(options[name])}
    if "n_jobs" in changed:
        changed["default_workers"] = False
    return changed | {"changes_allowed": options["allow_changed"]}


def _extended(config: RunConfig, folder: RunFolder, options: dict[str, Any]) -> RunConfig:
    """Return the settings with the time and the evaluations of this session."""
    used = seconds_used(folder)
    seconds = _seconds(config.time_budget, used, options["time_budget"], folder)
    ended = folder.read(folder.settings).get("result", {}).get("stopped_by")
    is_over = ended not in (None, StopReason.INTERRUPT, StopReason.TERMINATION)
    if is_over and options["time_budget"] is None and options["max_evaluations"] is None:
        raise ConfigurationError(
            f"the run in '{folder.path}' is finished ({ended}).",
            hint=f"Give it more: {MORE.get(ended, ' or '.join(MORE.values()))}.",
        )
    evaluations = _evaluations(config.max_evaluations, options["max_evaluations"], folder)
    # Changes may leave fewer evaluations in the log, and a run that was cut off has to be closed.
    if is_over and not config.changes_allowed and evaluations is not None:
        _warn_of_none_left(evaluations, folder)
    return replace(config, time_budget=seconds, max_evaluations=evaluations, seconds_used=used)


def _warn_of_none_left(most: int, folder: RunFolder) -> None:
    """Warn if a run has made all evaluations that it may: a session only fits the best again."""
    made = _made(folder)
    if made > most - ROUNDING:
        told = f"the run has made {made:g} evaluations, and may make {most}"
        hint = f"this session makes none. Give it more: {MORE[StopReason.EVALUATIONS]}."
        say(f"warning: {told}: {hint}", err=True)


def _seconds(
    budget: float | None, used: float, given: tuple[float, bool] | None, folder: RunFolder
) -> float | None:
    left = 0.0 if budget is None else max(budget - used, 0.0)
    if given is not None:
        number, is_more = given
        return number + left if is_more else number
    return None if budget is None else max(left, _closing_seconds(folder))


def _closing_seconds(folder: RunFolder) -> float:
    """Return the seconds in which the best pipeline known can be fitted."""
    log = read_log(folder)
    best = best_of(log.evaluations, log.limits)
    longest = 0.0 if best is None else START_SECONDS + 2.0 * best.seconds
    return max(CLOSING_SECONDS, longest)


def _evaluations(
    asked: int | None, given: tuple[int, bool] | None, folder: RunFolder
) -> int | None:
    if given is None:
        return asked
    number, is_more = given
    return _asked_or_made(asked, _made(folder)) + number if is_more else number


def _asked_or_made(asked: int | None, made: float) -> int:
    """Return the evaluations to add to: those asked for, or those made if these are more.

    The last one may be a share more than was asked for.
    """
    return math.ceil(made - ROUNDING) if asked is None or made >= asked + 1 else asked


def _made(folder: RunFolder) -> float:
    """Return the evaluations that count; those that were cut off are made again."""
    return spent_on(one for one in read_log(folder).evaluations if one.has_ended)


def _text(part: Share | Portion | None) -> str | None:
    return None if part is None else str(part)


def _load(data: Path | None, config: RunConfig, folder: RunFolder) -> Loaded:
    written = folder.read(folder.settings)
    settings = written["settings"]
    if data is None and config.source is None:
        raise ConfigurationError(
            f"the run in '{folder.path}' does not say where its data came from.",
            hint="Name the file: automl-admm resume RUN DATA.",
        )
    if data is None and config.source == str(STDIN):
        raise ConfigurationError(
            f"the run in '{folder.path}' read its data from stdin, and they are not kept.",
            hint="Name a file with them, or give them again: automl-admm resume RUN - < DATA.",
        )
    if data is None and config.source != SHIPPED:
        data = Path(str(config.source))
    target, sensitive = settings["target"], tuple(settings["sensitive"])
    roles = {role: settings.get(role) for role in NAMES}
    schema, share = read_schema(written), share_of(config.share, data)
    said = file_options(config.separator, config.decimal, config.encoding)
    read_as = partial(load, data, target, sensitive, roles=roles, options=said)
    try:
        loaded = read_as(lambda path, how: (read_again(path, schema, share, how), share))
    except DataError:
        if not config.changes_allowed:
            raise
    else:
        if not (config.changes_allowed and _has_other_labels(loaded.y, written["data"])):
            return loaded
    # Other data may hold anything.
    return read_as(lambda path, options: (read_table(path, options=options), None))


def _tell_encoding(loaded: Loaded, config: RunConfig) -> None:
    """Say that the bytes of a file tell another encoding than the named one, if none did before."""
    named, known = config.encoding, config.found_encoding
    if is_misnamed(named, loaded.encoding) and not is_misnamed(named, known):
        say(f"{Path(str(loaded.source)).name}: {named}{LIKE_UTF_8}", err=True)


def _has_other_labels(target: Any, data: Mapping[str, Any]) -> bool:
    """Return True if a target has labels unknown to the run, which then tell no type."""
    known = data.get("classes")
    return known is not None and not set(known).issuperset(labels_in_text(target))


def check_named_classes(config: RunConfig, target: Any, folder: str) -> None:
    """Raise if options that resume cannot change name other classes than those of a target."""
    option = "--positive"
    try:
        if config.positive is not None:
            # True may stand for a number, as in a fit.
            number_classes(_labels(target, "biufmM"), config.positive)
        option = "--cost"
        if config.cost is not None:
            # The texts of dates are many.
            read_costs(config.cost).of(_labels(target, "mM"))
    except ConfigurationError as problem:
        raise ConfigurationError(
            f"{problem} The run in '{folder}' was begun with {option}, which resume can neither "
            "change nor leave out.",
            hint="Give the classes the names that they had, or begin a new run: `automl-admm fit`.",
        ) from problem


def _labels(target: Any, as_given: str) -> Any:
    """Return the different labels: those of numpy's kinds `as_given`, and others as texts."""
    import pandas as pd

    known = pd.Series(target).dropna().infer_objects().unique()
    is_kept = known.dtype.kind in as_given
    return np.asarray(known) if is_kept else np.array(labels_in_text(target))
