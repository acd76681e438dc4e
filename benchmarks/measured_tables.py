"""Tables and sentences of the pages, made from the files of measured numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import certified_findings_tables
import certified_rivals_tables
import claims
import controls_tables
import frames_table
import live_solvers_tables
import peers_300_tables
import peers_limits_splits_tables
import peers_limits_tables
import peers_tables
import study_pages
import tpot_tables
from printed_tables import MEASURED, markdown_table, table, wrapped
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
    rows = [
        [
            f"{one['within']:.0%}",
            f"{one['latency_us']:.3f} µs",
            f"{one['gap']:.3f}",
            f"{one['best_of_all']:.4f}",
            *(_limits_cell(one["methods"][name]) for name in methods),
        ]
        for one in found["settings"]
    ]
    totals = [
        [r"**best, or level with it (\*)**", *(f"{_firsts(name)}" for name in methods)],
        ["**seeds won**", *(f"{found['seeds_won'][name]:.1f}" for name in methods)],
        [
            "**solvers' seconds a run**",
            *(f"{found['solver_seconds'][name]:.2f}" for name in methods),
        ],
    ]
    rows += [[head, "", "", "", *cells] for head, *cells in totals]
    return markdown_table(["within", "latency", "gap", "best of all", *methods], rows)


def _limits_cell(cell: Record) -> str:
    mark = r"\*" if cell["is_best"] else ""
    return f"{cell['median']:.4f}{mark}; {cell['seeds_won']:.1f}; {cell['within']:.0%}"


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
    rows = [[one, str(_firsts(one)), f"{found['seeds_won'][one]:.1f}"] for one in ordered]
    return markdown_table(["", "best median, or within 0.001", "seeds won"], rows)


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
    heads = ["", "certified", "certified, yet broken", "best on validation, broken", "AUROC lost"]
    rows = [
        [
            one["set"],
            share(one["certified"], one["runs"]),
            share(one["broken"], one["certified"]),
            share(one["best_broken"], one["runs"]),
            "-" if one["auroc_lost"] is None else f"{one['auroc_lost']:+.4f}",
        ]
        for one in found["rows"]
    ]
    limits = f"fpr <= {found['fpr']}, fpr_gap[sex] <= {found['fpr_gap']}"
    title = f"Limits: `{limits}`; per cent (exact 95 % interval)"
    return f"{title}:\n\n{markdown_table(heads, rows)}"


def certificates_short() -> str:
    """Return the outcome in sentences."""
    found = measured("certificates")
    whole = next(one for one in found["rows"] if one["set"] == "all")
    price = next(one for one in found["price"] if one["set"] == "all")
    broken = "none breaks" if not whole["broken"] else f"{whole['broken']} break"
    earlier = next(one for one in found["price_before"] if one["set"] == "all")
    lost, was = ([one["balanced_accuracy"][2], one["recall"][2]] for one in (price, earlier))
    return wrapped(
        f"**In short:** of {whole['certified']} certified models {broken} a limit on rows that",
        f"no run had; of the best on validation rows {whole['best_broken']} of {whole['runs']} do.",
        f"At the decision the certificate costs {lost[0]:.3f} of balanced accuracy and",
        f"{lost[1]:.3f} of recall in the median of the pairs; it was {was[0]:.3f} and",
        f"{was[1]:.3f} before the threshold was chosen last.",
    )


def certificates_price(when: str = "price") -> str:
    """Return what a certificate costs: certified, best on validation rows, lost in pairs."""
    found = measured("certificates")
    names = ("auroc", "recall", "balanced_accuracy")
    heads = ["", "runs"]
    for name in ("AUROC", "recall", "balanced accuracy"):
        heads += [name, "best on validation", "lost", "worse in"]
    has_rates = "fpr" in found[when][0]
    heads += ["FPR", "best on validation"] if has_rates else []
    rows = []
    for one in found[when]:
        cells = [_price(one[name]) if one["runs"] else ["-"] * 4 for name in names]
        rates = [f"{rate:.3f}" for rate in one["fpr"]] if has_rates else []
        of_scores = (cell for part in cells for cell in part)
        rows.append([one["set"], str(one["runs"]), *of_scores, *rates])
    return f"Medians; commit {found[f'{when}_commit']}:\n\n{markdown_table(heads, rows)}"


def _price(found: Sequence[float]) -> list[str]:
    mine, theirs, lost, worse = found
    return [f"{mine:.3f}", f"{theirs:.3f}", f"{lost:+.4f}", f"{worse:g}"]


def portfolio_table() -> str:
    """Return whole searches with the portfolio and without."""
    found = measured("portfolio")
    heads = ["set", "seed", "portfolio", *map(str, found["evaluations"]), "seconds", "held out"]
    rows = [
        [
            one["set"],
            str(one["seed"]),
            "yes" if one["portfolio"] else "no",
            *(f"{loss:.4f}" for loss in one["losses"]),
            f"{one['seconds']:.1f}",
            f"{one['held_out']:.4f}",
        ]
        for one in found["rows"]
    ]
    compared = [
        [
            one["after"],
            "/".join(map(str, one["runs"])),
            "–" if one["ratio"] is None else f"{one['ratio']:.3f}",
            f"{one['p']:.3f}",
        ]
        for one in found["compared"]
    ]
    titles = ["with the portfolio", "wins/losses/ties", "mean of the ratio", "Wilcoxon p"]
    return f"{markdown_table(titles, compared)}\n\n{markdown_table(heads, rows)}"


def rate_table() -> str:
    """Return the processor seconds of an evaluation, before and now."""
    found = measured("evaluation_rate")
    heads = ["set", "seed", "s each, before", "now", "gain", "score before", "now"]
    rows = [
        [
            one["set"],
            str(one["seed"]),
            f"{one['before']:.2f}",
            f"{one['now']:.2f}",
            f"{one['gain']:.1f}×",
            f"{one['score_before']:.4f}",
            f"{one['score']:.4f}",
        ]
        for one in found["rows"]
    ]
    return f"{markdown_table(heads, rows)}\n\nMedian gain: {found['median_gain']:.1f}×."


def faults_short() -> str:
    """Return how many faults are injected, and how many end as they should."""
    verdicts = [row[-1] for row in table("faults/faults")["rows"]]
    good = verdicts.count("ok")
    return wrapped(f"**In short:** {good} of {len(verdicts)} faults ended as they should.")


PARTS: Mapping[str, Callable[[], str]] = {
    "certificates": certificates_table,
    "certificates-price": certificates_price,
    "certificates-price-before": partial(certificates_price, "price_before"),
    "certificates-short": certificates_short,
    "claims": claims.table,
    "claims-short": claims.short,
    "certified_findings-short": certified_findings_tables.short,
    "certified_rivals-short": certified_rivals_tables.short,
    "controls": controls_tables.tables,
    "controls-protocol": controls_tables.protocol,
    "controls-short": controls_tables.short,
    "controls-solvers": live_solvers_tables.tables,
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
    "peers-300": peers_300_tables.tables,
    "peers-300-short": peers_300_tables.short,
    "peers-limits": peers_limits_tables.tables,
    "peers-limits-protocol": peers_limits_tables.protocol,
    "peers-limits-short": peers_limits_tables.short,
    "peers-limits-splits": peers_limits_splits_tables.tables,
    "peers-limits-splits-protocol": peers_limits_splits_tables.protocol,
    "peers-limits-splits-short": peers_limits_splits_tables.short,
    "peers-others": peers_tables.partial,
    "peers-protocol": peers_tables.protocol,
    "peers-readme": peers_tables.readme,
    "peers-short": peers_tables.short,
    "peers-shortfalls": peers_tables.shortfalls,
    "portfolio": portfolio_table,
    "studies": study_pages.listed,
    "tpot": tpot_tables.tables,
    "tpot-protocol": tpot_tables.protocol,
    "tpot-short": tpot_tables.short,
}
