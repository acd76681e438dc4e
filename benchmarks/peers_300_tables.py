"""The runs of 300 s in the page that compares systems, made from the file of these runs.

The sets are taken in an order that was fixed before the first run; those that all systems have
done are told.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from peers.ranking import Block, compare_all, rank_all, tally
from peers.report import block_of, tell_costs, tell_ranks, tell_scores
from peers_tables import OURS, joined, split_of
from printed_tables import wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "seconds_300.jsonl"
SYSTEMS = (OURS, "FLAML", "AutoGluon", "AutoGluon-best")
BUDGET, PLANNED = 300, 25
Record = dict[str, Any]


@cache
def splits() -> tuple[Mapping[str, Record], ...]:
    """Return the splits that all systems have done."""
    found: dict[Any, dict[str, Record]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        found.setdefault(split_of(record), {})[record["system"]] = record
    return tuple(one for one in found.values() if len(one) == len(SYSTEMS))


def tables() -> str:
    """Return ranks, tests, costs and scores."""
    records = [record for one in splits() for record in one.values()]
    scores = (tell_scores(records, SYSTEMS, metric) for metric in ("auc", "log_loss", "r2"))
    parts = (
        tell_ranks([dict(one) for one in splits()], SYSTEMS),
        tell_costs(records, SYSTEMS),
        *scores,
    )
    return "\n\n".join(part for part in parts if part)


def short() -> str:
    """Return the outcome in sentences."""
    blocks: list[Block] = [block_of(dict(one)) for one in splits()]
    ranks, found = rank_all(blocks, SYSTEMS), compare_all(blocks, SYSTEMS, OURS)
    records = [record for one in splits() for record in one.values()]
    means = ", ".join(f"{system} {ranks[system].mean:.2f}" for system in SYSTEMS)
    counts = {other: tally(blocks, OURS, other) for other in SYSTEMS[1:]}
    against = joined([f"{other} {one.wins}:{one.losses}" for other, one in counts.items()])
    p = "" if found is None else f"; Friedman p = {found.p:.2g}"
    return wrapped(
        f"{BUDGET} s, one core, the first {len(blocks)} of {PLANNED} sets, one split each: mean",
        f"rank {means}{p}. {OURS} against {against}. Commit of {OURS}:",
        f"{joined(sorted({one[OURS]['commit'] for one in splits()}))}; the load of the machine was",
        f"{median(record['load'] for record in records):.1f} in the median.",
    )
