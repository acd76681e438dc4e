"""`automl-admm store`: check, repair or export the log of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from automl_admm.cli.shared.output_option import or_screen
from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.core.errors import StoreError
from automl_admm.core.evaluations import Evaluation
from automl_admm.core.messages import say_count
from automl_admm.runs.session.begun_change import refuse_half_changed
from automl_admm.runs.session.run_log import read_evaluations, read_log
from automl_admm.store.export import to_csv, to_jsonl
from automl_admm.store.output_files import write_output
from automl_admm.store.rescue.checking import check
from automl_admm.store.rescue.repair import Repaired, repair
from automl_admm.store.run_folder import RunFolder

RUN = click.argument("run", metavar="DIR", type=click.Path(path_type=Path))
FORMATS = {"csv": to_csv, "jsonl": to_jsonl}


@click.group("store")
def command() -> None:
    """Check, repair and export the evaluations of the run folder DIR."""


@command.command("check")
@RUN
def check_command(run: Path) -> None:
    """Read the whole store of DIR and list its faults (exit code 7).

    Nothing changes; a running search is not disturbed.
    """
    folder = RunFolder(run)
    refuse_half_changed(folder)
    report = check(folder.store)
    for fact in report.facts:
        say(fact)
    for problem in report.problems:
        say(f"PROBLEM: {problem}")
    if report.problems:
        hint = "There is nothing to repair it from: restore it from a copy."
        if report.has_sources:
            hint = f"`automl-admm store repair {run}` saves what can be read."
        raise StoreError(f"the store of '{run}' is not in order.", hint=hint)
    if folder.settings.exists():  # a store in order is of no use with settings of another version
        folder.read(folder.settings)
    say("in order")


@command.command("repair")
@RUN
def repair_command(run: Path) -> None:
    """Make a new store of the intact rows of a damaged one and its backup.

    The damaged files stay beside it under another name. A changed row is lost; nothing is made up.
    """
    repaired = repair(RunFolder(run).store)
    if repaired is None:
        say("in order: nothing was changed")
        return
    say(_explain(repaired))
    for path in repaired.kept:
        say(f"kept as it was: {path}")


def _explain(repaired: Repaired) -> str:
    if repaired.lost is None:
        lost = "nothing says how many there were"
    else:
        lost = f"{repaired.lost} lost" if repaired.lost else "none is lost"
    return f"{say_count(repaired.saved, 'evaluation')} saved, {lost}"


@command.command("export")
@RUN
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=or_screen,
    metavar="FILE",
    help="Write into this file instead of the screen.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(tuple(FORMATS)),
    default="csv",
    help="A table, or one JSON object a line with everything that the store keeps.",
    show_default=True,
)
def export_command(run: Path, output: Path | None, kind: str) -> None:
    """Write the evaluations of DIR for other programs.

    In a CSV file an apostrophe stands before text that a spreadsheet would take as a formula.
    """
    folder = RunFolder(run)
    # A store alone, such as one that was repaired, has values but not the names of its limits.
    if folder.settings.exists():
        log = read_log(folder)
        evaluations, limits = log.evaluations, [str(limit) for limit in log.limits]
    else:
        evaluations = read_evaluations(folder)
        limits = _numbered(evaluations)
    lines = FORMATS[kind](evaluations, limits)
    if output is not None:
        write_output(output, "".join(lines).encode())
        return
    for line in lines:
        hand_on(line)


def _numbered(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return names for the limits of a run without its settings."""
    most = max((len(evaluation.constraints) for evaluation in evaluations), default=0)
    return [f"constraint {number}" for number in range(1, most + 1)]
