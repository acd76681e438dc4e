"""`automl-admm leaderboard`: what a run has tried, best first."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from automl_admm.certify.certificate import Certificate, read_certificate
from automl_admm.evaluation.group_thresholds import name_thresholds
from automl_admm.problem import Evaluation, Limit
from automl_admm.ranking import rank
from automl_admm.store.folder import RunFolder
from automl_admm.store.sqlite import SqliteStore


@click.command("leaderboard")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "-n",
    "count",
    type=click.IntRange(1),
    default=20,
    metavar="N",
    help="How many lines.",
    show_default=True,
)
def command(run: Path, count: int) -> None:
    """Show the best evaluations of the run folder RUN, those within the limits first."""
    folder = RunFolder(run)
    settings = folder.read(folder.settings)["settings"]
    limits = [Limit(item["name"], item["bound"], item["at_least"]) for item in settings["limits"]]
    store = SqliteStore(folder.store)
    try:
        evaluations = list(store.read())
    finally:
        store.close()
    console = Console(highlight=False)
    ranked = rank(evaluations, limits)[:count]
    console.print(_table(ranked, limits, settings))
    by_group = name_thresholds(ranked[0].details) if ranked else ""
    if by_group:
        console.print(f"#{ranked[0].number} decides by group: {by_group}", markup=False)
    if folder.certificate.exists():
        _print_certificate(console, read_certificate(folder.certificate))
    counted = Counter(evaluation.status.value for evaluation in evaluations)
    console.print(", ".join(f"{number} {status}" for status, number in counted.most_common()))


def _print_certificate(console: Console, certificate: Certificate) -> None:
    """The limits of the pipeline that shipped, on the rows that were set aside."""
    table = Table(
        box=None, pad_edge=False, title="what shipped, on rows set aside", title_justify="left"
    )
    for name in ("limit", "value", "bound"):
        table.add_column(name, justify="left" if name == "limit" else "right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for finding in certificate.findings:
        verdict = str(finding).removeprefix(f"{finding.limit}: ")
        table.add_row(finding.limit, f"{finding.value:.4g}", f"{finding.bound:.4g}", verdict)
    console.print(table)


def _table(ranked: list[Evaluation], limits: list[Limit], settings: dict[str, object]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column(str(settings["metric"]), justify="right", no_wrap=True)
    for limit in limits:
        table.add_column(str(limit), justify="right", no_wrap=True)
    table.add_column("seconds", justify="right", no_wrap=True)
    table.add_column("pipeline", overflow="fold")
    best = float(str(settings["metric_best"]))
    for evaluation in ranked:
        values = [
            f"{value:.4g}" + ("" if limit.holds(value) else " !")
            for limit, value in zip(limits, evaluation.constraints, strict=True)
        ]
        score = f"{best - evaluation.loss:.4f}"
        table.add_row(
            str(evaluation.number), score, *values, f"{evaluation.seconds:.2f}", evaluation.text
        )
    return table
