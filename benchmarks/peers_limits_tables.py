"""The part of the page on systems that tells who was best within limits.

To renew it put other runs into the file and run `python benchmarks/write_tables.py`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from peers.limits_report import (
    blocks_of,
    count_best,
    count_kept,
    tell_limits,
    whole_settings,
)
from peers.ranking import compare_all
from peers.systems import LIMITED
from printed_tables import wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "limits_60.jsonl"
BUDGET = 60.0
SYSTEMS = tuple(LIMITED)
Record = dict[str, Any]


@cache
def runs() -> tuple[Record, ...]:
    """Return the records of all runs with this budget."""
    records = map(json.loads, FILE.read_text(encoding="utf-8").splitlines())
    return tuple(record for record in records if record["budget"] == BUDGET)


def tables() -> str:
    """Return counts, ranks, and each setting."""
    return tell_limits(runs(), SYSTEMS, BUDGET)


def protocol() -> str:
    """Return what was run, in sentences."""
    settings = len(whole_settings(runs(), SYSTEMS))
    seeds = len({record["seed"] for record in runs()})
    commits = sorted({record["commit"] for record in runs()})
    splits = "one split" if seeds == 1 else f"{seeds} splits"
    return wrapped(
        f"{settings} settings, {splits} of each, {BUDGET:.0f} s on a core of its own; commits",
        f"{', '.join(commits)}. The load of the machine was",
        f"{median(record['load'] for record in runs()):.1f} in the median.",
    )


def short() -> str:
    """Return the outcome in sentences."""
    blocks = blocks_of(whole_settings(runs(), SYSTEMS))
    found = compare_all(blocks, SYSTEMS, SYSTEMS[0])
    told = ", ".join(
        f"{system} {count_best(blocks, system)} ({count_kept(blocks, system)})"
        for system in SYSTEMS
    )
    tail = "." if found is None else f" (Friedman p = {found.p:.3g})."
    return wrapped(
        f"Best of those within the limit, of {len(blocks)} settings, and in brackets how often",
        f"within it on the test rows: {told}{tail}",
    )
