"""The limits of a run explained on the terminal, as JSON, and their trade-offs as CSV."""

from __future__ import annotations

from collections.abc import Iterator

from automl_admm.cli.shared.screen import hand_on, say
from automl_admm.cli.shared.text_table import align, print_facts, print_table
from automl_admm.progress.visible_text import in_a_line
from automl_admm.report.document.numbers import plain, score
from automl_admm.report.sections.conflicts import (
    NOT_SO_FAR,
    ExplainedLimits,
    LimitPair,
    TradeOffPoint,
    tell_count,
)
from automl_admm.store.export import csv_line

MOST_POINTS = 10  # of a trade-off, on the screen
COLUMNS = (
    *("first_limit", "second_limit", "number", "first_value", "second_value"),
    *("first_holds", "second_holds", "feasible", "score"),
)


def print_limits(found: ExplainedLimits) -> None:
    """Print the explanation for a person."""
    print_facts(list(_facts(found)))
    if found.closest:
        say("\nThe closest; each would be within limits as wide as these:")
        rows = [
            (
                one.name,
                score(one.score),
                *map(plain, one.values),
                ", ".join(relaxed.would_be for relaxed in one.relaxed),
            )
            for one in found.closest
        ]
        headings = ("", found.metric, *found.limits, "would be met")
        print_table(headings, rows, right=range(len(headings) - 1))
    for pair in found.trade_offs:
        _print_pair(pair, found.metric)


def _facts(found: ExplainedLimits) -> Iterator[tuple[str, str]]:
    yield "limits", ", ".join(found.limits) or "none: give some with --constraint"
    yield "evaluations", tell_count(found)
    for one in found.never_met:
        early = ", stopped early" if one.stopped else ""
        seen = "none was measured" if one.best is None else plain(one.best)
        best = seen if one.best is None else f"{seen} (#{one.number}{early})"
        at = " at the thresholds that were tried" if one.at_thresholds else ""
        yield "never met", f"{one.limit}: best value seen{at} {best}"
    if not found.never_met:
        for names in found.conflicts:
            yield "conflict", f"{' and '.join(names)}: no evaluation keeps them together"
    if found.said is not None:
        yield "note", NOT_SO_FAR


def _print_pair(pair: LimitPair, metric: str) -> None:
    """Print the points of a trade-off; of many, those within both limits or nearest to a change."""
    shown = _nearest_to_both(pair)
    left = len(pair.points) - len(shown)
    more = f" ({left} more: --csv)" if left else ""
    say(f"\n{in_a_line(pair.limits[0])} against {in_a_line(pair.limits[1])}{more}:")
    rows = [
        (
            f"#{one.number}",
            *(_marked(*value) for value in zip(one.values, one.holds, strict=True)),
            score(one.score),
            "yes" if one.is_feasible else "no",
        )
        for one in shown
    ]
    headings = ("", *pair.limits, metric, "within all limits")
    say("\n".join(align([headings, *rows], right=range(4))))


def _nearest_to_both(pair: LimitPair) -> list[TradeOffPoint]:
    """Return a stretch of the points around those at which one limit begins to be broken."""
    if len(pair.points) <= MOST_POINTS:
        return list(pair.points)
    first_broken = next(
        (place for place, one in enumerate(pair.points) if not one.holds[0]), len(pair.points)
    )
    begin = min(max(first_broken - MOST_POINTS // 2, 0), len(pair.points) - MOST_POINTS)
    return list(pair.points[begin : begin + MOST_POINTS])


def _marked(value: float, is_held: bool) -> str:  # noqa: FBT001 - it is a fact
    return plain(value) if is_held else f"{plain(value)} !"


def hand_on_csv(found: ExplainedLimits) -> None:
    """Print every point of every trade-off as a line of CSV."""
    hand_on(csv_line(COLUMNS))
    for pair in found.trade_offs:
        for one in pair.points:
            hand_on(
                csv_line(
                    (*pair.limits, one.number, *one.values, *one.holds, one.is_feasible, one.score)
                )
            )
