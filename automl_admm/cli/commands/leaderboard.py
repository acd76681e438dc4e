"""`automl-admm leaderboard`: list the evaluations of a run, best first."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.cli.shared.output_option import or_screen
from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.cli.shared.text_table import print_table
from automl_admm.pipelines.thresholds.by_group import name_thresholds, name_weights
from automl_admm.progress.visible_text import in_a_line
from automl_admm.report.board import Board, make_board, short_keys
from automl_admm.report.document.numbers import NONE, plain, score
from automl_admm.report.outranked import tell_outranked
from automl_admm.report.shipped import tell_pooled_values, tell_shipped_thresholds
from automl_admm.runs.finish.ensemble import Ensemble
from automl_admm.runs.finish.of_folds import read_of_folds
from automl_admm.runs.finish.passed_over import WENT_WRONG, read_passed_over, say_unsound
from automl_admm.runs.saved.own_certificate import is_of_the_model, tell_swapped
from automl_admm.runs.session.model_run import of_other_session, say_earlier
from automl_admm.runs.session.run_log import Log, read_log
from automl_admm.runs.standings import Standing, standings
from automl_admm.store.export import csv_line, finite_only
from automl_admm.store.output_files import write_output
from automl_admm.store.run_folder import RunFolder

ON_SCREEN = 20


@click.command("leaderboard")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-n",
    "count",
    type=click.IntRange(1),
    metavar="N",
    help=f"Number of lines. [default: {ON_SCREEN}; all with --csv and --json]",
)
@click.option("--all", "show_all", is_flag=True, help="Show every evaluation, failures included.")
@click.option(
    "--sort",
    metavar="COLUMN",
    help='Sort by a column, best first: score, seconds, a limit such as "fpr <= 0.1", …',
)
@click.option("--reverse", is_flag=True, help="Turn the order around.")
@click.option("--csv", "as_csv", is_flag=True, help="Print the columns as CSV.")
@click.option("--json", "as_json", is_flag=True, help="Print the columns as JSON.")
@click.option(
    "-o",
    "output",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=or_screen,
    metavar="FILE",
    help="With --csv or --json: write into this file.",
)
def command(run: Path, count: int | None, output: Path | None, **given: Any) -> None:
    """Show the best evaluations of the run folder RUN, those within the limits first.

    Below them stand those that were stopped early, with a forecast of their score (≈). A value
    outside its limit has a ! and its distance from the bound.
    """
    is_data = given["as_csv"] or given["as_json"]
    _check_options(count, output, **given)
    folder = RunFolder(run)
    log = read_log(folder)
    board = _board(log, whole=is_data or given["show_all"])
    board = board if given["sort"] is None else board.sorted_by(given["sort"])
    known = len(board.standings)
    rows = range(known - 1, -1, -1) if given["reverse"] else range(known)
    most = known if is_data or given["show_all"] else ON_SCREEN
    shown = board.taken(rows[: most if count is None else count])
    if is_data:
        _write(_as_csv(shown) if given["as_csv"] else _as_json(shown, log), output)
        return
    _show(shown, log, folder, left=len(log.evaluations) - len(shown.standings))


def _check_options(count: int | None, output: Path | None, **given: Any) -> None:
    if given["as_csv"] and given["as_json"]:
        raise click.UsageError("--csv and --json exclude each other.")
    if count is not None and given["show_all"]:
        raise click.UsageError("-n gives a number of lines; leave it out, or leave out --all.")
    if output is not None and not (given["as_csv"] or given["as_json"]):
        raise click.UsageError("-o takes data: add --csv or --json.")


def _board(log: Log, *, whole: bool) -> Board:
    """Return all evaluations, or those with a score: ranked ones, and those stopped early."""
    # Losses are minimised: the score of a metric is its best value less the loss.
    best = float(log.settings["metric_best"])
    standing = standings(log.evaluations, log.limits)
    some = tuple(one for one in standing if whole or one.rank or one.evaluation.folds_left)
    return make_board(some, log.limits, log.settings["metric"], lambda one: best - one.loss)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        hand_on(text)
    else:
        write_output(output, text.encode())


def _as_csv(board: Board) -> str:
    heads = csv_line(column.name for column in board.columns)
    cells_of = (["" if value != value else value for value in row] for row in board.rows)  # noqa: PLR0124 - NaN
    return "".join([heads, *map(csv_line, cells_of)])


def _as_json(board: Board, log: Log) -> str:
    names = [column.name for column in board.columns]
    content = {
        "schema": 1,
        "metric": log.settings["metric"],
        "limits": [
            {"limit": str(one), "name": one.name, "bound": one.bound, "at_least": one.at_least}
            for one in log.limits
        ],
        "evaluations": [dict(zip(names, row, strict=True)) for row in board.rows],
    }
    return json.dumps(finite_only(content), indent=2, allow_nan=False) + "\n"


def _show(board: Board, log: Log, folder: RunFolder, left: int) -> None:
    _print_board(board, log)
    if left:
        say(f"{left} more: --all shows every evaluation")
    manifest = _manifest(folder)
    content = folder.read(folder.settings)
    other = () if manifest is None else of_other_session(manifest, content)
    earlier = (f"{say_earlier(other)}: `automl-admm resume` goes on to one of its own",)
    for line in earlier if other else (*_what_shipped(folder, log), *_of_model(manifest, log)):
        say(in_a_line(line))
    if (swapped := tell_swapped(folder, content, manifest)) is not None:
        say(in_a_line(swapped))
    best = next((one for one in standings(log.evaluations, log.limits) if one.rank), None)
    by_group = "" if best is None else name_thresholds(best.evaluation.details)
    if best is not None and by_group:
        say(in_a_line(f"#{best.evaluation.number} decides by group: {by_group}"))
    by_class = "" if best is None else name_weights(best.evaluation.details)
    if best is not None and by_class:
        say(in_a_line(f"#{best.evaluation.number} weighs classes: {by_class}"))
    if folder.certificate.exists() and not other:
        _print_certificate(folder, read_certificate(folder.certificate))
    counted = Counter(evaluation.ending for evaluation in log.evaluations)
    told = ", ".join(f"{number} {status}" for status, number in counted.most_common())
    say(told or "no evaluation has ended yet")


def _manifest(folder: RunFolder) -> Mapping[str, Any] | None:
    return folder.read(folder.model_manifest) if folder.model_manifest.exists() else None


def _of_model(manifest: Mapping[str, Any] | None, log: Log) -> Iterator[str]:
    """Yield what is to be known of the shipped model, beside its numbers."""
    if manifest is None:
        return
    yield from _shipped_ensemble(manifest, log)
    worse, of_folds = read_passed_over(manifest), read_of_folds(manifest)
    if worse is not None:
        yield worse
    for one in log.evaluations:
        if (shipped_at := tell_shipped_thresholds(manifest, one)) is not None:
            yield f"#{one.number} is {shipped_at}; its line has the values of the search's choice."
        if (pooled := tell_pooled_values(manifest, one)) is not None:
            yield f"#{one.number} is {pooled}; its line has means over folds."
    if of_folds is not None:
        yield f"what shipped is {of_folds}."
    if (only := manifest.get("one_class")) is not None:
        yield f"what shipped calls every row '{only}', so it is within no limit."
    if (unsound := say_unsound(manifest.get(WENT_WRONG))) is not None:
        yield unsound
    if (untested := manifest.get("untested")) is not None:
        yield f"what shipped is NOT CERTIFIED: {untested}."


def _what_shipped(folder: RunFolder, log: Log) -> Iterator[str]:
    """Yield the line that shipped, if others rank before it."""
    manifest, certificate = _manifest(folder), None
    if manifest is None:
        return
    if folder.certificate.exists():
        found = read_certificate(folder.certificate)
        certificate = found if is_of_the_model(folder, found, manifest) else None
    told = tell_outranked(manifest, certificate, standings(log.evaluations, log.limits))
    if told is not None:
        yield told


def _shipped_ensemble(manifest: Mapping[str, Any], log: Log) -> Iterator[str]:
    """Yield what the shipped ensemble is made of, if it is one."""
    if manifest.get("ensemble") is None:
        return
    known = {one.number: one for one in log.evaluations}
    ensemble = Ensemble.from_content(manifest["ensemble"], known)
    score = f"{log.settings['metric']} {manifest['validation_score']:.4f}"
    if ensemble is not None:
        yield f"what shipped is an ensemble with {score}: {'; '.join(ensemble.shares())}"


def _print_certificate(folder: RunFolder, certificate: Certificate) -> None:
    """Print the limits of the shipped pipeline on the rows set aside."""
    if not is_of_the_model(folder, certificate, _manifest(folder)):
        say("the certificate here is not that of the model in the folder, as it was written")
        return
    say("what shipped, on rows set aside:")
    rows = [
        (one.limit, plain(one.value), plain(one.bound), str(one).removeprefix(f"{one.limit}: "))
        for one in certificate.findings
    ]
    print_table(("limit", "value", "bound", "verdict"), rows, right=(1, 2))


def _print_board(board: Board, log: Log) -> None:
    limits = list(map(str, log.limits))
    headings = ["#", log.settings["metric"], *limits, "seconds", "status", "key", "pipeline"]
    keys = short_keys([one.key for one in log.evaluations])
    rows = [_row(one, log, keys[one.evaluation.key]) for one in board.standings]
    print_table(headings, rows, right=range(len(limits) + 3))


def _row(standing: Standing, log: Log, key: str) -> list[str]:
    evaluation = standing.evaluation
    values = [NONE] * len(log.limits)
    if evaluation.ok:
        triples = zip(log.limits, evaluation.constraints, standing.excess, strict=True)
        values = [tell_value(limit.at_least, *numbers) for limit, *numbers in triples]
    only = evaluation.one_class
    scored = score(float(log.settings["metric_best"]) - evaluation.loss)
    return [
        str(evaluation.number),
        f"{'≈' if evaluation.folds_left else ''}{scored}",
        *values,
        f"{evaluation.seconds:.2f}",
        evaluation.ending if only is None else f"{evaluation.ending}, all '{only}'",
        key,
        evaluation.text,
    ]


def tell_value(at_least: bool, value: float, excess: float) -> str:  # noqa: FBT001 - a fact
    """Return a value of a limit; one outside has a mark and its distance from the bound.

    >>> tell_value(False, 0.1253, 0.0253), tell_value(True, 0.4, 0.1), tell_value(True, 0.9, 0.0)
    ('0.1253 !+0.025', '0.4 !-0.1', '0.9')
    """
    if value != value:  # noqa: PLR0124 - NaN
        return f"{NONE} !"
    if excess == 0:
        return plain(value)
    return f"{plain(value)} !{'-' if at_least else '+'}{excess:.2g}"
