"""`automl-admm evaluate`: the score and the limits of a run's model on labelled rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from automl_admm.cli.shared.installed import unprinted
from automl_admm.cli.shared.run_options import file_options_given, with_file_options
from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.core.messages import say_count
from automl_admm.pipelines.fit_results import as_interval, say_interval
from automl_admm.runs.saved.given_table import GivenTable
from automl_admm.runs.saved.labelled_rows import MeasuredLimit, OnLabelledRows, evaluate_on
from automl_admm.store.run_folder import RunFolder


@with_file_options
@click.command("evaluate")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(run: Path, data: Path, *, as_json: bool, **options: Any) -> None:
    """Measure the model of the run folder RUN on DATA, a table with the target in it.

    Its score and its limits stand beside what the run said of them. Nothing is proven by that:
    `verify --fresh` tests the limits of a certified run.
    """
    folder = RunFolder(run)
    with unprinted():
        manifest = folder.read(folder.model_manifest)
        rows = GivenTable.of_file(data, manifest, file_options_given(options))
        found = evaluate_on(folder, rows)
    if as_json:
        hand_on_json(_as_json(found))
        return
    for line in _warnings(found):
        say(f"warning: {line}", err=True)
    say("\n".join(_lines(found)))


def _as_json(found: OnLabelledRows) -> dict[str, Any]:
    return {
        "rows": found.rows,
        "metric": found.metric,
        "score": found.score,
        "interval": found.interval,
        "learned_rows": found.learned,
        "doubt": found.doubt,
        "validation_score": found.said.get("validation_score"),
        "held_out_score": found.said.get("held_out_score"),
        "held_out_interval": found.said.get("held_out_interval"),
        **found.rates,
        "constraints": [
            {
                "limit": str(one.limit),
                "value": one.value,
                "validation": one.validation,
                "holds": one.holds,
            }
            for one in found.limits
        ],
        "groups": list(found.groups),
        "new_values": list(found.new_values),
        "given_twice": found.given_twice,
        "earlier": found.earlier,
        "mark": found.mark,
        "versions": list(found.versions),
    }


def _lines(found: OnLabelledRows) -> list[str]:
    said = [f"validation {_said(found.said.get('validation_score'))}"]
    if found.said.get("held_out_score") is not None:
        known = say_interval(as_interval(found.said.get("held_out_interval")))
        more = "" if known is None else f" ({known})"
        said.append(f"held out {_said(found.said['held_out_score'])}{more}")
    here = say_interval(found.interval)
    count = say_count(found.rows, "row")
    rows = count if here is None else f"{count}, {here}"
    lines = [f"{found.metric} {found.score:.4f} on {rows} (the run: {', '.join(said)})"]
    if found.rates:
        rates = (f"{name.replace('_', ' ')} {_said(rate)}" for name, rate in found.rates.items())
        lines.append(", ".join(rates))
    return lines + [_limit_line(one) for one in found.limits]


def _warnings(found: OnLabelledRows) -> Iterator[str]:
    """Yield the reasons to doubt the numbers."""
    if found.earlier is not None:
        yield f"{found.earlier}."
    if found.learned:
        told = f"{found.learned} of these {found.rows} rows are, or equal, rows that the model"
        yield f"{told} learned from: the numbers here are too good for new rows"
    if found.given_twice is not None:
        yield found.given_twice.removesuffix(".")
    yield from found.versions
    if found.mark is not None:
        yield found.mark
    yield from (*found.groups, *found.new_values)


def _said(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _limit_line(one: MeasuredLimit) -> str:
    verdict = {True: "holds", False: "BROKEN", None: "these rows do not tell"}[one.holds]
    if one.holds is False and one.one_class is not None:
        verdict = f"does not count, as the model calls every row '{one.one_class}'"
    value = "" if one.holds is None else f"{one.value:.4g} "
    known = "" if one.validation is None else f"(the run: {one.validation:.4g})"
    return f"limit {one.limit}: {value}{known}: {verdict}"
