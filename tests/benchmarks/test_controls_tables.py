"""The page of controls follows its file, whatever runs are in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import controls_tables
import pytest

SCORES = {"ours": 0.8, "ours-joint": 0.7, "random": 0.8, "LightGBM": None}


@pytest.fixture
def other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two splits that all have done, one of them failed by LightGBM, and one that `ours` has."""
    rows = [
        {
            "system": system,
            "set": name,
            "seed": 0,
            "kind": "regression",
            "budget": 60.0,
            "fit_seconds": 50.0,
            "row_seconds": 1e-5,
            "cpu_seconds": 50.0,
            "peak_bytes": 1e8,
            "load": 1.5,
            "commit": "abc1234",
            "versions": {"lightgbm": "9.9"},
            "exit_code": 0,
            **({"error": "no memory"} if score is None else {"scores": {"r2": score}}),
        }
        for name in ("a", "b", "c")
        for system, score in SCORES.items()
        if name != "c" or system == "ours"
    ]
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    monkeypatch.setattr(controls_tables, "FILE", file)
    controls_tables.runs.cache_clear()
    yield
    controls_tables.runs.cache_clear()


@pytest.mark.usefixtures("other_runs")
def test_only_splits_that_all_have_done_are_compared() -> None:
    assert len(controls_tables.blocks()) == 2
    assert str(controls_tables.against("ours-joint")) == "2/0/0 (p 0.5)"
    assert str(controls_tables.against("random")) == "0/0/2 (p 1)"
    assert controls_tables.against("LightGBM").wins == 2


@pytest.mark.usefixtures("other_runs")
def test_sentences_follow_the_runs() -> None:
    told = " ".join(controls_tables.short().split())
    assert "better than our own joint TPE on 2, worse on 0 (sign test, Holm: p = 1)" in told
    assert "commit abc1234; lightgbm 9.9" in controls_tables.protocol()
    assert "failed" in controls_tables.tables()
