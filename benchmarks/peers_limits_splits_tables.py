"""Some systems within limits, on several splits of each setting: the part of the page on systems.

To renew it put other runs into the file and run `python benchmarks/write_tables.py`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from peers.limits_report import blocks_of, count_best, count_kept, tell_limits, whole_settings
from peers.ranking import compare_all, rank_all, tally
from peers_tables import joined
from printed_tables import wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "limits_splits_60.jsonl"
SYSTEMS = ("ours-boost", "joint TPE", "FLAML", "AutoGluon")
BUDGET = 60.0
Record = dict[str, Any]


@cache
def settings() -> dict[Any, dict[str, Record]]:
    """Return the splits of settings that all of these systems have done."""
    return whole_settings(
        [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()], SYSTEMS
    )


def tables() -> str:
    """Return counts, ranks, and each setting."""
    return tell_limits(_records(), SYSTEMS, BUDGET)


def protocol() -> str:
    """Return what was run, in sentences."""
    kinds = {(limit, name) for limit, name, _ in settings()}
    seeds = sorted({seed for *_, seed in settings()})
    commits = sorted({record["commit"] for record in _records()})
    load = median(record["load"] for record in _records())
    return wrapped(
        f"{len(settings())} splits of {len(kinds)} settings (seeds {joined([*map(str, seeds)])}),",
        f"{BUDGET:.0f} s on a core of its own; commit {joined(commits)}. The load of the machine",
        f"was {load:.1f} in the median.",
    )


def short() -> str:
    """Return the outcome in sentences."""
    blocks = blocks_of(settings())
    ranks, found = rank_all(blocks, SYSTEMS), compare_all(blocks, SYSTEMS, SYSTEMS[0])
    told = joined(
        [
            f"{system} {ranks[system].mean:.2f} ({count_best(blocks, system)} and "
            f"{count_kept(blocks, system)})"
            for system in SYSTEMS
        ]
    )
    counts = {other: tally(blocks, SYSTEMS[0], other) for other in SYSTEMS[1:]}
    against = joined([f"{other} {one.wins}:{one.losses}" for other, one in counts.items()])
    tail = "" if found is None else f" (Friedman p = {found.p:.2g})"
    return wrapped(
        f"Mean rank on {len(blocks)} splits, and in brackets on how many best of those within the",
        f"limit and on how many within it: {told}{tail}; {SYSTEMS[0]} against {against}.",
    )


def _records() -> list[Record]:
    return [record for one in settings().values() for record in one.values()]
