"""Tables and sentences of the pages, made from the files of measured numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import frames_table
import peers_tables
import study_pages
from printed_tables import MEASURED, fenced, markdown_table, table, wrapped
from scipy.stats import beta

Record = Mapping[str, Any]


@cache
def measured(name: str) -> Any:
    """Return the content of one of the files in measured/."""
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def limits_table() -> str:
    """Return the settings by methods, and the totals."""
    found = measured("limits")
    methods = found["methods"]
    lines = [f"{'within  latency    gap   best of all':<38}" + "".join(f"{m:>19}" for m in methods)]
    for one in found["settings"]:
        setting = f"{one['within']:4.0%}{one['latency_us']:9.3f} us{one['gap']:7.3f}"
        cells = (one["methods"][method] for method in methods)
        lines.append(f"{setting}{one['best_of_all']:15.4f}" + "".join(map(_limits_cell, cells)))
    best = (f"{_firsts(method):>19}" for method in methods)
    won = (f"{found['seeds_won'][method]:>19.1f}" for method in methods)
    seconds = (f"{found['solver_seconds'][method]:>19.2f}" for method in methods)
    lines += [
        f"{'best median, or level with it (*)':<38}" + "".join(best),
        f"{'seeds won':<38}" + "".join(won),
        f"{'seconds of the solvers a run':<38}" + "".join(seconds),
    ]
    return fenced(lines)


def _limits_cell(cell: Record) -> str:
    mark = "*" if cell["is_best"] else " "
    return f"{cell['median']:>8.4f}{mark}{cell['seeds_won']:>5.1f}{cell['within']:>5.0%}"


def _firsts(method: str) -> int:
    """Count the settings at which a method has the best median, or is level with it."""
    return sum(one["methods"][method]["is_best"] for one in measured("limits")["settings"])


def limits_against() -> str:
    """Return ADMM beside each method, by settings and by pairs of runs with one seed."""
    heads = ["", "against", "settings: better", "worse", "not told apart"]
    heads += ["runs: better", "worse", "level", "p"]
    rows = [
        [
            one["method"],
            one["against"],
            *map(str, (*one["settings"], *one["runs"])),
            f"{one['p']:g}",
        ]
        for one in measured("limits")["pairs"]
    ]
    return markdown_table(heads, rows)


def limits_twins() -> str:
    """Return what limits bring over a twin that filters."""
    return "\n".join(map(_twin, ("ADMM", "ADMM 16+16t"), ("ADMM, filtered", "16+16t, filtered")))


def _twin(method: str, other: str) -> str:
    settings = measured("limits")["settings"]
    pairs = [(one["methods"][method], one["methods"][other]) for one in settings]
    better = sum(mine["median"] < theirs["median"] for mine, theirs in pairs)
    # The settings stand by the limit on the latency, then by that on the gap, the tightest first.
    tight = [f"{mine['within']:.0%} to {theirs['within']:.0%}" for mine, theirs in pairs]
    return wrapped(
        f"- {method} against {other}: the better median at {better} of {len(pairs)}; share within",
        f"at the tightest limits on the latency: {tight[0]}, {tight[1]}; on the gap: {tight[5]},",
        f"{tight[6]}.",
        indent="  ",
    )


def limits_summary() -> str:
    """Return the methods by the settings at which they are best, with the seeds that they won."""
    found = measured("limits")
    ordered = sorted(found["methods"], key=lambda method: -_firsts(method))
    lines = [f"{'':<19}{'best median, or within 0.001':>28}{'seeds won':>12}"]
    lines += [f"{m:<19}{_firsts(m):>28}{found['seeds_won'][m]:>12.1f}" for m in ordered]
    return fenced(lines)


def limits_pairs() -> str:
    """Return the pairs of runs of ADMM against the others, in a sentence."""
    pairs = {one["against"]: one for one in measured("limits")["pairs"] if one["method"] == "ADMM"}
    first, *others = (
        (name, *pairs[method]["runs"])
        for name, method in (
            ("the filtered twin", "ADMM, filtered"),
            ("joint Optuna", "joint optuna"),
            ("FLAML", "FLAML"),
            ("the joint `ctpe`", "joint ctpe"),
        )
    )
    return wrapped(
        f"ADMM is better than {first[0]} in {first[1]} pairs of runs and worse in {first[2]};",
        "; ".join(f"for {name} it is {better} and {worse}" for name, better, worse, _ in others),
        f"(p = {pairs['joint ctpe']['p']:g}).",
    )


def share(events: int, trials: int) -> str:
    """Return a share in per cent with its exact 95 % interval."""
    if not trials:
        return "-"
    low = beta.ppf(0.025, events, trials - events + 1) if events else 0.0
    high = beta.ppf(0.975, events + 1, trials - events) if events < trials else 1.0
    return f"{events}/{trials} = {100 * events / trials:.1f} ({100 * low:.1f} to {100 * high:.1f})"


def certificates_table() -> str:
    """Return how many are certified, and how many break a limit, by data set."""
    found = measured("certificates")
    limits = f"fpr <= {found['fpr']}, fpr_gap[sex] <= {found['fpr_gap']}"
    heads = ("certified", "certified, yet broken", "best on validation, broken")
    lines = [
        f"limits: {limits}; per cent (exact 95 % interval)",
        f"{'':<16}" + "".join(f"{head:>28}" for head in heads) + f"{'AUROC lost':>12}",
    ]
    for one in found["rows"]:
        lost = "-" if one["auroc_lost"] is None else f"{one['auroc_lost']:+.4f}"
        cells = (
            share(one["certified"], one["runs"]),
            share(one["broken"], one["certified"]),
            share(one["best_broken"], one["runs"]),
        )
        lines.append(f"{one['set']:<16}" + "".join(f"{c:>28}" for c in cells) + f"{lost:>12}")
    return fenced(lines)


def certificates_short() -> str:
    """Return the outcome in sentences."""
    found = measured("certificates")
    whole = next(one for one in found["rows"] if one["set"] == "all")
    price = next(one for one in found["price"] if one["set"] == "all")
    broken = "none breaks" if not whole["broken"] else f"{whole['broken']} break"
    recall = f"from {price['recall'][1]:.3f} to {price['recall'][0]:.3f}"
    return wrapped(
        f"**In short:** of {whole['certified']} certified models {broken} a limit on rows that",
        f"no run had; of the best on validation rows {whole['best_broken']} of {whole['runs']} do.",
        f"The certificate costs {whole['auroc_lost']:.3f} AUROC in the median, and much of the",
        f"recall, which falls {recall}.",
    )


def certificates_price() -> str:
    """Return what a certificate costs: certified, best on validation rows, lost in pairs."""
    found = measured("certificates")
    names = ("auroc", "recall", "balanced_accuracy")
    heads = ["", "runs"]
    for name in ("AUROC", "recall", "balanced accuracy"):
        heads += [name, "best on validation", "lost", "worse in"]
    rows = []
    for one in found["price"]:
        cells = [_price(one[name]) if one["runs"] else ["-"] * 4 for name in names]
        rows.append([one["set"], str(one["runs"]), *(cell for part in cells for cell in part)])
    return f"Medians; commit {found['price_commit']}:\n\n{markdown_table(heads, rows)}"


def _price(found: Sequence[float]) -> list[str]:
    mine, theirs, lost, worse = found
    return [f"{mine:.3f}", f"{theirs:.3f}", f"{lost:+.4f}", f"{worse:g}"]


def portfolio_table() -> str:
    """Return whole searches with the portfolio and without."""
    found = measured("portfolio")
    heads = "".join(f"{count:>8}" for count in found["evaluations"])
    lines = [f"{'set':<16}{'seed':>5} {'portfolio':>9}{heads}{'seconds':>9}{'held out':>10}"]
    for one in found["rows"]:
        losses = "".join(f"{loss:8.4f}" for loss in one["losses"])
        has = "yes" if one["portfolio"] else "no"
        ended = f"{one['seconds']:9.1f}{one['held_out']:10.4f}"
        lines.append(f"{one['set']:<16}{one['seed']:>5} {has:>9}{losses}{ended}")
    titles = f"{'wins/losses/ties':>18}{'mean of the ratio':>18}{'Wilcoxon p':>12}"
    lines += ["", f"{'with the portfolio':<26}{titles}"]
    for one in found["compared"]:
        ratio = "–" if one["ratio"] is None else f"{one['ratio']:.3f}"
        runs = "/".join(map(str, one["runs"]))
        lines.append(f"{one['after']:<26}{runs:>18}{ratio:>18}{one['p']:12.3f}")
    return fenced(lines)


def rate_table() -> str:
    """Return the processor seconds of an evaluation, before and now."""
    found = measured("evaluation_rate")
    titles = f"{'s each, before':>16}{'now':>7}{'gain':>7}{'score before':>14}{'now':>7}"
    lines = [f"{'set':<14}{'seed':>5}{titles}"]
    lines += [
        f"{one['set']:<14}{one['seed']:>5}{one['before']:16.2f}{one['now']:7.2f}"
        f"{one['gain']:6.1f}×{one['score_before']:14.4f}{one['score']:7.4f}"
        for one in found["rows"]
    ]
    return fenced([*lines, f"median gain: {found['median_gain']:.1f}×"])


def faults_short() -> str:
    """Return how many faults are injected, and how many end as they should."""
    verdicts = [row[-1] for row in table("faults/faults")["rows"]]
    good = verdicts.count("ok")
    return wrapped(f"**In short:** {good} of {len(verdicts)} faults ended as they should.")


PARTS: Mapping[str, Callable[[], str]] = {
    "certificates": certificates_table,
    "certificates-price": certificates_price,
    "certificates-short": certificates_short,
    "evaluation-rate": rate_table,
    "faults-short": faults_short,
    "frames": frames_table.table,
    "frames-short": frames_table.short,
    "limits": limits_table,
    "limits-against": limits_against,
    "limits-pairs": limits_pairs,
    "limits-summary": limits_summary,
    "limits-twins": limits_twins,
    "peers": peers_tables.tables,
    "peers-others": peers_tables.partial,
    "peers-protocol": peers_tables.protocol,
    "peers-readme": peers_tables.readme,
    "peers-short": peers_tables.short,
    "peers-shortfalls": peers_tables.shortfalls,
    "portfolio": portfolio_table,
    "studies": study_pages.listed,
}
