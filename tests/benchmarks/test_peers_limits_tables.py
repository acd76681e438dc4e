"""The part of the page on limits follows its file, whatever runs are in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import peers_limits_tables
import pytest
from benchmark_runs import a_run, other_runs


@pytest.fixture
def made_up(tmp_path: Path) -> Iterator[None]:
    """Two settings that all have done, each later system better, the last one outside."""
    systems = peers_limits_tables.SYSTEMS
    values = {system: 9.0 if system == systems[-1] else 4.0 for system in systems}
    rows = [
        a_run(
            *(system, name),
            limit="size",
            scores={"r2": 0.1 * place},
            limited={"bound": 5.0, "value": values[system], "allowed": 5.0},
        )
        for name in ("a", "b")
        for place, system in enumerate(systems)
    ]
    longer = [{**row, "budget": 300.0, "scores": {"r2": 0.9}} for row in rows]
    with other_runs(peers_limits_tables, peers_limits_tables.runs, [*rows, *longer], tmp_path):
        yield


@pytest.mark.usefixtures("made_up")
def test_a_model_outside_its_limit_is_never_the_best() -> None:
    told = " ".join(peers_limits_tables.short().split())
    assert "of 2 settings" in told
    assert "AutoGluon-best 2 (2), LightGBM 0 (0)" in told
    last = 0.1 * (len(peers_limits_tables.SYSTEMS) - 1)
    assert f"({last:.4f}, 9.00)" in peers_limits_tables.tables()


@pytest.mark.usefixtures("made_up")
def test_the_protocol_counts_settings_and_names_commits() -> None:
    told = " ".join(peers_limits_tables.protocol().split())
    assert "2 settings, one split of each" in told
    assert "commits abc1234" in told
