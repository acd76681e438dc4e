"""`automl-admm report`: a run as one page, and as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.report.writing import make_report, write_report


@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File for the page; its numbers are put beside it as .json. [default: RUN/report.html]",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON; write nothing.")
def command(run: Path, output: Path | None, *, as_json: bool) -> None:
    """Write the report of the run folder RUN as one HTML page, which needs no script.

    The run may be finished, still running or killed.
    """
    if as_json and output is not None:
        raise click.UsageError("--json prints the numbers; leave out -o, or leave out --json.")
    if as_json:
        hand_on(make_report(run).content.decode())
        return
    page, numbers = write_report(run, output)
    say(f"{page}: the report, for any browser; the same numbers are in {numbers}")
