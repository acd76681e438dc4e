"""The part of the page on limits follows its file, whatever runs are in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import peers_limits_tables
import pytest


@pytest.fixture
def other_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two settings that all have done, each later system better, the last one outside."""
    rows = [
        {
            "system": system,
            "set": name,
            "seed": 0,
            "kind": "regression",
            "limit": "size",
            "budget": 60.0,
            "fit_seconds": 50.0,
            "load": 1.5,
            "commit": "abc1234",
            "exit_code": 0,
            "scores": {"r2": 0.1 * place},
            "limited": {
                "bound": 5.0,
                "value": 9.0 if system == peers_limits_tables.SYSTEMS[-1] else 4.0,
                "allowed": 5.0,
            },
        }
        for name in ("a", "b")
        for place, system in enumerate(peers_limits_tables.SYSTEMS)
    ]
    longer = [{**row, "budget": 300.0, "scores": {"r2": 0.9}} for row in rows]
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(map(json.dumps, [*rows, *longer])), encoding="utf-8")
    monkeypatch.setattr(peers_limits_tables, "FILE", file)
    peers_limits_tables.runs.cache_clear()
    yield
    peers_limits_tables.runs.cache_clear()


@pytest.mark.usefixtures("other_runs")
def test_a_model_outside_its_limit_is_never_the_best() -> None:
    told = " ".join(peers_limits_tables.short().split())
    assert "of 2 settings" in told
    assert "AutoGluon-best 2 (2), LightGBM 0 (0)" in told
    last = 0.1 * (len(peers_limits_tables.SYSTEMS) - 1)
    assert f"({last:.4f}, 9.00)" in peers_limits_tables.tables()


@pytest.mark.usefixtures("other_runs")
def test_the_protocol_counts_settings_and_names_commits() -> None:
    told = " ".join(peers_limits_tables.protocol().split())
    assert "2 settings, one split of each" in told
    assert "commits abc1234" in told
