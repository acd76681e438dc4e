"""`automl-admm inspect`: show the columns of a table as `fit` would read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from automl_admm.cli.shared.run_options import (
    add_options,
    file_options_given,
    kinds_given,
    option_named,
    run_option,
    with_file_options,
)
from automl_admm.cli.shared.screen import cells, grid, hand_on_json, plain_console, say
from automl_admm.core.messages import say_count
from automl_admm.core.percentages import percent
from automl_admm.data.ingest.answers import PLAIN, decide_answers, read_target, tell_answers
from automl_admm.data.ingest.asking import TARGET, check_asked, refuse_kind_of_others
from automl_admm.data.ingest.doubts import doubts_of_header, find_doubts, task_of
from automl_admm.data.ingest.large_numbers import doubts_of_large_numbers
from automl_admm.data.ingest.leaks import find_leaks, tell_leaks
from automl_admm.data.ingest.records import LEFT_OUT
from automl_admm.data.ingest.reporting import REFUSED, inspect_columns
from automl_admm.data.reading.tables import place_in, read_table, split_target
from automl_admm.progress.visible_text import in_a_line

if TYPE_CHECKING:
    from automl_admm.data.ingest.reporting import ColumnFacts


@add_options(
    click.Option(["--target"], metavar="COL", help="The column to predict."),
    run_option(option_named("columns")),
)
@with_file_options
@click.command("inspect")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the columns as JSON.")
def command(data: Path, target: str | None, *, as_json: bool, **options: Any) -> None:
    """Show the kind of every column of DATA, as `fit` would read it, and what becomes of it."""
    asked = kinds_given(options["columns"])
    how = file_options_given(options, (target,))
    how = replace(how, exact=() if target is None else (target,))
    frame, y, answers = read_table(data, keep_codes=True, options=how), None, PLAIN
    if target is not None:
        frame, y = split_target(frame, target, place_in(data, how))
        answers = decide_answers(y, None, None, how.decimal)
        y = read_target(y, answers, place_in(data, how))
    refuse_kind_of_others(asked, {} if target is None else {target: TARGET})
    check_asked(asked, frame.columns)
    columns = inspect_columns(frame, asked, place_in(data, how))
    left_out = {one.name for one in columns if one.kind in (*LEFT_OUT, REFUSED)}
    leaks = () if y is None else find_leaks(frame, y, left_out)
    task = None if y is None else task_of(y)
    doubts = (
        *(() if task is None else find_doubts(y, task)),
        *doubts_of_header(list(frame.columns), target),
        *doubts_of_large_numbers(frame, {one.name for one in columns if one.kind == "number"}),
    )
    if as_json:
        content = {
            "rows": len(frame),
            "target": target,
            "task": task,
            "leaks": leaks,
            "doubts": doubts,
            "columns": [asdict(one) for one in columns],
        }
        hand_on_json(content)
        return
    of_target = "" if y is None else f", {task} of '{target}'"
    say(f"{data}: {say_count(len(frame), 'row')}, {say_count(len(columns), 'column')}{of_target}")
    _show(columns)
    for line in tell_answers(answers, target):
        say(in_a_line(line))
    for line in (*tell_leaks(leaks), *doubts):
        say(f"warning: {in_a_line(line)}", err=True)


def _show(columns: Sequence[ColumnFacts]) -> None:
    table = grid("column", "kind", "missing", "distinct", "note")
    for one in columns:
        missing = percent(one.missing) if one.missing else ""
        table.add_row(*cells((one.name, one.kind, missing, one.distinct, one.note)))
    plain_console().print(table)
