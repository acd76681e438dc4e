"""Optuna's TPE and SMAC as searches of our space, beside the controls of the same splits.

To renew the part of the page put other runs into the file and run
`python benchmarks/write_tables.py`.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import controls_tables
from controls_tables import OURS, Record
from paired import Paired
from peers.report import tell_costs, tell_ranks, tell_scores
from printed_tables import wrapped

FILE = Path(__file__).parent / "peers" / "measured" / "solvers_60.jsonl"
SOLVERS = ("ours-optuna", "ours-smac")
SYSTEMS = (OURS, "ours-joint", *SOLVERS, "random")


@cache
def runs() -> tuple[Record, ...]:
    """Return the records of the two solvers."""
    return tuple(json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines())


def splits() -> list[dict[str, Record]]:
    """Return the splits that all systems have done, each with their records."""
    return controls_tables.done_by(SYSTEMS, (*controls_tables.runs(), *runs()))


def against(rival: str) -> Paired:
    """Compare the default search with a rival."""
    return controls_tables.paired_on(splits(), OURS, rival)


def tables() -> str:
    """Return the protocol in a sentence, ranks, tests, costs and scores."""
    records = [one[system] for one in splits() for system in SYSTEMS]
    commits = ", ".join(sorted({run["commit"] for run in runs()}))
    told = wrapped(f"The rows of {' and '.join(SOLVERS)} are of commit {commits}.")
    scores = (tell_scores(records, SYSTEMS, metric) for metric in ("auc", "log_loss", "r2"))
    parts = (
        told,
        tell_ranks(splits(), SYSTEMS),
        controls_tables.tell_signs({rival: against(rival) for rival in SOLVERS}),
        tell_costs(records, SYSTEMS),
        *scores,
    )
    return "\n\n".join(part for part in parts if part)
