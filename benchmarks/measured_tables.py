"""Tables and sentences of the pages, made from the files of measured numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from textwrap import fill
from typing import Any

from peers.ranking import Block, compare_all, rank_all, tally
from peers.report import PRIMARY, block_of, tell_anytime, tell_costs, tell_ranks, tell_scores
from scipy.stats import beta

HERE = Path(__file__).parent
PEERS = HERE / "peers" / "measured" / "seconds_60.jsonl"
MEASURED = HERE / "measured"
OURS, SYSTEMS, BEST = "ours-boost", ("ours-boost", "FLAML", "AutoGluon"), "AutoGluon-best"
BUDGET = 60.0
WIDTH = 130
Record = Mapping[str, Any]


@cache
def peers() -> tuple[dict[str, Any], ...]:
    """Return the records of all runs of 60 s."""
    return tuple(json.loads(line) for line in PEERS.read_text(encoding="utf-8").splitlines())


@cache
def measured(name: str) -> Any:
    """Return the content of one of the files in measured/."""
    return json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))


def splits() -> list[dict[str, dict[str, Any]]]:
    """Return the splits on which all systems ended, each with its records by system."""
    found: dict[tuple[Any, ...], dict[str, dict[str, Any]]] = {}
    for record in peers():
        if record["system"] in SYSTEMS:
            split = record["set"], record["seed"], record["split"]
            found.setdefault(split, {})[record["system"]] = record
    return [one for one in found.values() if len(one) == len(SYSTEMS)]


def blocks() -> list[Block]:
    """Return the scores of each split."""
    return [block_of(one) for one in splits()]


def peers_tables() -> str:
    """Return ranks, tests, costs, scores and the course of the runs."""
    records = [record for record in peers() if record["system"] in SYSTEMS]
    scores = (tell_scores(records, SYSTEMS, metric) for metric in ("auc", "log_loss", "r2"))
    parts = (
        tell_ranks(splits(), SYSTEMS),
        tell_costs(records, SYSTEMS),
        *scores,
        tell_anytime(records, SYSTEMS, BUDGET),
    )
    return "\n\n".join(parts)


def peers_best() -> str:
    """Return the table of AutoGluon's best preset beside ours."""
    ours = {record["set"]: record for record in peers() if record["system"] == OURS}
    lines = [
        f"| set | measure | {OURS} | {BEST} | its fit, of 60 s |",
        "| --- | --- | ---: | ---: | ---: |",
    ]
    for record in peers():
        if record["system"] == BEST:
            name, measure = record["set"], PRIMARY[record["kind"]]
            scores = [f"{one['scores'][measure]:.4f}" for one in (ours[name], record)]
            lines.append(
                f"| {name} | {measure} | {' | '.join(scores)} | {record['fit_seconds']:.0f} |"
            )
    return "\n".join(lines)


def peers_short() -> str:
    """Return the sentences of the summary page."""
    ranks, found = rank_all(blocks(), SYSTEMS), compare_all(blocks(), SYSTEMS, OURS)
    flaml, gluon = (tally(blocks(), OURS, other) for other in ("FLAML", "AutoGluon"))
    fits = [record["fit_seconds"] for record in peers() if record["system"] == "AutoGluon"]
    best = sum(record["system"] == BEST for record in peers())
    p = "" if found is None else f"Friedman p = {found.p:.2g};"
    means = {system: f"{ranks[system].mean:.2f}" for system in SYSTEMS}
    return wrapped(
        "**60 s, one core, beside FLAML and AutoGluon** (`benchmarks.peers`;",
        f"{len(blocks())} sets, one split each, default settings, the boosters' plugin installed):",
        f"mean rank {means[OURS]}, FLAML {means['FLAML']}, AutoGluon {means['AutoGluon']} ({p}",
        f"{flaml.wins} sets better than FLAML and {flaml.losses} worse,",
        f"{gluon.wins} and {gluon.losses} with AutoGluon).",
        f"AutoGluon's default ends after {median(fits):.0f} s; its `best_quality` was run on",
        f"{best} sets alone; our own joint TPE, random search, longer budgets and more splits were",
        "not run.",
    )


def wrapped(*parts: str, indent: str = "") -> str:
    """Return the parts of a sentence as lines of a page."""
    text = " ".join(parts).replace("( ", "(")
    return fill(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def peers_readme() -> str:
    """Return the item of README.md."""
    ranks = rank_all(blocks(), SYSTEMS)
    gluon, flaml = (f"{ranks[system].mean:.2f}" for system in ("AutoGluon", "FLAML"))
    return wrapped(
        "- **Good models soon**: after 60 s on one core, with LightGBM and XGBoost as a",
        "[plugin](plugins/automl-admm-boost/README.md), mean rank",
        f"{ranks[OURS].mean:.2f} on {len(blocks())} data sets, beside {gluon} (AutoGluon's",
        f"default) and {flaml} (FLAML); one split each, and",
        "[what that does not show](docs/benchmarks/index.md).",
        indent="  ",
    )


def fenced(lines: Sequence[str]) -> str:
    """Return lines as a block of text."""
    return "\n".join(["```text", *lines, "```"])


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
    """Return the sentences and the table of the summary page."""
    found = measured("certificates")
    whole = next(one for one in found["rows"] if one["set"] == "all")
    broken = "none breaks" if not whole["broken"] else f"{whole['broken']} break"
    price = [one for one in found["price"] if one["runs"] and one["set"] != "all"]
    lines = [f"{'':<14}{'recall':>13}{'balanced accuracy':>20}"]
    for one in price:
        pairs = (one[name] for name in ("recall", "balanced_accuracy"))
        recall, balanced = (f"{mine:.3f} {theirs:.3f}" for mine, theirs, *_ in pairs)
        lines.append(f"{one['set']:<14}{recall:>13}{balanced:>20}")
    told = wrapped(
        "**Certificates** (`benchmarks/certified_runs.py --data DIR --runs 80`;",
        f"`fpr <= {found['fpr']}` and `fpr_gap[sex] <= {found['fpr_gap']}` on four data sets,",
        f"judged on rows that no run had): of {whole['certified']} certified models {broken} a",
        f"limit; of the best on validation rows {whole['best_broken']} of {whole['runs']} do. The",
        f"certificate costs {whole['auroc_lost']:.3f} AUROC in the median, and much of the recall,",
        "as a model that is certain to stay inside seldom says yes",
        f"(`--runs {price[0]['runs']}`: medians, the",
        "certified model first, the best on validation rows second):",
    )
    return f"{told}\n\n{fenced(lines)}"


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


PARTS: Mapping[str, Callable[[], str]] = {
    "certificates": certificates_table,
    "certificates-short": certificates_short,
    "evaluation-rate": rate_table,
    "limits": limits_table,
    "limits-pairs": limits_pairs,
    "limits-summary": limits_summary,
    "peers": peers_tables,
    "peers-best": peers_best,
    "peers-readme": peers_readme,
    "peers-short": peers_short,
    "portfolio": portfolio_table,
}
