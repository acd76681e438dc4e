"""`automl-admm resume`: go on with a run that was interrupted, killed, or was to have more time."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from automl_admm.cli.shared.param_types import DURATION
from automl_admm.cli.shared.progress import ProgressDisplay
from automl_admm.cli.shared.run_command import Loaded, conduct, load, ready
from automl_admm.core.errors import ConfigurationError, DataError
from automl_admm.core.run import StopReason
from automl_admm.data.row_portions import Portion, read_portion
from automl_admm.data.sample_table import SHIPPED
from automl_admm.data.shares import Share, share_of
from automl_admm.data.table_schema import read_schema
from automl_admm.data.tables import read_table
from automl_admm.data.timed_reading import read_again
from automl_admm.runs.config import RunConfig
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.saved_request import read_request
from automl_admm.runs.session.session import seconds_used
from automl_admm.runs.validation import ON_INFEASIBLE
from automl_admm.store.run_folder import RunFolder

# What a run that was killed just before its end is given, to fit the best of what it knows.
CLOSING_SECONDS = 10.0
# Those that never leave this machine.
OWN_EXECUTORS = ("local", "inline")


class Extension(click.ParamType):  # type: ignore[type-arg] # older click cannot be subscripted
    """A quantity, or one more than before if it begins with a plus: (number, is_more)."""

    def __init__(self, base: click.ParamType) -> None:  # type: ignore[type-arg]
        self.name = base.name
        self._base = base

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Any, bool]:
        """Read it."""
        if isinstance(value, tuple):
            return value
        text = str(value)
        return self._base.convert(text.removeprefix("+"), param, ctx), text.startswith("+")


@click.command("resume")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option(
    "--budget",
    type=Extension(DURATION),
    metavar="TIME",
    help="How long it may take from now on, such as 10m; +10m is that on top of what was left. "
    "[default: what was left]",
)
@click.option(
    "--max-evaluations",
    type=Extension(click.IntRange(1)),
    metavar="N",
    help="How many evaluations it may have in all; +N is that many more than it was to have.",
)
@click.option(
    "--constraint", "constraints", multiple=True, metavar="TEXT", help="Other limits than before."
)
@click.option("--grammar", metavar="FILE", help="Another grammar than before.")
@click.option(
    "--allow-changed",
    is_flag=True,
    help="Go on though the data, the grammar or the limits are not what they were.",
)
@click.option(
    "--workers", type=int, metavar="N", help="Evaluations at a time. [default: as before]"
)
@click.option("--executor", metavar="NAME[:k=v,…]", help="Where evaluations run.")
@click.option(
    "--on-infeasible",
    type=click.Choice(ON_INFEASIBLE),
    help="Exit with 5 or 6 where the limits do not hold or are not proven, or with 0. "
    "[default: as before]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Show every evaluation.")
def command(run: Path, data: Path | None, **options: Any) -> int:
    """Go on with the run in the folder RUN; nothing that it has evaluated is evaluated again.

    The data are read from where they were, unless DATA is given.
    """
    folder = RunFolder(run)
    progress = ProgressDisplay(
        quiet=options["quiet"] or options["as_json"], verbose=options["verbose"]
    )
    begun = click.get_current_context().obj
    request = read_request(folder, _given(options))
    if not options["executor"]:
        _refuse_to_connect(request, folder)
    config = _extended(request, folder, options)
    loaded = _load(data, config, folder).with_portion(read_portion(config.portion))
    config = replace(
        config,
        source=loaded.source,
        share=_text(loaded.share),
        portion=_text(loaded.portion),
        observers=(progress,),
        interrupts=Deferral(enabled=True),
        begun=begun,
    )
    prepared = ready(config, loaded)
    demands = config.on_infeasible == "raise"
    return conduct(prepared, loaded, progress, as_json=options["as_json"], demands=demands)


def _refuse_to_connect(config: RunConfig, folder: RunFolder) -> None:
    """Raise where only the folder says what to connect to: it may be another's."""
    name, _, given = config.executor.partition(":")
    if given and name not in OWN_EXECUTORS:
        again = shlex.join(["--executor", config.executor])
        raise ConfigurationError(
            f"the run in '{folder.path}' would evaluate on '{config.executor}', which may be in "
            "the hands of whoever made the folder.",
            hint=f"If it is yours, say so: {again}; if not: --executor local.",
        )


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The settings that are others now; a limit or a grammar that is said anew may be the same."""
    names = ("workers", "executor", "grammar", "constraints", "on_infeasible")
    changed = {name: options[name] for name in names if options[name]}
    changed |= {"default_workers": False} if options["workers"] else {}
    return changed | {"changes_allowed": options["allow_changed"]}


def _extended(config: RunConfig, folder: RunFolder, options: dict[str, Any]) -> RunConfig:
    """The settings with the time and the evaluations that this session has."""
    used = seconds_used(folder)
    seconds = _seconds(config.budget_seconds, used, options["budget"])
    evaluations = _evaluations(config.max_evaluations, options["max_evaluations"])
    more = options["budget"] is not None or options["max_evaluations"] is not None
    ended = folder.read(folder.settings).get("result", {}).get("stopped_by")
    if ended not in (None, StopReason.INTERRUPT, StopReason.TERMINATION) and not more:
        raise ConfigurationError(
            f"the run in '{folder.path}' is finished ({ended}).",
            hint="Give it more: --budget +10m, or --max-evaluations +100.",
        )
    return replace(config, budget_seconds=seconds, max_evaluations=evaluations, seconds_used=used)


def _seconds(budget: float | None, used: float, given: tuple[float, bool] | None) -> float | None:
    left = 0.0 if budget is None else max(budget - used, 0.0)
    if given is not None:
        number, is_more = given
        return number + left if is_more else number
    return None if budget is None else max(left, CLOSING_SECONDS)


def _evaluations(asked: int | None, given: tuple[int, bool] | None) -> int | None:
    if given is None:
        return asked
    number, is_more = given
    return number + (asked or 0) if is_more else number


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
    if data is None and config.source != SHIPPED:
        data = Path(str(config.source))
    target, sensitive = settings["target"], tuple(settings["sensitive"])
    schema, share = read_schema(written), share_of(config.share, data)
    try:
        return load(data, target, sensitive, lambda path: (read_again(path, schema, share), share))
    except DataError:
        if not config.changes_allowed:
            raise
        # Other data may hold anything.
        return load(data, target, sensitive, lambda path: (read_table(path), None))
