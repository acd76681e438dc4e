"""Endings of evaluations as users read them: one stopped early is told apart everywhere."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from automl_admm import AutoMLClassifier
from automl_admm.cli.main import main
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.limits import Limit
from automl_admm.core.run import RunInfo
from automl_admm.core.space import Candidate, SearchSpace
from automl_admm.progress.run_so_far import RunSoFar
from automl_admm.runs.evaluation_table import tabulate

GRAMMAR = """
%import components (gaussian_nb, decision_tree)
start: estimator
estimator: gaussian_nb | decision_tree
"""


def ended(number: int, loss: float, *, fidelity: float = 1.0, **more: Any) -> Evaluation:
    candidate = Candidate((), (), fidelity=fidelity)
    settings: dict[str, Any] = {"status": Status.SUCCESS, "constraints": (1.0,)} | more
    return Evaluation(number, str(number), candidate, loss=loss, **settings)


def test_only_what_may_ship_has_a_rank_of_its_own() -> None:
    stopped = ended(1, 0.0, details={"folds_left": 3})
    failed = ended(2, np.nan, status=Status.CRASHED, constraints=())
    part, outside = ended(3, 0.0, fidelity=0.1), ended(4, 0.0, constraints=(9.0,))
    good, better = ended(5, 0.2), ended(6, 0.1)
    log = (stopped, failed, part, outside, good, better)
    table = tabulate(log, (Limit("size", 2.0),), lambda loss: 1.0 - loss)
    assert list(table["rank_test_score"]) == [4, 4, 4, 3, 2, 1]
    assert table["status"] == ["stopped", "crashed", *["success"] * 4]


def test_a_run_without_any_rank_has_ranks() -> None:
    table = tabulate([ended(1, np.nan, status=Status.ERROR, constraints=())], (), float)
    assert list(table["rank_test_score"]) == [1]
    assert len(tabulate((), (), float)["rank_test_score"]) == 0


def test_the_screen_counts_it_apart() -> None:
    shown = RunSoFar()
    shown.begin(RunInfo("run", SearchSpace(), (Limit("size", 2.0),), known=(ended(1, 0.1),)))
    shown.finish(ended(2, 0.2, details={"folds_left": 3}))
    assert shown.count_line() == "2 evaluations (1 success, 1 stopped)"


def test_one_stopped_early_is_called_so_in_python_and_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grammar, folder = tmp_path / "grammar.lark", tmp_path / "run"
    grammar.write_text(GRAMMAR)
    starts = ["gaussian_nb()", "decision_tree(max_depth=1)"]
    fixed = {"theta_solver": "random", "z_solver": "random", "executor": "inline"}
    found = AutoMLClassifier(
        grammar=grammar, starts=starts, max_evaluations=2, work_dir=folder, ensemble=False, **fixed
    ).fit(*load_breast_cancer(return_X_y=True))
    assert found.cv_results_["status"] == ["success", "stopped"]
    assert list(found.cv_results_["rank_test_score"]) == [1, 2]
    assert list(found.leaderboard()["status"]) == ["success", "stopped"]
    said = run(capsys, "leaderboard", folder).splitlines()
    assert said[-1] == "1 success, 1 stopped"
    rows = csv.DictReader(io.StringIO(run(capsys, "store", "export", folder)))
    assert [row["status"] for row in rows] == ["success", "stopped"]


def run(capsys: pytest.CaptureFixture[str], *arguments: Any) -> str:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    assert not ended.value.code, captured.err
    return captured.out
