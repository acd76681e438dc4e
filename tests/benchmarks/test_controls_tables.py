"""The page of controls follows its file, whatever runs are in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import controls_tables
import pytest
from benchmark_runs import a_run, other_runs

SCORES = {"ours": 0.8, "ours-joint": 0.7, "random": 0.8, "LightGBM": None}


@pytest.fixture
def made_up(tmp_path: Path) -> Iterator[None]:
    """Two splits that all have done, one of them failed by LightGBM, and one that `ours` has."""
    ends: dict[str, dict[str, Any]] = {
        system: {"error": "no memory"} if score is None else {"scores": {"r2": score}}
        for system, score in SCORES.items()
    }
    rows = [
        a_run(system, name, versions={"lightgbm": "9.9"}, **end)
        for name in ("a", "b", "c")
        for system, end in ends.items()
        if name != "c" or system == "ours"
    ]
    with other_runs(controls_tables, controls_tables.runs, rows, tmp_path):
        yield


@pytest.mark.usefixtures("made_up")
def test_only_splits_that_all_have_done_are_compared() -> None:
    assert len(controls_tables.blocks()) == 2
    assert str(controls_tables.against("ours-joint")) == "2/0/0 (p 0.5)"
    assert str(controls_tables.against("random")) == "0/0/2 (p 1)"
    assert controls_tables.against("LightGBM").wins == 2


@pytest.mark.usefixtures("made_up")
def test_sentences_follow_the_runs() -> None:
    told = " ".join(controls_tables.short().split())
    assert "better than our own joint TPE on 2, worse on 0 (sign test, Holm: p = 1)" in told
    assert "commit abc1234; lightgbm 9.9" in controls_tables.protocol()
    assert "failed" in controls_tables.tables()
