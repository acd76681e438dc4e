"""The part on Optuna and SMAC compares splits that they and the controls have all done."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import controls_tables
import live_solvers_tables
import pytest
from benchmark_runs import a_run, other_runs

CONTROLS = {"ours": 0.8, "ours-joint": 0.7, "random": 0.6, "LightGBM": 0.9}
SOLVERS = {"ours-optuna": 0.9, "ours-smac": 0.5}


@pytest.fixture
def made_up(tmp_path: Path) -> Iterator[None]:
    """Two splits of the controls, of which the solvers have done one."""
    controls = [
        a_run(system, name, scores={"r2": score})
        for name in ("a", "b")
        for system, score in CONTROLS.items()
    ]
    solvers = [a_run(system, "a", scores={"r2": score}) for system, score in SOLVERS.items()]
    other = tmp_path / "solvers"
    other.mkdir()
    with (
        other_runs(controls_tables, controls_tables.runs, controls, tmp_path),
        other_runs(live_solvers_tables, live_solvers_tables.runs, solvers, other),
    ):
        yield


@pytest.mark.usefixtures("made_up")
def test_what_all_have_done_is_compared() -> None:
    assert len(live_solvers_tables.splits()) == 1
    assert str(live_solvers_tables.against("ours-optuna")) == "0/1/0 (p 1)"
    assert str(live_solvers_tables.against("ours-smac")) == "1/0/0 (p 1)"


@pytest.mark.usefixtures("made_up")
def test_other_controls_are_left_out() -> None:
    told = live_solvers_tables.tables()
    assert "are of commit abc1234." in told
    assert "LightGBM" not in told
