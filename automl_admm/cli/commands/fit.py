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

from automl_admm.cli.shared.param_types import DURATION, MEMORY
from automl_admm.cli.shared.screen import say
from automl_admm.core.errors import AutomlAdmmError
from automl_admm.execution.server.early_server import EarlyServer, started_early
from automl_admm.runs.config import DEFAULT_SECONDS, RunConfig, count_workers
from automl_admm.runs.driving.interrupts import Deferral
from automl_admm.runs.validation import ON_INFEASIBLE

if TYPE_CHECKING:
    from automl_admm.cli.shared.progress import ProgressDisplay
    from automl_admm.cli.shared.run_command import Loaded

RUNS = Path("automl-runs")
MOST_BYTES = 80


@click.command("fit")
@click.argument("data", required=False, type=click.Path(path_type=Path))
@click.option("--target", metavar="COL", help="The column to predict.")
@click.option(
    "--task",
    type=click.Choice(["auto", "classification", "regression"]),
    default="auto",
    help="What kind of target it is.",
    show_default=True,
)
@click.option(
    "--positive",
    metavar="LABEL",
    help="The class that rates and thresholds call positive. [default: the last of the sorted]",
)
@click.option(
    "--grammar",
    default="default",
    metavar="FILE",
    help="A grammar file, or the name of a shipped one.",
    show_default=True,
)
@click.option(
    "--max-depth",
    type=int,
    default=RunConfig.max_depth,
    metavar="N",
    help="How often a rule of the grammar may stand inside of itself.",
    show_default=True,
)
@click.option(
    "--start",
    "starts",
    multiple=True,
    metavar="TEXT|FILE",
    help='A pipeline to begin at, such as "impute() ridge()", or a file with one a line.',
)
@click.option(
    "--budget",
    type=DURATION,
    metavar="TIME",
    help="How long all may take, such as 30s, 10m, 1h. [default: 60s]",
)
@click.option(
    "--max-evaluations",
    type=int,
    metavar="N",
    help="At most so many evaluations (one on a tenth of the rows is a tenth of one); alone, with "
    "one worker, it makes a run repeatable.",
)
@click.option(
    "--constraint",
    "constraints",
    multiple=True,
    metavar="TEXT",
    help='A limit such as "latency_us <= 50" or "fpr_gap[sex] <= 5 %". May be repeated.',
)
@click.option(
    "--sensitive",
    multiple=True,
    metavar="COL",
    help="A column that limits may compare groups by and no pipeline is given. May be repeated.",
)
@click.option(
    "--certify",
    type=float,
    metavar="CONFIDENCE",
    help="Prove the limits on rows set aside before the search, such as 0.95.",
)
@click.option(
    "--certify-fraction",
    type=float,
    metavar="SHARE",
    help="How many of the rows to set aside for it. [default: as many as the limits take]",
)
@click.option(
    "--group-thresholds",
    is_flag=True,
    help="Let every group of a limit such as fpr_gap[sex] have a decision threshold of its own. "
    "Deciding by who somebody is may be unlawful, in lending or hiring for example.",
)
@click.option(
    "--on-infeasible",
    type=click.Choice(ON_INFEASIBLE),
    default="raise",
    help="Exit with 5 or 6 where the limits do not hold or are not proven, or with 0.",
    show_default=True,
)
@click.option(
    "--metric", metavar="NAME", help="Any scikit-learn scorer. [default: roc_auc, accuracy or r2]"
)
@click.option(
    "--theta-solver",
    default="gp",
    metavar="NAME[:k=v,…]",
    help="Solver for parameters.",
    show_default=True,
)
@click.option(
    "--z-solver",
    default="bo",
    metavar="NAME[:k=v,…]",
    help="Solver for structure.",
    show_default=True,
)
@click.option(
    "--strategy",
    default="admm",
    metavar="NAME[:k=v,…]",
    help="admm, or joint: one solver for everything.",
    show_default=True,
)
@click.option(
    "--executor",
    default="local",
    metavar="NAME[:k=v,…]",
    help="Where evaluations run.",
    show_default=True,
)
@click.option(
    "--workers",
    type=int,
    metavar="N",
    help="Evaluations at a time. [default: one a core; 1 if only --max-evaluations is given]",
)
@click.option(
    "--cv",
    type=float,
    metavar="K|SHARE",
    help="Folds (5), or the share of a holdout (0.25). [default: by size]",
)
@click.option(
    "--test-size",
    default=0.2,
    metavar="SHARE",
    help="Rows that the search never sees, to measure the result on; 0 for none.",
    show_default=True,
)
@click.option(
    "--eval-timeout",
    type=DURATION,
    metavar="TIME",
    help="Limit of one evaluation. [default: an eighth of the budget]",
)
@click.option(
    "--memory",
    type=MEMORY,
    metavar="SIZE",
    help="Memory limit of one evaluation, such as 2GB. [default: its share of the machine's]",
)
@click.option(
    "--min-fidelity",
    default=1.0,
    metavar="SHARE",
    help="Least share of the rows that solvers such as halving may train on.",
    show_default=True,
)
@click.option(
    "--seed", default=0, metavar="N", help="Seed of everything random.", show_default=True
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="The run folder. [default: a new one in automl-runs]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
@click.option("-v", "--verbose", is_flag=True, help="Show every evaluation.")
def command(data: Path | None, target: str | None, **options: Any) -> int:
    """Search for the best pipeline for DATA (a CSV file with a header) within limits.

    Without DATA it runs on a data set that ships with the package.
    """
    with started_early(options["executor"], _workers(options), saves=True) as server:
        return _fit(data, target, options, server)


def _fit(
    data: Path | None, target: str | None, options: dict[str, Any], server: EarlyServer | None
) -> int:
    # What this imports takes seconds, in which the server can import as well.
    from automl_admm.cli.shared.progress import ProgressDisplay
    from automl_admm.cli.shared.run_command import conduct, load, read_within, ready
    from automl_admm.data.row_portions import portion_within

    try:
        begun = click.get_current_context().obj
        read = partial(read_within, budget=_budget(options), begun=begun)
        loaded = load(data, target, options["sensitive"], read)
        loaded = loaded.with_portion(portion_within(loaded.X, _budget(options), begun))
    except AutomlAdmmError:
        _say_what_it_runs_on(data)  # a column that is not there may be one of the data forgotten
        raise
    progress = ProgressDisplay(
        quiet=options["quiet"] or options["as_json"], verbose=options["verbose"]
    )
    config = replace(_config(options, loaded, progress), server=server)
    try:
        prepared = ready(config, loaded)
        _say_what_it_runs_on(data)
        demands = config.on_infeasible == "raise"
        return conduct(prepared, loaded, progress, as_json=options["as_json"], demands=demands)
    finally:
        if options["out"] is None and config.place is not None:
            with suppress(OSError):  # one with something in it stays
                config.place.rmdir()
                config.place.parent.rmdir()


def _budget(options: dict[str, Any]) -> float | None:
    """The time budget that is meant; a run that is to be repeatable has none."""
    is_repeatable = options["max_evaluations"] is not None
    seconds: float | None = options["budget"]
    return DEFAULT_SECONDS if seconds is None and not is_repeatable else seconds


def _say_what_it_runs_on(data: Path | None) -> None:
    if data is None:
        from automl_admm.data.sample_table import SHIPPED

        say(f"no DATA given: running on {SHIPPED}, which ships with the package", err=True)


def _config(options: dict[str, Any], loaded: Loaded, progress: ProgressDisplay) -> RunConfig:
    cv = options["cv"]
    memory = options["memory"]
    config = RunConfig(
        grammar=options["grammar"],
        max_depth=options["max_depth"],
        task=None if options["task"] == "auto" else options["task"],
        budget_seconds=options["budget"],
        max_evaluations=options["max_evaluations"],
        scoring=options["metric"],
        positive=options["positive"],
        constraints=options["constraints"],
        starts=tuple(map(_start, options["starts"])),
        theta_solver=options["theta_solver"],
        z_solver=options["z_solver"],
        strategy=options["strategy"],
        executor=options["executor"],
        workers=_workers(options),
        default_workers=options["workers"] is None,
        cv=int(cv) if cv is not None and cv.is_integer() else cv,
        test_size=options["test_size"],
        evaluation_seconds=options["eval_timeout"],
        memory_bytes=None if memory is None else int(memory),
        min_fidelity=options["min_fidelity"],
        certify=options["certify"],
        certify_fraction=options["certify_fraction"],
        group_thresholds=options["group_thresholds"],
        on_infeasible=options["on_infeasible"],
        seed=options["seed"],
        title=loaded.name,
        source=loaded.source,
        share=None if loaded.share is None else str(loaded.share),
        portion=None if loaded.portion is None else str(loaded.portion),
        observers=(progress,),
        interrupts=Deferral(enabled=True),
        begun=click.get_current_context().obj,
    )
    return replace(config, folder=options["out"] or _new_folder(loaded.name))


def _start(given: str) -> str | Path:
    """A file of pipelines, or the text of one, which always has a parenthesis.

    A file may have one in its name, too.
    """
    # `Path.is_file` raises where a name is too long for one, as the text of a pipeline may be.
    is_file = os.path.isfile(given)  # noqa: PTH113
    return given if "(" in given and not is_file else Path(given)


def _workers(options: dict[str, Any]) -> int:
    """As many as there are cores, but one for a run that is meant to be repeatable."""
    if options["workers"] is not None:
        return int(options["workers"])
    is_repeatable = options["max_evaluations"] is not None and options["budget"] is None
    return 1 if is_repeatable else count_workers(-1)


def _new_folder(name: str) -> Path:
    stem = f"{slug(name)}-{datetime.now():%Y%m%d-%H%M%S}"
    tries = (RUNS / (stem if number == 1 else f"{stem}-{number}") for number in count(1))
    return next(path for path in tries if _is_ours(path))


def _is_ours(path: Path) -> bool:
    """Make a folder, or say that it is another's: who asks whether there is one may ask too early.

    One that cannot be made at all is taken as it is: why not is told where a run makes its folder.
    """
    try:
        path.mkdir(parents=True)
    except FileExistsError:
        return False
    except OSError:
        return not os.path.lexists(path)
    return True


def slug(name: str) -> str:
    """A name as a folder can have it anywhere: letters, digits, - and _, and not too many.

    It is no option of a program, no device of Windows, and no other folder.
    """
    plain = re.sub(r"[^\w-]+", "-", name).strip("-_")
    return plain.encode()[:MOST_BYTES].decode(errors="ignore") or "run"
