"""`automl-admm monitor`: test the limits of a model in use on rows as they arrive."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from automl_admm.certify.watching import State, Watched
from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.model_warnings import warn_of_model
from automl_admm.cli.shared.run_options import file_options_given, with_file_options
from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.core.errors import NotCertifiedError
from automl_admm.core.messages import say_count
from automl_admm.data.drift import Shift
from automl_admm.runs.finish.model_file import read_rows
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.monitor.monitored import Monitored
from automl_admm.runs.saved.monitor.monitoring import monitor
from automl_admm.store.run_folder import RunFolder


@with_file_options
@click.command("monitor")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option(
    "--reference",
    type=click.Path(path_type=Path),
    help="Rows of the time of the fit, to compare columns with; their counts are kept.",
)
@click.option(
    "--confidence", default=0.95, show_default=True, help="That no alarm of all looks is false."
)
@click.option("--json", "as_text", is_flag=True, help="Print the look as JSON.")
def command(
    run: Path,
    data: Path,
    *,
    reference: Path | None,
    confidence: float,
    as_text: bool,
    **options: Any,
) -> None:
    """Look at DATA, rows that arrived since the last look at the model of the run folder RUN.

    If DATA has the target, the limits of the run are tested on all labelled rows of all looks, and
    on those of this look alone. Without it only shifts of columns and predictions are looked for.
    Exit code 6 says that a limit is broken.
    """
    folder = RunFolder(run)
    with unprinted():
        manifest = folder.read(folder.model_manifest)
        warn_of_model(folder, manifest)
        given = replace(file_options_given(options), must_be_sure=True)
        rows = GivenTable.of_file(data, manifest, given)
        known = None if reference is None else read_rows(manifest, reference, None, given)
        found = monitor(folder, rows, reference=known, confidence=confidence)
    if as_text:
        hand_on_json(found.as_json())
    else:
        _tell(found)
    if found.broken:
        names = ", ".join(one.limit for one in found.broken)
        raise NotCertifiedError(f"'{run}' is outside of its limits on new rows: {names}.")


def _tell(found: Monitored) -> None:
    rows = say_count(found.rows, "row")
    drawn = "" if found.drawn is None else f", {found.drawn} of them drawn"
    say(f"look {found.look}: {rows}{drawn}, {found.pooled_rows} labelled in all looks")
    for told in filter(None, (found.anew, found.doubt, found.again, found.given_twice)):
        say(f"warning: {told}", err=True)
    for one in found.groups:
        say(f"warning: {one}.", err=True)
    for one in found.not_counted:
        say(f"warning: {one}.", err=True)
    if found.untested:
        say(found.untested)
    for limit in found.limits:
        say(f"limit {limit.limit}: {_limit_line(limit)}")
    if not found.has_reference:
        say("shifts: not looked for; give --reference FILE once, with rows of the time of the fit")
        return
    say(f"shifts: {len(found.shifted)} of {say_count(len(found.shifts), 'column')}")
    for shift in found.shifted:
        say(f"SHIFTED: {_shift_line(shift)}")


def _limit_line(one: Watched) -> str:
    if math.isnan(one.pooled) and one.state is State.UNKNOWN:
        return "the rows so far do not tell"
    here = "" if math.isnan(one.value) else f"{one.value:.4g} here, "
    value = f"{here}{one.pooled:.4g} in all"
    if one.state is State.UNKNOWN:
        return f"{value}; no bound is known for it"
    ends = "" if math.isnan(one.lower) else f", between {one.lower:.4g} and {one.upper:.4g}"
    about = " (approximate)" if one.is_approximate else ""
    state = {State.BROKEN: "BROKEN", State.HOLDS: "holds", State.OPEN: "open"}[one.state]
    alone = " by the rows of this look alone" if one.recent else ""
    return f"{value}{ends}{about}: {state}{alone}"


def _shift_line(shift: Shift) -> str:
    return f"{shift.column}: stability index {shift.index:.2f}, p = {shift.p:.1g}"
