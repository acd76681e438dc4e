"""The page of peers follows its file, whatever runs are in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import peers_tables
import pytest

CACHED = (peers_tables.peers, peers_tables.systems, peers_tables.splits)


def run(system: str, name: str, seed: int, score: float | None) -> dict[str, Any]:
    """A run that ended with a score, or failed."""
    said = {"error": "no memory"} if score is None else {"scores": {"r2": score}}
    return {
        "system": system,
        "set": name,
        "seed": seed,
        "budget": 60.0,
        "split": f"{name}{seed}",
        "kind": "regression",
        "fit_seconds": 59.0 if system == "ours-boost" else 20.0,
        "row_seconds": 2e-5,
        "versions": {"flaml": "9.9"} if system == "FLAML" else {},
        "exit_code": 0,
        "wall_seconds": 60.0,
        "cpu_seconds": 50.0,
        "peak_bytes": 2e8 if system == "ours-boost" else 1e8,
        "load": 1.0,
        "commit": "abc1234",
        **said,
    }


@pytest.fixture
def other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three splits of two sets for three systems, and one run of a fourth."""
    rows = [run("TPOT", "b", 0, 0.99)]
    for name, ours in (("a", 0.5), ("b", 0.9)):
        for seed in (0, 1, 2):
            rows.append(run("ours-boost", name, seed, ours))
            rows.append(run("FLAML", name, seed, None if seed == 2 else 0.7))
            rows.append(run("random", name, seed, 0.6))
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr(peers_tables, "FILE", file)
    for one in CACHED:
        one.cache_clear()
    yield
    for one in CACHED:
        one.cache_clear()


@pytest.mark.usefixtures("other_runs")
def test_systems_with_all_sets_are_ranked_and_others_stand_beside() -> None:
    assert peers_tables.systems() == ("ours-boost", "random", "FLAML")
    assert peers_tables.others() == ["TPOT"]
    assert "| b | 0 | r2 | 0.9000 | 0.9900 | 20 |" in peers_tables.partial()
    assert "0.7000 (1 failed)" in peers_tables.tables()


@pytest.mark.usefixtures("other_runs")
def test_sentences_follow_the_runs() -> None:
    assert "2 sets, 3 splits each" in peers_tables.short()
    assert "better than FLAML on 4 splits, worse on 2" in " ".join(peers_tables.short().split())
    assert "flaml 9.9" in peers_tables.protocol()
    assert "--seeds 3 --systems ours-boost,random,FLAML" in peers_tables.protocol()
    assert "3 splits each" in " ".join(peers_tables.readme().split())
    told = peers_tables.shortfalls()
    assert "3 splits of each set" in told
    assert "ours-boost is last on a." in told
    assert "FLAML's default ends after 20 of the 60 s" in told
    assert "2.0 times that of FLAML" in told
    assert "random search" not in told
