"""`automl-admm leaderboard`: list the evaluations of a run, best first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.cli.shared.screen import cells, grid, plain_console
from automl_admm.pipelines.thresholds.by_group import name_thresholds
from automl_admm.runs.finish.ensemble import Ensemble
from automl_admm.runs.session.run_log import Log, read_log
from automl_admm.runs.standings import Standing, standings
from automl_admm.store.run_folder import RunFolder


@click.command("leaderboard")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-n",
    "count",
    type=click.IntRange(1),
    default=20,
    metavar="N",
    help="Number of lines.",
    show_default=True,
)
def command(run: Path, count: int) -> None:
    """Show the best evaluations of the run folder RUN, those within the limits first.

    Below them stand those that were stopped early, with a forecast of their score (≈).
    """
    folder = RunFolder(run)
    log = read_log(folder)
    console = plain_console()
    standing = standings(log.evaluations, log.limits)
    ranked = [one for one in standing if one.rank]
    shown = [one for one in standing if one.rank or one.evaluation.folds_left]
    console.print(_table(shown[:count], log))
    for line in _shipped_ensemble(folder, log):
        console.print(line)
    by_group = name_thresholds(ranked[0].evaluation.details) if ranked else ""
    if by_group:
        console.print(f"#{ranked[0].evaluation.number} decides by group: {by_group}")
    if folder.certificate.exists():
        _print_certificate(console, read_certificate(folder.certificate))
    counted = Counter(evaluation.ending for evaluation in log.evaluations)
    console.print(", ".join(f"{number} {status}" for status, number in counted.most_common()))


def _shipped_ensemble(folder: RunFolder, log: Log) -> Iterator[str]:
    """Yield what the shipped ensemble is made of, if it is one."""
    if not folder.model_manifest.exists():
        return
    manifest = folder.read(folder.model_manifest)
    if manifest.get("ensemble") is None:
        return
    known = {one.number: one for one in log.evaluations}
    ensemble = Ensemble.from_content(manifest["ensemble"], known)
    score = f"{log.settings['metric']} {manifest['validation_score']:.4f}"
    if ensemble is not None:
        yield f"what shipped is an ensemble with {score}: {'; '.join(ensemble.shares())}"


def _print_certificate(console: Console, certificate: Certificate) -> None:
    """Print the limits of the shipped pipeline on the rows set aside."""
    title = "what shipped, on rows set aside"
    table = grid("limit", "value", "bound", "verdict", title=title, title_justify="left")
    for column in table.columns[1:3]:
        column.justify = "right"
    for column in table.columns[:3]:
        column.no_wrap = True
    table.columns[3].overflow = "fold"
    for finding in certificate.findings:
        verdict = str(finding).removeprefix(f"{finding.limit}: ")
        numbers = f"{finding.value:.4g}", f"{finding.bound:.4g}"
        table.add_row(*cells((finding.limit, *numbers, verdict)))
    console.print(table)


def _table(shown: Sequence[Standing], log: Log) -> Table:
    limits = map(str, log.limits)
    table = grid("#", log.settings["metric"], *limits, "seconds", "pipeline")
    for column in table.columns[:-1]:
        column.justify, column.overflow = "right", "fold"
    table.columns[-1].overflow = "fold"
    # Losses are minimised: the score of a metric is its best value less the loss.
    best = float(log.settings["metric_best"])
    for standing in shown:
        evaluation = standing.evaluation
        values = [
            f"{value:.4g}" + ("" if excess == 0 else " !")
            for value, excess in zip(evaluation.constraints, standing.excess, strict=True)
        ]
        score = f"{'≈' if evaluation.folds_left else ''}{best - evaluation.loss:.4f}"
        seconds = f"{evaluation.seconds:.2f}"
        table.add_row(*cells((evaluation.number, score, *values, seconds, evaluation.text)))
    return table
