"""The page that compares systems, made from the file of all runs.

Systems that ran on every set are ranked, on the splits that all of them have; the others have a
table of their own beside ours. To renew the page put other runs into the file and run
`python benchmarks/write_tables.py`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from peers.ranking import Block, compare_all, rank_all, tally
from peers.report import (
    PRIMARY,
    block_of,
    delay_of,
    tell_anytime,
    tell_costs,
    tell_ranks,
    tell_scores,
)
from peers.systems import SYSTEMS as KNOWN
from printed_tables import markdown_table, wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "seconds_60.jsonl"
OURS, BUDGET, GRACE = "ours-boost", 60.0, 2.0
# Those that a page of their own compares.
APART = {"TPOT"}
NAMES = {
    "ours": "this package without the boosters' plugin",
    "ours-joint": "our own joint TPE",
    "ours-optuna": "Optuna's TPE",
    "ours-smac": "SMAC",
    "random": "random search",
    "LightGBM": "a tuned LightGBM",
}
Record = dict[str, Any]
Split = tuple[str, int, str]


def joined(words: Sequence[str]) -> str:
    """Return words as a list in a sentence."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


@cache
def peers() -> tuple[Record, ...]:
    """Return the records of all runs of 60 s."""
    return tuple(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def runs_of(system: str) -> list[Record]:
    """Return the runs of a system."""
    return [record for record in peers() if record["system"] == system]


def split_of(record: Record) -> Split:
    """Return what tells the split of a run from others."""
    return record["set"], record["seed"], record["split"]


@cache
def systems() -> tuple[str, ...]:
    """Return ours and the systems that ran on each of its sets, in the order of the driver."""
    wanted = {record["set"] for record in runs_of(OURS)}
    whole = [one for one in KNOWN if wanted <= {record["set"] for record in runs_of(one)}]
    return OURS, *(one for one in whole if one != OURS)


def others() -> list[str]:
    """Return the systems that ran on some of the sets alone."""
    return [one for one in KNOWN if one not in systems() and runs_of(one)]


@cache
def splits() -> tuple[Mapping[str, Record], ...]:
    """Return the splits, each with the records of the ranked systems."""
    found: dict[Split, dict[str, Record]] = {}
    for record in peers():
        if record["system"] in systems():
            found.setdefault(split_of(record), {})[record["system"]] = record
    return tuple(one for one in found.values() if len(one) == len(systems()))


def blocks() -> list[Block]:
    """Return the scores of each split."""
    return [block_of(dict(one)) for one in splits()]


def sets() -> int:
    """Count the data sets."""
    return len({block.data_set for block in blocks()})


def seeds() -> str:
    """Return how many splits of each set there are, in words."""
    count = len({record["seed"] for record in runs_of(OURS)})
    return "one split each" if count == 1 else f"{count} splits each"


def tables() -> str:
    """Return ranks, tests, costs, scores and the course of the runs."""
    records = [record for record in peers() if record["system"] in systems()]
    scores = (tell_scores(records, systems(), metric) for metric in ("auc", "log_loss", "r2"))
    parts = (
        tell_ranks([dict(one) for one in splits()], systems()),
        tell_costs(records, systems()),
        *scores,
        tell_anytime(records, systems(), BUDGET),
    )
    return "\n\n".join(part for part in parts if part)


def protocol() -> str:
    """Return the commands, and what was run, in sentences."""
    commits = [
        f"{system} {joined(sorted({record['commit'] for record in runs_of(system)}))}"
        for system in (*systems(), *others())
    ]
    packages = sorted(
        {
            f"{name} {version}"
            for record in peers()
            for name, version in record["versions"].items()
            if name.split(".")[0] in {"flaml", "autogluon", "tpot", "lightgbm", "auto-sklearn"}
        }
    )
    told = wrapped(
        f"The same splits for each system, {BUDGET:.0f} s and one core (`taskset`), each with its",
        f"defaults: {sets()} sets, {seeds()}. The load of the machine was",
        f"{median(record['load'] for record in peers()):.1f} in the median. Commits:",
        f"{', '.join(commits)}. Versions: {', '.join(packages)}.",
    )
    return f"{_commands()}\n\n{told}"


def _commands() -> str:
    count = len({record["seed"] for record in runs_of(OURS)})
    run = f"--budget {BUDGET:.0f} --seeds {count} --systems {','.join(systems())}"
    return (
        "    python -m benchmarks.peers --install build/peers\n"
        f"    python -m benchmarks.peers {run} --core 1 --data SETS"
    )


def partial() -> str:
    """Return the scores of the systems that ran on some of the splits, beside ours."""
    found = others()
    if not found:
        return "All systems that were run had all of the sets."
    return "\n\n".join(_beside(system) for system in found)


def _beside(system: str) -> str:
    ours = {split_of(record): record for record in runs_of(OURS)}
    rows = []
    for record in runs_of(system):
        if split_of(record) in ours:
            measure = PRIMARY[record["kind"]]
            told = [_score(one, measure) for one in (ours[split_of(record)], record)]
            seconds = f"{record['fit_seconds']:.0f}" if "fit_seconds" in record else ""
            rows.append([record["set"], str(record["seed"]), measure, *told, seconds])
    head = ["set", "seed", "measure", OURS, system, f"its fit, of {BUDGET:.0f} s"]
    return f"{system}, on {len(rows)} splits:\n\n{markdown_table(head, rows)}"


def _score(record: Record, measure: str) -> str:
    return f"{record['scores'][measure]:.4f}" if "scores" in record else "failed"


def short() -> str:
    """Return the outcome in sentences."""
    ranks, found = rank_all(blocks(), systems()), compare_all(blocks(), systems(), OURS)
    rivals = [one for one in systems() if one != OURS]
    means = ", ".join(f"{system} {ranks[system].mean:.2f}" for system in systems())
    won = [
        f"better than {other} on {counts.wins} splits, worse on {counts.losses}{_doubt(other)}"
        for other in rivals
        for counts in [tally(blocks(), OURS, other)]
    ]
    p = "" if found is None else f" (Friedman p = {found.p:.3g})"
    return wrapped(
        f"**In short:** {BUDGET:.0f} s, one core, {sets()} sets, {seeds()}, default settings, the",
        f"boosters' plugin installed: mean rank {means}{p}; {OURS} is {'; '.join(won)}.",
    )


def shortfalls() -> str:
    """Return what the runs do not show, and where ours is worse."""
    return "\n".join(f"- {item}" for item in (_few(), _ended_early(), _not_run(), _last(), _cost()))


def _few() -> str:
    count = len({record["seed"] for record in runs_of(OURS)})
    few = "One split of each set" if count == 1 else f"{count} splits of each set"
    return f"{few}, so single sets mean little."


def _ended_early() -> str:
    early = [
        f"{one}'s default ends after {median(_fits(one)):.0f} of the {BUDGET:.0f} s"
        for one in systems()
        if one != OURS and median(_fits(one)) < 0.8 * BUDGET
    ]
    tested = [f"{one} was run on {len(runs_of(one))} splits alone" for one in others()]
    return ("; ".join([*early, *tested]) or "All systems used their time") + "."


def _fits(system: str) -> list[float]:
    return [record["fit_seconds"] for record in runs_of(system) if "fit_seconds" in record]


def _not_run() -> str:
    absent = [one for one in KNOWN if not runs_of(one) and one not in APART]
    apart = [NAMES[one] for one in absent if one in NAMES]
    missing = joined(
        [
            *(one for one in absent if one not in NAMES),
            "longer budgets, but for [some sets](#five-minutes)",
        ]
    )
    told = f" Not in this table: {joined(apart)} ([controls](controls.md))." if apart else ""
    return f"Not run: {missing}.{told} {joined(sorted(APART))} has a [page of its own](tpot.md)."


def _last() -> str:
    behind = sorted({block.data_set for block in blocks() if _is_last(block)})
    return f"{OURS} is last on {joined(behind)}." if behind else f"{OURS} is last nowhere."


def _is_last(block: Block) -> bool:
    own, rivals = block.scores[OURS], [block.scores[one] for one in systems() if one != OURS]
    return own is None or all(other is not None and own < other for other in rivals)


def _cost() -> str:
    def middle(system: str, key: str) -> float:
        return float(median(record[key] for record in runs_of(system) if key in record))

    rivals = [one for one in systems() if one != OURS]
    memory, row = (
        [f"{middle(OURS, key) / middle(one, key):.1f} times that of {one}" for one in rivals]
        for key in ("peak_bytes", "row_seconds")
    )
    late = sum(delay > GRACE for run in runs_of(OURS) if (delay := delay_of(run)) is not None)
    return (
        f"Its memory is {joined(memory)}, its time for a prediction {joined(row)} (medians);"
        f" {late} of its {len(runs_of(OURS))} runs overran."
    )


def readme() -> str:
    """Return the item of README.md."""
    ranks = rank_all(blocks(), systems())
    rivals = sorted((one for one in systems() if one != OURS), key=lambda one: ranks[one].mean)
    names = {"AutoGluon": "AutoGluon's default"}
    beside = joined(
        [f"{ranks[one].mean:.2f} ({names.get(one, one)}{_doubt(one)})" for one in rivals]
    )
    return wrapped(
        f"- **Good models soon**: after {BUDGET:.0f} s on one core, with LightGBM and XGBoost as a",
        "[plugin](plugins/automl-admm-boost/README.md), mean rank",
        f"{ranks[OURS].mean:.2f} on {sets()} data sets, beside {beside}; {seeds()}, and",
        "[what that does not show](docs/benchmarks/peers.md#what-fell-short).",
        indent="  ",
    )


def _doubt(rival: str) -> str:
    """Say of a rival if the ranks do not tell it from ours: that is no win."""
    found = compare_all(blocks(), systems(), OURS)
    is_told = found is not None and found.pairs[rival] <= 0.05
    return "" if is_told else ", not told apart"


def mean_ranks() -> dict[str, tuple[float, float, float]]:
    """Return the mean rank of each system with its 95 % interval."""
    ranks = rank_all(blocks(), systems())
    return {system: (one.mean, one.low, one.high) for system, one in ranks.items()}
