"""`automl-admm report`: a run as one page, and as JSON."""

from __future__ import annotations

from pathlib import Path

import click

from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.cli.shared.summary import resume_command
from automl_admm.core.errors import StoreError
from automl_admm.report.sections.verdict import say_state
from automl_admm.report.watching import watch_run
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
@click.option("--watch", is_flag=True, help="Write the page anew until the run ends.")
def command(run: Path, output: Path | None, *, as_json: bool, watch: bool) -> None:
    """Write the report of the run folder RUN as one HTML page, which needs no script.

    The run may be finished, still running or killed.
    """
    if as_json and output is not None:
        raise click.UsageError("--json prints the numbers; leave out -o, or leave out --json.")
    if as_json and watch:
        raise click.UsageError("--watch writes a page; leave out --json, or leave out --watch.")
    if watch:
        _watch(run, output)
        return
    if as_json:
        hand_on(make_report(run).content.decode())
        return
    page, numbers = write_report(run, output)
    say(f"{page}: the report, for any browser; the same numbers are in {numbers}")


def _watch(run: Path, output: Path | None) -> None:
    """Follow the run; raise if its process is gone before the end of the run."""
    last = watch_run(run, output, lambda page: say(f"{page}: the report, which follows the run"))
    if not last.is_over:
        raise StoreError(
            f"the run '{run}' is {say_state(last)}; the page has what it left.",
            hint=f"Go on with: {resume_command(str(run))}",
        )
    say(f"the run has ended ({say_state(last)}); the page is complete")
