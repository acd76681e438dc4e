"""The part on TPOT follows its file, whatever runs are in it."""

from __future__ import annotations

from pathlib import Path

import tpot_tables
from benchmark_runs import a_run, other_runs


def test_a_split_that_tpot_failed_on_is_lost_by_it(tmp_path: Path) -> None:
    rows = [
        a_run("ours-boost", "a", scores={"r2": 0.8}),
        a_run("TPOT", "a", scores={"r2": 0.9}, versions={"tpot": "1.9"}),
        a_run("ours-boost", "b", scores={"r2": 0.1}),
        a_run("TPOT", "b", error="no time", versions={"tpot": "1.9"}),
        a_run("ours-boost", "c", scores={"r2": 0.5}),
    ]
    with other_runs(tpot_tables, tpot_tables.runs, rows, tmp_path):
        assert str(tpot_tables.against()) == "1/1/0 (p 1)"
        told = " ".join(tpot_tables.short().split())
        assert "2 splits of as many sets: ours-boost is better than TPOT on 1, worse on 1" in told
        assert "commit abc1234; TPOT 1.9." in tpot_tables.protocol()
        assert "| b |" in tpot_tables.tables()
