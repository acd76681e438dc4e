"""The runs of 300 s: those splits count that all systems have done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import peers_300_tables
import pytest

SCORES = dict(zip(peers_300_tables.SYSTEMS, (0.8, 0.7, 0.6, 0.9), strict=True))


@pytest.fixture
def other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two splits that all have done, and one that a system has not."""
    rows = [
        {
            "system": system,
            "set": name,
            "seed": 0,
            "split": f"of {name}",
            "kind": "regression",
            "budget": 300.0,
            "fit_seconds": 290.0,
            "row_seconds": 1e-5,
            "cpu_seconds": 290.0,
            "peak_bytes": 1e8,
            "load": 1.5,
            "commit": "abc1234",
            "scores": {"r2": score},
            "exit_code": 0,
        }
        for name in ("one", "two", "begun")
        for system, score in SCORES.items()
        if (name, system) != ("begun", "AutoGluon-best")
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr(peers_300_tables, "FILE", file)
    peers_300_tables.splits.cache_clear()
    yield
    peers_300_tables.splits.cache_clear()


@pytest.mark.usefixtures("other_runs")
def test_a_split_counts_when_all_have_done_it() -> None:
    told = peers_300_tables.short()
    assert "the first 2 of 25 sets" in told
    assert "ours-boost 2.00, FLAML 3.00, AutoGluon 4.00, AutoGluon-best" in told
    assert "FLAML 2:0, AutoGluon 2:0 and AutoGluon-best 0:2" in " ".join(told.split())
    assert "begun" not in peers_300_tables.tables()
