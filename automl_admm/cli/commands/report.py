"""`automl-admm report`: a run as one page, and as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.run_options import file_options_given, with_file_options
from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.core.errors import StoreError
from automl_admm.core.messages import resume_command
from automl_admm.data.reading.streams import title_of
from automl_admm.data.reading.tables import place_in
from automl_admm.report.group_table import group_table
from automl_admm.report.sections.verdict import say_state
from automl_admm.report.view import read_view
from automl_admm.report.watching import watch_run
from automl_admm.report.writing import make_report, places_of, write_report
from automl_admm.store.run_folder import RunFolder

if TYPE_CHECKING:
    from automl_admm.report.rows.given import RowsAsked


@with_file_options
@click.command("report")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="File for the page; its numbers are put beside it as .json. [default: RUN/report.html]",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Table with the target in it: adds curves, thresholds, groups, importance of columns.",
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="COL[,COL…]",
    help="Columns of --data to compare groups by, such as sex or age:30,50; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as JSON; write nothing.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the rates by group as CSV alone.")
@click.option("--watch", is_flag=True, help="Write the page anew until the run ends.")
def command(
    run: Path,
    output: Path | None,
    data: Path | None,
    groups: tuple[str, ...],
    *,
    as_json: bool,
    as_csv: bool,
    watch: bool,
    **options: Any,
) -> None:
    """Write the report of the run folder RUN as one HTML page, which needs no script.

    The run may be finished, still running or killed. With --data its model is measured on labelled
    rows, too; give rows that the run has not seen.
    """
    if as_json and output is not None:
        raise click.UsageError("--json prints the numbers; leave out -o, or leave out --json.")
    if as_json and watch:
        raise click.UsageError("--watch writes a page; leave out --json, or leave out --watch.")
    if data is not None and watch:
        raise click.UsageError("--watch follows a run; leave out --data, or leave out --watch.")
    if groups and data is None:
        raise click.UsageError("--group compares rows of a table; name it with --data FILE.")
    if as_csv and (data is None or as_json or output is not None):
        raise click.UsageError("--csv prints groups of --data FILE; leave out --json and -o.")
    if watch:
        _watch(run, output)
        return
    with unprinted():
        asked = None if data is None else _rows(run, data, groups, options)
        if as_csv:
            content = "".join(group_table(read_view(run, asked)))
        elif as_json:
            content = make_report(run, asked).content.decode()
        else:
            page, numbers = write_report(run, output, asked)
    if as_json or as_csv:
        hand_on(content)
    else:
        say(f"{page}: the report, for any browser; the same numbers are in {numbers}")


def _rows(run: Path, data: Path, groups: tuple[str, ...], options: dict[str, Any]) -> RowsAsked:
    # Only rows need the model, and with it scikit-learn.
    from automl_admm.report.rows.given import RowsAsked
    from automl_admm.runs.finish.model_file import read_rows

    folder = RunFolder(run)
    manifest = folder.read(folder.model_manifest)
    given = file_options_given(options)
    frame = read_rows(manifest, data, None, given)
    return RowsAsked(frame, title_of(data), data, groups, place_in(data, given))


def _watch(run: Path, output: Path | None) -> None:
    """Follow the run; raise if its process is gone before the end of the run."""
    last = watch_run(run, output, lambda page: say(f"{page}: the report, which follows the run"))
    if not last.is_over:
        raise StoreError(
            f"the run '{run}' is {say_state(last)}; {places_of(run, output)[0]} has what it left.",
            hint=f"Go on with: {resume_command(run)}",
        )
    say(f"the run has ended ({say_state(last)}); the page is complete")
