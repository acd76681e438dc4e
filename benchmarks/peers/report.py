"""The report: who was better, by how much, at what cost, and who failed or took too long.

Only splits on which all systems of the report have ended, well or badly, are ranked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from .ranking import Block, Rank, compare_all, count_places, rank_all, tally

Record = dict[str, Any]
# Ending later than this after the budget is an overrun.
GRACE = 2.0
PRIMARY = {"binary": "auc", "multiclass": "log_loss", "regression": "r2"}
TITLES = {
    "auc": "AUC (two classes, larger is better)",
    "log_loss": "Log loss (classes, smaller is better)",
    "accuracy": "Accuracy (classes, larger is better)",
    "r2": "R² (quantities, larger is better)",
}
MOMENTS = (5, 10, 20, 40, 60, 150, 300)


@dataclass(frozen=True)
class Table:
    """A Markdown table."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        """Its lines; all columns but the first are numbers."""
        rule = ["---", *["---:"] * (len(self.header) - 1)]
        lines = [self.header, rule, *self.rows]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def report(records: Sequence[Record], systems: Sequence[str]) -> str:
    """Return the reports of all budgets, the shortest first."""
    budgets = sorted({record["budget"] for record in records})
    chosen = [record for record in records if record["system"] in systems]
    return "\n\n".join(_of_budget(chosen, systems, budget) for budget in budgets)


def _of_budget(records: Sequence[Record], asked: Sequence[str], budget: float) -> str:
    ours = [record for record in records if record["budget"] == budget]
    seen = {record["system"] for record in ours}
    systems = [system for system in asked if system in seen]
    splits: dict[tuple[Any, ...], dict[str, Record]] = {}
    for record in ours:
        split = (record["set"], record["seed"], record["split"])
        splits.setdefault(split, {})[record["system"]] = record
    whole = [found for found in splits.values() if len(found) == len(systems)]
    parts = [f"# {budget:g} s", tell_ranks(whole, systems)]
    if len(whole) < len(splits):
        parts.append(f"Not ranked: {len(splits) - len(whole)} splits that some have not done yet.")
    parts += [tell_costs(ours, systems)]
    parts += [tell_scores(ours, systems, metric) for metric in TITLES]
    parts += [tell_anytime(ours, systems, budget), _failures(ours)]
    return "\n\n".join(part for part in parts if part)


def block_of(found: dict[str, Record]) -> Block:
    """Return the scores of a split in the metric that all were asked to optimise."""
    some = next(iter(found.values()))
    scores = {system: _primary(record) for system, record in found.items()}
    return Block(some["set"], scores)


def _primary(record: Record) -> float | None:
    if "error" in record:
        return None
    metric = PRIMARY[record["kind"]]
    value = float(record["scores"][metric])
    return -value if metric == "log_loss" else value


def tell_ranks(whole: Sequence[dict[str, Record]], systems: Sequence[str]) -> str:
    """Return the ranks on the splits that all have done, and their tests."""
    return tell_blocks(
        [block_of(found) for found in whole], systems, "AUC, log loss of many classes, R²"
    )


def tell_blocks(blocks: Sequence[Block], systems: Sequence[str], metrics: str) -> str:
    """Return the ranks in these blocks, and their tests."""
    if not blocks or len(systems) < 2:
        return "Nothing to rank yet: it takes two systems on one split."
    ranks, places = rank_all(blocks, systems), count_places(blocks, systems)
    ordered = sorted(systems, key=lambda system: ranks[system].mean)
    sets = len({block.data_set for block in blocks})
    rows = [
        [system, _rank(ranks[system]), f"{ranks[system].worst:g}"]
        + [str(n) for n in (places[system].first, places[system].shared, places[system].last)]
        for system in ordered
    ]
    header = ["system", "mean rank [95 %]", "worst", "first", "first with others", "last"]
    title = f"Ranks over {sets} sets, {len(blocks)} splits ({metrics}):"
    return "\n\n".join([title, str(Table(header, rows)), _tests(blocks, systems, ordered)])


def _rank(rank: Rank) -> str:
    return f"{rank.mean:.2f} [{rank.low:.2f}, {rank.high:.2f}]"


def _tests(blocks: Sequence[Block], systems: Sequence[str], ordered: Sequence[str]) -> str:
    """Compare the first of the systems asked for, which is ours by default, with each other."""
    own = systems[0]
    found = compare_all(blocks, systems, own)
    rows = []
    for other in (system for system in ordered if system != own):
        won = tally(blocks, own, other)
        p = "" if found is None else f"{found.pairs[other]:.3f}"
        rows.append([other, str(won.wins), str(won.losses), str(won.ties), p])
    table = Table([f"{own} against", "wins", "losses", "ties", "Nemenyi p"], rows)
    if found is None:
        return str(table)
    told = (
        f"Friedman: χ² = {found.statistic:.2f}, p = {found.p:.3g}; ranks of sets that differ by"
        f" {found.critical_distance:.2f} differ at 5 % (Nemenyi)."
    )
    return f"{table}\n\n{told}"


def tell_costs(records: Sequence[Record], systems: Sequence[str]) -> str:
    """Return the table of failures, overruns, times and memory."""
    header = ["system", "runs", "failed", "overran", "latest s", "fit s", "processor s"]
    header += ["peak MB", "µs a row", "evaluations"]
    rows = [_cost_row(system, [r for r in records if r["system"] == system]) for system in systems]
    title = (
        f"Costs, medians over runs; an overrun is a fit of more than {GRACE:g} s over the budget:"
    )
    return f"{title}\n\n{Table(header, rows)}"


def _cost_row(system: str, runs: Sequence[Record]) -> list[str]:
    fits = [run["fit_seconds"] for run in runs if "fit_seconds" in run]
    delays = [delay for run in runs if (delay := delay_of(run)) is not None]
    told = [run["evaluations"] for run in runs if run.get("evaluations") is not None]
    return [
        system,
        str(len(runs)),
        str(sum("error" in run for run in runs)),
        str(sum(delay > GRACE for delay in delays)),
        f"{max(delays):+.1f}" if delays else "",
        _median(fits, ".1f"),
        _median([run["cpu_seconds"] for run in runs], ".1f"),
        _median([run["peak_bytes"] / 1e6 for run in runs], ".0f"),
        _median([run["row_seconds"] * 1e6 for run in runs if "row_seconds" in run], ".1f"),
        _median(told, "g"),
    ]


def delay_of(run: Record) -> float | None:
    """Return the seconds from the end of the budget to that of the fit; None if `fit` raised.

    The fit of a run that was stopped had no end: it counts up to then.
    """
    if "fit_seconds" in run:
        return float(run["fit_seconds"] - run["budget"])
    return float(run["wall_seconds"] - run["budget"]) if run["exit_code"] is None else None


def _median(values: Iterable[float], form: str) -> str:
    found = list(values)
    return f"{median(found):{form}}" if found else ""


def tell_scores(records: Sequence[Record], systems: Sequence[str], metric: str) -> str:
    """Return the table of a metric: means over seeds, the best in bold."""
    cells: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        cells.setdefault(record["set"], {}).setdefault(record["system"], []).append(record)
    kinds = {"auc": {"binary"}, "r2": {"regression"}}.get(metric, {"binary", "multiclass"})
    rows = [
        [name, *_score_row([found.get(system, []) for system in systems], metric)]
        for name, found in sorted(cells.items())
        if any(record["kind"] in kinds for runs in found.values() for record in runs)
    ]
    return f"{TITLES[metric]}:\n\n{Table(['set', *systems], rows)}" if rows else ""


def _score_row(found: Sequence[Sequence[Record]], metric: str) -> list[str]:
    good = [[run["scores"][metric] for run in runs if "error" not in run] for runs in found]
    means = [fmean(values) if values else math.nan for values in good]
    best: Callable[[list[float]], float] = min if metric == "log_loss" else max
    top = best([mean for mean in means if not math.isnan(mean)] or [math.nan])
    return [
        _cell(mean, is_best=round(mean, 4) == round(top, 4), failed=len(runs) - len(values))
        if runs
        else ""
        for mean, values, runs in zip(means, good, found, strict=True)
    ]


def _cell(mean: float, *, is_best: bool, failed: int) -> str:
    if math.isnan(mean):
        return "failed"
    shown = f"**{mean:.4f}**" if is_best else f"{mean:.4f}"
    return f"{shown} ({failed} failed)" if failed else shown


def tell_anytime(records: Sequence[Record], systems: Sequence[str], budget: float) -> str:
    """Return how far from its own last incumbent each system was at some moments.

    Validation losses of two systems cannot be compared: each measures on rows of its own choice.
    """
    moments = [moment for moment in MOMENTS if moment <= budget]
    rows = []
    for system in systems:
        told = [r["anytime"] for r in records if r["system"] == system and r.get("anytime")]
        if told:
            rows.append([system, _median((curve[0][0] for curve in told), ".1f")])
            rows[-1] += [_behind(told, moment) for moment in moments]
    header = ["system", "first model s", *[f"{moment} s" for moment in moments]]
    title = (
        "Validation loss (1 - AUC, log loss, 1 - R²) of the incumbent over that at the end: the"
        " median of the runs that had one by then, and how many had:"
    )
    return f"{title}\n\n{Table(header, rows)}" if rows and moments else ""


def _behind(curves: Sequence[Sequence[Sequence[float]]], moment: float) -> str:
    """Return the median of the ratios and the number of curves that have begun by a moment."""
    ratios = []
    for curve in curves:
        losses = [loss for seconds, loss in curve if seconds <= moment]
        if losses:
            ratios.append(_ratio(losses[-1], curve[-1][1]))
    return f"{median(ratios):.3f} ({len(ratios)}/{len(curves)})" if ratios else f"(0/{len(curves)})"


def _ratio(loss: float, last: float) -> float:
    if loss == last:
        return 1.0
    return loss / last if last > 0 else math.inf


def _failures(records: Sequence[Record]) -> str:
    lines = [
        f"- {r['system']} on {r['set']}, seed {r['seed']}: {' '.join(r['error'].split())}"
        for r in records
        if "error" in r
    ]
    return "\n".join(["Failures:", "", *lines]) if lines else "No failures."
