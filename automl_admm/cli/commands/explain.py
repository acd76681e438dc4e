"""`automl-admm explain`: one evaluation of a run, or its limits, as the run folder knows them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from automl_admm.cli.shared.limits_explained import hand_on_csv, print_limits
from automl_admm.cli.shared.screen import hand_on_json, say
from automl_admm.cli.shared.text_table import print_facts, print_side_by_side
from automl_admm.core.percentages import percent
from automl_admm.pipelines.thresholds.single import say_threshold
from automl_admm.report.content import as_plain
from automl_admm.report.document.numbers import NONE, duration, plain, score, signed
from automl_admm.report.one_evaluation import Explained, LimitMeasured, Seconds, explain
from automl_admm.report.sections.conflicts import explain_limits
from automl_admm.report.view import read_view

Fact = tuple[str, str]


@click.command("explain")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("key", required=False)
@click.option(
    "--limits",
    "of_limits",
    is_flag=True,
    help="Explain the limits: which conflict, the closest evaluations, the trade-offs.",
)
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="With --limits: print the trade-offs as CSV.")
def command(run: Path, key: str | None, *, of_limits: bool, as_json: bool, as_csv: bool) -> None:
    """Explain the evaluation KEY of the run folder RUN, and how the winner differs from it.

    KEY is a key as `automl-admm leaderboard` shows it, a beginning that no other key has, or a
    number such as 12. With --limits it explains the limits instead: the smallest set that no
    evaluation keeps together, what would be met, and what each pair of limits trades.
    """
    if (key is None) != of_limits:
        raise click.UsageError("say one of KEY, an evaluation, and --limits.")
    if as_csv and (as_json or not of_limits):
        raise click.UsageError("--csv goes with --limits, and not with --json.")
    if key is not None:
        _explain_one(run, key, as_json=as_json)
        return
    found = explain_limits(read_view(run).searched)
    if as_json:
        hand_on_json({"schema": 1, **as_plain(found)})
    else:
        (hand_on_csv if as_csv else print_limits)(found)


def _explain_one(run: Path, key: str, *, as_json: bool) -> None:
    found = explain(read_view(run), key)
    if as_json:
        hand_on_json({"schema": 1, **as_plain(found)})
        return
    print_facts(list(_facts(found)))
    _print_parameters(found)
    if found.trace:
        say(f"\n{'the end of it':<13}")
        say(found.trace)


def _facts(found: Explained) -> Iterator[Fact]:
    yield "evaluation", f"#{found.number}, key {found.key}"
    yield "pipeline", found.pipeline
    yield "status", f"{found.status}: {found.message}" if found.message else found.status
    yield "rank", _rank(found)
    if found.one_class is not None:
        yield "decides", f"calls every row '{found.one_class}', so it is never within the limits"
    yield "score", _score(found)
    for limit in found.limits:
        yield "limit", _limit(limit)
    if found.threshold is not None or found.decisions:
        yield "decisions", _decisions(found)
    if found.undecided is not None:
        yield "undecided", found.undecided
    if found.shipped_at is not None:
        yield "model", f"{found.shipped_at}; the values here are those of the search's own choice"
    if found.shipped_with is not None:
        yield "model", f"{found.shipped_with}; the values here are means over folds"
    if found.fidelity < 1:
        yield "rows", f"trained on {percent(found.fidelity)} of the rows"
    yield "seconds", _seconds(found.seconds)
    if found.seconds.steps:
        parts = (f"{name} {duration(spent)}" for name, spent in found.seconds.steps.items())
        yield "steps", f"fits, all folds: {', '.join(parts)}"
    yield "proposed", _proposed(found)
    for name, pick in found.selection.items():
        yield "selection", f"{name}: {pick if isinstance(pick, str) else ' → '.join(pick)}"
    yield "winner", _winner(found)


def _rank(found: Explained) -> str:
    if found.rank is None:
        return f"none: only a success on all rows and folds has one ({found.ranked} have)"
    place = f"{found.rank} of {found.ranked}"
    return place if found.is_feasible else f"{place}, behind all that are within the limits"


def _score(found: Explained) -> str:
    folds, told = found.folds, f"{found.metric} {score(found.score)}"
    if folds.left:
        left = "1 fold was" if folds.left == 1 else f"{folds.left} folds were"
        told += f", a forecast: {left} not run"
    if not folds.scores:
        return told
    told += f"; by fold {', '.join(map(score, folds.scores))}"
    if folds.deviation is None:
        return told
    return f"{told}; standard deviation {score(folds.deviation)}"


def _limit(one: LimitMeasured) -> str:
    if one.value is None or one.excess is None:
        return f"{one.limit}: not measured"
    side = "below" if one.at_least else "above"
    verdict = f"OUTSIDE, {one.excess:.4g} {side} the bound" if one.excess else "within"
    if not (one.holds or one.excess):
        verdict = "does not count, as every row is called the same"
    return f"{one.limit}: {plain(one.value)}, {verdict}"


def _decisions(found: Explained) -> str:
    rates = [f"{name.replace('_', ' ')} {plain(rate)}" for name, rate in found.decisions.items()]
    at = [] if found.threshold is None else [f"threshold {_threshold(found.threshold)}"]
    at += [f"{group} {_threshold(one)}" for group, one in found.group_thresholds.items()]
    return ", ".join([*at, *rates])


def _threshold(one: float | str) -> str:
    return one if isinstance(one, str) else say_threshold(one)


def _seconds(spent: Seconds) -> str:
    if spent.fit is None:
        return duration(spent.total)
    parts = (
        f"{name} {duration(value)}"
        for name, value in (
            ("fits", spent.fit),
            ("predictions", spent.predict),
            ("scores and limits", spent.measure),
            ("process", spent.other),
        )
    )
    return f"{duration(spent.total)}: {', '.join(parts)}"


def _proposed(found: Explained) -> str:
    one, order = found.proposed, f"number {found.number} of {found.evaluations}"
    if one.iteration is not None:
        order += f", ended in outer iteration {one.iteration}"
    if one.strategy is None:
        return f"by {one.by}, {order}"
    solvers = [f"{one.theta_solver} for parameters"]
    if one.strategy == "admm":
        solvers.append(f"{one.z_solver} for the structure")
    return f"by {one.by}, {order} ({one.strategy}: {', '.join(solvers)})"


def _winner(found: Explained) -> str:
    if found.winner is None:
        return "this one" if found.is_winner else "none yet"
    best = found.winner
    lead = "" if best.lead is None else f" ({signed(best.lead)})"
    return f"#{best.number}, {found.metric} {score(best.score)}{lead}"


def _print_parameters(found: Explained) -> None:
    """Print the parameters, beside those of the winner."""
    if found.winner is None:
        return
    beside, titles = found.winner.beside, (f"#{found.number}", f"winner #{found.winner.number}")
    say("")
    rows = beside.rows(NONE)
    if not rows:
        say("the same pipeline as that of the winner")
        return
    print_side_by_side(("differs", *titles), rows)
    same = len(beside.parameters) - len(beside.differences)
    if same:
        say(f"{same} more parameter{' is' if same == 1 else 's are'} equal")
