"""TPOT beside the default, on the first split of each set.

To renew the part of the page put other runs into the file and run
`python benchmarks/write_tables.py`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from statistics import median

from controls_tables import Record, done_by, paired_on
from paired import Paired
from peers.report import tell_costs, tell_scores
from printed_tables import wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "tpot_60.jsonl"
OURS, TPOT = "ours-boost", "TPOT"
SYSTEMS = (OURS, TPOT)


@cache
def runs() -> tuple[Record, ...]:
    """Return the records of all runs."""
    return tuple(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def splits() -> list[dict[str, Record]]:
    """Return the splits that both have done, each with their records."""
    return done_by(SYSTEMS, runs())


def against() -> Paired:
    """Compare the default with TPOT."""
    return paired_on(splits(), OURS, TPOT)


def short() -> str:
    """Return the outcome in a sentence."""
    found = against()
    return wrapped(
        f"**In short:** 60 s, one core, {len(splits())} splits of as many sets: {OURS} is better",
        f"than TPOT on {found.wins}, worse on {found.losses} (sign test p = {found.p:.2g}).",
    )


def protocol() -> str:
    """Return what was run, in a sentence."""
    commits = ", ".join(sorted({run["commit"] for run in runs()}))
    versions = ", ".join(sorted({run["versions"]["tpot"] for run in runs() if _is_theirs(run)}))
    load = median(run["load"] for run in runs())
    return wrapped(
        f"All rows are of commit {commits}; TPOT {versions}. The runs had a core to themselves;",
        f"the load of the whole machine was {load:.1f} in the median.",
    )


def _is_theirs(run: Record) -> bool:
    return bool(run["system"] == TPOT)


def tables() -> str:
    """Return costs and scores."""
    records = list(runs())
    scores = (tell_scores(records, SYSTEMS, metric) for metric in ("auc", "log_loss", "r2"))
    parts = (tell_costs(records, SYSTEMS), *scores)
    return "\n\n".join(part for part in parts if part)
