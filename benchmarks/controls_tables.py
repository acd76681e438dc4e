"""The page of controls: the same space with another search, and one booster that is tuned.

All runs of the file are of one commit. To renew the page put other runs into the file and run
`python benchmarks/write_tables.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from paired import Paired, corrected
from peers.ranking import Block, compare_all, rank_all, tally
from peers.report import block_of, tell_anytime, tell_costs, tell_ranks, tell_scores
from printed_tables import markdown_table, wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "controls_60.jsonl"
OURS, BUDGET = "ours", 60.0
SYSTEMS = (OURS, "ours-joint", "random", "LightGBM")
NAMES = {
    "ours-joint": "our own joint TPE",
    "random": "random search",
    "LightGBM": "a tuned LightGBM",
}
Record = dict[str, Any]


@cache
def runs() -> tuple[Record, ...]:
    """Return the records of all runs."""
    return tuple(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def splits() -> list[dict[str, Record]]:
    """Return the splits that all systems have done, each with their records."""
    return done_by(SYSTEMS, runs())


def done_by(systems: Sequence[str], records: Iterable[Record]) -> list[dict[str, Record]]:
    """Return the splits that some systems have all done, each with their records."""
    found: dict[tuple[str, int], dict[str, Record]] = {}
    for run in records:
        if run["system"] in systems:
            found.setdefault((run["set"], run["seed"]), {})[run["system"]] = run
    return [one for one in found.values() if len(one) == len(systems)]


def blocks() -> list[Block]:
    """Return the scores of each split."""
    return [block_of(one) for one in splits()]


def against(rival: str) -> Paired:
    """Compare ours with a rival on the splits that all have done."""
    return paired_on(splits(), OURS, rival)


def paired_on(found: Iterable[dict[str, Record]], one: str, other: str) -> Paired:
    """Compare two systems on some splits."""
    counts = tally([block_of(records) for records in found], one, other)
    return Paired(counts.wins, counts.losses, counts.ties)


def short() -> str:
    """Return the outcome in sentences."""
    ranks, test = rank_all(blocks(), SYSTEMS), compare_all(blocks(), SYSTEMS, OURS)
    means = ", ".join(f"{one} {ranks[one].mean:.2f}" for one in SYSTEMS)
    found = {rival: against(rival) for rival in SYSTEMS if rival != OURS}
    chance = corrected({rival: pair.p for rival, pair in found.items()})
    told = [
        f"better than {NAMES[rival]} on {pair.wins}, worse on {pair.losses}"
        f" (sign test, Holm: p = {chance[rival]:.2g})"
        for rival, pair in found.items()
    ]
    friedman = "" if test is None else f" (Friedman p = {test.p:.2g})"
    return wrapped(
        f"**In short:** {BUDGET:.0f} s, one core, {len(blocks())} splits of as many sets, without",
        f"the boosters' plugin: mean rank {means}{friedman}; ours is {'; '.join(told)}.",
    )


def protocol() -> str:
    """Return the command, and what was run, in a sentence."""
    commits = ", ".join(sorted({run["commit"] for run in runs()}))
    load = median(run["load"] for run in runs())
    versions = sorted(
        {
            f"{name} {version}"
            for run in runs()
            for name, version in run["versions"].items()
            if name in {"lightgbm", "scikit-learn"}
        }
    )
    told = wrapped(
        f"All rows are of commit {commits}; {', '.join(versions)}. The runs had a core to",
        f"themselves; the load of the whole machine was {load:.1f} in the median.",
    )
    command = (
        f"    python -m benchmarks.peers --budget {BUDGET:.0f} --data all --seeds 1 \\\n"
        f"        --systems {','.join(SYSTEMS)} --core 1"
    )
    return f"{command}\n\n{told}"


def tables() -> str:
    """Return ranks, tests, costs, scores and the course of the runs."""
    records = list(runs())
    scores = (tell_scores(records, SYSTEMS, metric) for metric in ("auc", "log_loss", "r2"))
    parts = (
        tell_ranks(splits(), SYSTEMS),
        tell_signs({rival: against(rival) for rival in SYSTEMS if rival != OURS}),
        tell_costs(records, SYSTEMS),
        *scores,
        tell_anytime(records, SYSTEMS, BUDGET),
    )
    return "\n\n".join(part for part in parts if part)


def tell_signs(found: dict[str, Paired]) -> str:
    """Return the sign test of each pair, corrected by Holm for their number."""
    told = corrected({rival: pair.p for rival, pair in found.items()})
    rows = [[rival, str(pair), f"{told[rival]:.2g}"] for rival, pair in found.items()]
    head = ["ours against", "wins/losses/ties", "p (Holm)"]
    return f"The sign test of each pair:\n\n{markdown_table(head, rows)}"
