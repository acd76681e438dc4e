"""The course of ADMM is kept line by line, and a line cut off by a kill is left out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from report_runs import an_evaluation, write_run

from automl_admm import AutoMLClassifier
from automl_admm.core.errors import StoreError
from automl_admm.core.space import Selection
from automl_admm.report.page import SECTIONS
from automl_admm.report.sections import admm
from automl_admm.report.view import read_view
from automl_admm.report.writing import make_report
from automl_admm.runs.session.iterations import describe, read_iterations
from automl_admm.search.admm.outer_loop import AdmmState
from automl_admm.store.run_folder import RunFolder


def a_state(**changes: Any) -> AdmmState:
    none, one = np.zeros(0), np.array([0.25])
    values = {
        "iteration": 3,
        "selection": Selection(()),
        "theta": none,
        "delta": none,
        "dual": none,
        "slack": one,
        "constraint_duals": one,
        "residuals": -one,
        "rho": 1.0,
        "integer_rho": 0.5,
    }
    return AdmmState(**(values | changes))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """The folder of a run with one worker, and its search."""
    place = tmp_path_factory.mktemp("course") / "run"
    X = np.random.default_rng(0).normal(size=(80, 2))
    more = {"executor": "inline", "random_state": 0, "constraints": ["size_mb <= 50"]}
    search = AutoMLClassifier("tiny", work_dir=place, max_evaluations=12, cv=2, **more)
    return place, search.fit(X, (X[:, 0] > 0).astype(int))


def test_a_run_keeps_its_outer_iterations_and_the_end_of_each_evaluation(
    run: tuple[Path, Any],
) -> None:
    found = read_iterations(RunFolder(run[0]))
    assert [one.iteration for one in found] == list(range(len(found)))
    assert found
    assert all(len(one.multipliers) == len(one.violations) == 1 for one in found)
    ends = [one.ended for one in read_view(run[0]).evaluations]
    assert ends == sorted(end for end in ends if end is not None)
    assert found[-1].ended >= min(end for end in ends if end is not None)


def test_iterations_of_another_run_are_refused_and_older_ones_read(
    run: tuple[Path, Any], tmp_path: Path
) -> None:
    folder = RunFolder(Path(shutil.copytree(run[0], tmp_path / "run")))
    lines = [json.loads(line) for line in folder.iterations.read_text().splitlines()]
    assert {one["run_id"] for one in lines} == {folder.read(folder.settings)["run_id"]}
    for name in ("another", None):
        text = "".join(f"{json.dumps(one | {'run_id': name})}\n" for one in lines)
        folder.iterations.write_text(text)
        if name is None:
            assert read_iterations(folder) == read_iterations(RunFolder(run[0]))
            continue
        with pytest.raises(StoreError, match="is of another run than"):
            make_report(folder.path)


def test_the_report_draws_the_course(run: tuple[Path, Any]) -> None:
    found = admm.measure(read_view(run[0]))
    assert found is not None
    source = admm.draw(found).source
    for title in ("residual", "penalty ρ", "multiplier μ"):
        assert f"{title} by outer iteration" in source


def test_a_state_without_a_residual_has_none() -> None:
    found = describe(a_state(), session=2)
    assert (found.session, found.iteration, found.primal_residual) == (2, 3, None)
    assert (found.multipliers, found.violations) == ((0.25,), (-0.25,))


def test_a_torn_line_is_left_out_and_a_wrong_one_is_damage(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    assert read_iterations(folder) == ()
    folder.iterations.write_text('{"session": 1')
    assert read_iterations(folder) == ()
    for wrong in ('{"session": 1', "[]", '{"session": "1"}'):
        folder.iterations.write_text(f"{wrong}\n")
        with pytest.raises(StoreError, match=r"iterations.jsonl' is damaged in line 1"):
            read_iterations(folder)


@pytest.mark.parametrize("strategy", ["joint", "admm"])
def test_only_a_run_of_admm_has_the_section(tmp_path: Path, strategy: str) -> None:
    run = write_run(tmp_path / "run", [an_evaluation(1)])
    view = read_view(run)
    view.log.settings["strategy"] = strategy  # type: ignore[index]
    found = admm.measure(view)
    assert (found is None) is (strategy == "joint")
    assert found is None or "No outer iteration is on record" in admm.draw(found).source
    assert b'id="admm"' in make_report(run).page
    assert "admm" in {one.key for one in SECTIONS}
