"""The runs of 300 s: those splits count that all systems have done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import peers_300_tables
import pytest
from benchmark_runs import a_run, other_runs

SCORES = dict(zip(peers_300_tables.SYSTEMS, (0.8, 0.7, 0.6, 0.9), strict=True))


@pytest.fixture
def made_up(tmp_path: Path) -> Iterator[None]:
    """Two splits that all have done, and one that a system has not."""
    rows = [
        a_run(system, name, split=f"of {name}", budget=300.0, scores={"r2": score})
        for name in ("one", "two", "begun")
        for system, score in SCORES.items()
        if (name, system) != ("begun", "AutoGluon-best")
    ]
    with other_runs(peers_300_tables, peers_300_tables.splits, rows, tmp_path):
        yield


@pytest.mark.usefixtures("made_up")
def test_a_split_counts_when_all_have_done_it() -> None:
    told = peers_300_tables.short()
    assert "the first 2 of 25 sets" in told
    assert "ours-boost 2.00, FLAML 3.00, AutoGluon 4.00, AutoGluon-best" in told
    assert "FLAML 2:0, AutoGluon 2:0 and AutoGluon-best 0:2" in " ".join(told.split())
    assert "begun" not in peers_300_tables.tables()
