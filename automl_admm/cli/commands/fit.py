"""`automl-admm fit`: search for the best pipeline within limits."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from automl_admm.cli.shared.run_options import (
    FIT_OPTIONS,
    add_options,
    file_options_given,
    run_option,
    settings_given,
)
from automl_admm.cli.shared.screen import say
from automl_admm.core.errors import AutomlAdmmError
from automl_admm.execution.quick_imports import importing
from automl_admm.execution.server.early_server import EarlyServer, started_early
from automl_admm.runs.config import DEFAULT_SECONDS, RunConfig, count_workers
from automl_admm.runs.driving.interrupts import Deferral

if TYPE_CHECKING:
    from automl_admm.cli.shared.run_command import Loaded
    from automl_admm.progress.observer import Progress

ROLES = {
    "weight": "The column with the weight of each row, in fits, scores and limits",
    "group": "The column that says which rows belong together: a group is on one side of a split",
    "time": "The column with the time of each row: earlier rows are learned from, later measured",
}
RUNS = Path("automl-runs")
MOST_BYTES = 80


@add_options(
    click.Option(["--target"], metavar="COL", help="The column to predict."),
    click.Option(
        ["--sensitive"],
        multiple=True,
        metavar="COL",
        help="A column that limits may compare groups by; no pipeline is given it. "
        "May be repeated.",
    ),
    *(
        click.Option([f"--{role}"], metavar="COL", help=f"{said}; no pipeline is given it.")
        for role, said in ROLES.items()
    ),
    *(run_option(option) for option in FIT_OPTIONS),
)
@click.command("fit")
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check data, settings and limits, say what could be proven at best, and stop there.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--profile", is_flag=True, help="Say at the end where the seconds went.")
@click.option(
    "--report", is_flag=True, help="Write a report of the run as a page, RUN/report.html."
)
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, only warnings.")
@click.option("-v", "--verbose", is_flag=True, help="Show every evaluation.")
def command(data: Path | None, target: str | None, **options: Any) -> int:
    """Search for the best pipeline for DATA (a table in a file, or - for stdin) within limits.

    Without DATA it uses a data set that ships with the package.
    """
    workers = _workers(options)
    with started_early(options["executor"], workers, may_fork=True) as server:
        return _fit(data, target, options, server)


def _fit(
    data: Path | None, target: str | None, options: dict[str, Any], server: EarlyServer | None
) -> int:
    # These imports take a second, and the server is to have the most of them from this process.
    with importing():
        from automl_admm.cli.shared.dry_run import print_dry_run, try_observers
        from automl_admm.cli.shared.progress import command_progress
        from automl_admm.cli.shared.run_command import Manner, conduct, load, read_within, ready
        from automl_admm.constraints.parse import columns_in
        from automl_admm.data.row_portions import portion_within
        from automl_admm.store.run_folder import refuse_full, try_folder

    if options["work_dir"] is not None:
        refuse_full(options["work_dir"])  # reading large data may take minutes
    try:
        begun = click.get_current_context().obj
        roles = {role: options[role] for role in ROLES}
        compared = columns_in(options["constraints"])
        named = (target, *options["sensitive"], *roles.values(), *compared)
        said = file_options_given(options, named, exact=(target, *roles.values()))
        read = partial(read_within, budget=_budget(options), begun=begun)
        loaded = load(data, target, options["sensitive"], read, roles, said)
        loaded = loaded.with_portion(portion_within(loaded.X, _budget(options), begun))
    except AutomlAdmmError:
        _say_what_it_runs_on(data)  # a missing column may be due to forgotten DATA
        raise
    quiet = options["quiet"] or options["as_json"]
    progress = command_progress(quiet=quiet, verbose=options["verbose"])
    config = replace(_config(options, loaded, progress), server=server)
    try:
        prepared = ready(config, loaded)
        _say_what_it_runs_on(data)
        if options["dry_run"]:
            if options["work_dir"] is not None and config.place is not None:
                try_folder(config.place, options["work_dir"])
            try_observers(prepared)
            print_dry_run(prepared, loaded, as_json=options["as_json"])
            return 0
        manner = Manner(options["as_json"], options["profile"], options["report"], quiet)
        return conduct(prepared, loaded, progress, manner)
    finally:
        if options["work_dir"] is None and config.place is not None:
            with suppress(OSError):  # a folder with content stays
                config.place.rmdir()
                config.place.parent.rmdir()


def _budget(options: dict[str, Any]) -> float | None:
    """Return the time budget, a minute by default; a repeatable run has none."""
    is_repeatable = options["max_evaluations"] is not None
    seconds: float | None = options["time_budget"]
    return DEFAULT_SECONDS if seconds is None and not is_repeatable else seconds


def _say_what_it_runs_on(data: Path | None) -> None:
    if data is None:
        from automl_admm.data.sample_table import SHIPPED

        say(f"no DATA given: running on {SHIPPED}, which ships with the package", err=True)


def _config(options: dict[str, Any], loaded: Loaded, progress: Progress) -> RunConfig:
    resolved = {"n_jobs": _workers(options), "callbacks": (progress,)}
    config = RunConfig(
        **settings_given(options) | resolved,
        default_workers=options["n_jobs"] is None,
        title=loaded.name,
        source=loaded.source,
        share=None if loaded.share is None else str(loaded.share),
        portion=None if loaded.portion is None else str(loaded.portion),
        found_encoding=loaded.encoding,
        interrupts=Deferral(enabled=True),
        begun=click.get_current_context().obj,
    )
    # Made only now: settings that are refused leave no folder behind.
    return replace(config, work_dir=options["work_dir"] or _new_folder(loaded.name))


def _workers(options: dict[str, Any]) -> int:
    """Return the number of workers, by default one a core; a repeatable run has one."""
    if options["n_jobs"] is not None:
        return int(options["n_jobs"])
    is_repeatable = options["max_evaluations"] is not None and options["time_budget"] is None
    return 1 if is_repeatable else count_workers(-1)


def _new_folder(name: str) -> Path:
    stem = f"{slug(name)}-{datetime.now():%Y%m%d-%H%M%S}"
    tries = (RUNS / (stem if number == 1 else f"{stem}-{number}") for number in count(1))
    return next(path for path in tries if _is_ours(path))


def _is_ours(path: Path) -> bool:
    """Try to make the folder; return False if it exists and so belongs to another run.

    To ask first and make it later would let two runs take the same folder. A folder that cannot be
    made at all counts as ours: the run itself then tells the reason.
    """
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return not path.parent.is_dir()  # then it is the parent: a link to what is not there
    except OSError:
        return not os.path.lexists(path)
    return True


def slug(name: str) -> str:
    """Return a folder name that works anywhere: letters, digits, - and _, and not too many.

    It cannot be mistaken for an option, a device of Windows or another folder.
    """
    plain = re.sub(r"[^\w-]+", "-", name).strip("-_")
    return plain.encode()[:MOST_BYTES].decode(errors="ignore") or "run"
