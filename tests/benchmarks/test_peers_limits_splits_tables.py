"""The part of the page on splits of settings with limits follows its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import peers_limits_splits_tables as page
import pytest
from benchmark_runs import a_run, other_runs


@pytest.fixture(autouse=True)
def made_up(tmp_path: Path) -> Iterator[None]:
    """Two splits of a setting, each later system better and the last one outside; one is cut."""
    rows = [
        a_run(
            *(system, "a"),
            limit="size",
            seed=seed,
            scores={"r2": 0.1 * place},
            limited={"bound": 5.0, "value": 9.0 if place == 3 else 4.0, "allowed": 5.0},
        )
        for seed in (0, 1, 2)
        for place, system in enumerate(page.SYSTEMS)
    ]
    with other_runs(page, page.settings, rows[:-1], tmp_path):
        yield


def test_only_splits_that_all_have_done_are_told() -> None:
    told = " ".join(page.protocol().split())
    assert told.startswith("2 splits of 1 settings (seeds 0 and 1)")
    assert "commit abc1234" in told


def test_a_model_outside_its_limit_is_never_the_best() -> None:
    told = " ".join(page.short().split())
    assert "FLAML 1.00 (2 and 2)" in told
    assert "AutoGluon 4.00 (0 and 0)" in told
    assert "ours-boost against joint TPE 0:2, FLAML 0:2 and AutoGluon 2:0" in told
    assert "(0.3000, 9.00)" in page.tables()
