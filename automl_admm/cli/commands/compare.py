"""`automl-admm compare`: several runs side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.cli.shared.text_table import print_side_by_side
from automl_admm.pipelines.fit_results import say_interval
from automl_admm.progress.visible_text import in_a_line
from automl_admm.report.comparing.comparison import Comparison, compare
from automl_admm.report.comparing.run_facts import Outcome, RunFacts, read_facts
from automl_admm.report.content import as_plain
from automl_admm.report.document.numbers import NONE, confidence, duration, plain, score

LONGEST_DIGEST = 12
Row = tuple[str, ...]


@click.command("compare")
@click.argument(
    "runs", nargs=-1, required=True, metavar="RUN RUN…", type=click.Path(path_type=Path)
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def command(runs: tuple[Path, ...], *, as_json: bool) -> None:
    """Compare the run folders: settings, data, versions, results, and the winning pipelines.

    Runs of different data or with different metrics are shown beside each other, with a warning.
    """
    if len(runs) < 2:
        raise click.UsageError("name two run folders or more.")
    found = compare([read_facts(run) for run in runs])
    if as_json:
        hand_on_json({"schema": 1, **as_plain(found)})
        return
    _show(found)


def _show(found: Comparison) -> None:
    titles = _titles(found.runs)
    for title, run in zip(titles, found.runs, strict=True):
        if title != run.run:
            say(f"{in_a_line(title)}: {in_a_line(run.run)}")
    for line in found.warnings:
        sign = "note" if found.is_comparable else "warning: scores are NOT comparable"
        say(f"{sign}: {in_a_line(line)}", err=not found.is_comparable)
    _print("results", titles, list(_results([one.result for one in found.runs])))
    for name, rows in (
        ("data", found.data),
        ("settings", found.settings),
        ("versions", found.versions),
    ):
        lines = [(one.name, *map(_cell, one.values)) for one in rows]
        _print(name, titles, lines, found.equal[name])
    _print_winners(found, titles)


def _titles(runs: Sequence[RunFacts]) -> list[str]:
    """Return the names of the folders; the paths, if two have one name."""
    names = [Path(one.run).name for one in runs]
    return names if len(set(names)) == len(names) and all(names) else [one.run for one in runs]


def _print(name: str, titles: Sequence[str], rows: Sequence[Row], equal: int | None = None) -> None:
    say("")
    if not rows:
        say(f"{name}: the same")
        return
    print_side_by_side((name, *titles), rows)
    if equal:
        say(f"{equal} more {'is' if equal == 1 else 'are'} equal")


def _cell(value: Any) -> str:
    if value is None or value == "":
        return NONE
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return f"{text[:LONGEST_DIGEST]}…" if _is_digest(text) else text


def _is_digest(text: str) -> bool:
    return len(text) == 64 and set(text) <= set("0123456789abcdef")


def _results(found: Sequence[Outcome]) -> Iterator[Row]:
    yield ("verdict", *(one.kind for one in found))
    yield ("validation", *(f"{one.metric} {score(one.validation_score)}" for one in found))
    yield ("held out", *map(_held_out, found))
    limits = dict.fromkeys(limit.limit for one in found for limit in one.limits)
    for limit in limits:
        yield (limit, *(_limit(one, limit) for one in found))
    yield ("certificate", *map(_certificate, found))
    yield ("seconds", *(duration(one.seconds) for one in found))
    yield ("evaluations", *map(_counted, found))
    yield ("ended by", *(one.ended_by or NONE for one in found))


def _held_out(one: Outcome) -> str:
    if one.held_out_score is None:
        return NONE
    known = say_interval(one.held_out_interval)
    more = "" if known is None else f", {known}"
    return f"{one.metric} {score(one.held_out_score)} ({one.held_out_rows} rows{more})"


def _limit(one: Outcome, name: str) -> str:
    found = next((limit for limit in one.limits if limit.limit == name), None)
    if found is None:
        return "no such limit"
    value = f"{plain(found.value)}{_mark(found.holds)}"
    if found.held_out is None:
        return value
    return f"{value}, held out {plain(found.held_out)}{_mark(found.holds_held_out)}"


def _mark(is_held: bool | None) -> str:  # noqa: FBT001 - it is a fact
    return " !" if is_held is False else ""


def _certificate(one: Outcome) -> str:
    if one.is_certified is None:
        return NONE
    return f"{'CERTIFIED' if one.is_certified else 'NOT CERTIFIED'} at {confidence(one.confidence)}"


def _counted(one: Outcome) -> str:
    total = sum(one.evaluations.values())
    return f"{total}: {', '.join(f'{count} {status}' for status, count in one.evaluations.items())}"


def _print_winners(found: Comparison, titles: Sequence[str]) -> None:
    if found.winners is None:
        say("\nwinners")
        for title, run in zip(titles, found.runs, strict=True):
            say(f"{in_a_line(title)}: {in_a_line(' + '.join(run.result.pipelines) or NONE)}")
        return
    equal = len(found.winners.parameters) - len(found.winners.differences)
    _print("winner", titles, found.winners.rows(NONE), equal)
