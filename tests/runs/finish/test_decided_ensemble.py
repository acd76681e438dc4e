"""An ensemble for a metric of decisions, the whole way: trained here, it decides elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from program import run_program, run_python
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import FixedThresholdClassifier

from automl_admm import AutoMLClassifier, load
from automl_admm.pipelines.ensembles import decided as decided_ensembles
from automl_admm.runs.finish.ensemble_fit import FEWEST, EnsembleFit

GRAMMAR = "%import components (decision_tree)\n\nstart: decision_tree\n"
LIMIT = "fpr <= 0.1"


def table(rows: int, seed: int) -> pd.DataFrame:
    """One row of seven is bad, by a sum. The positive class is not the last of the sorted ones."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(rows, 5)), columns=list("abcde"))
    signal = X.sum(axis=1) + 0.5 * rng.normal(size=rows)
    part = np.where(rng.uniform(size=rows) < 0.5, "left", "right")
    return X.assign(part=part, label=np.where(signal > 2.4, "bad", "good"))


ROWS, NEW = table(400, 0), table(600, 1)
COLUMNS = list("abcde")


def search(folder: Path, rows: pd.DataFrame = ROWS, columns: Any = COLUMNS, **options: Any) -> Any:
    grammar = folder / "trees.lark"
    grammar.write_text(GRAMMAR)
    known: dict[str, Any] = {
        "max_evaluations": FEWEST,
        "executor": "inline",
        "strategy": "joint",
        "theta_solver": "random",
        "random_state": 0,
        "racing": False,  # what is stopped early is no candidate
        "cv": 2,
        "scoring": "balanced_accuracy",
        "positive": "bad",
        "work_dir": folder / "run",
    }
    model = AutoMLClassifier(grammar, **known | options)
    return model.fit(rows[columns], rows["label"])


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Path]:
    """A run with a limit whose ensemble ships, and its folder."""
    folder = tmp_path_factory.mktemp("limited")
    return search(folder, constraints=[LIMIT]), folder


def by_hand(model: Any, rows: pd.DataFrame) -> Any:
    """Return the decisions of a mean of the members at the threshold, without scikit-learn's."""
    voting = model.estimator_.estimator
    of_members = [member.predict_proba(rows)[:, 0] for member in voting.estimators_]
    bad = np.average(of_members, axis=0, weights=voting.weights)
    return np.where(bad >= model.threshold, "bad", "good")


def test_it_ships_at_a_threshold_of_its_own(limited: tuple[Any, Path]) -> None:
    found, folder = limited
    model, told = found.best_pipeline_, found.ensemble_
    assert isinstance(model, FixedThresholdClassifier)
    assert isinstance(model.estimator_.estimator, VotingClassifier)
    assert len(told["members"]) > 1
    assert told["gain"] > 2.0 * told["error"]
    assert found.best_score_ > told["single"]["validation_score"]
    manifest = json.loads((folder / "run" / "model.json").read_text())
    assert manifest["threshold"] == model.threshold
    assert manifest["constraints"][LIMIT] <= 0.1
    decided = found.predict(NEW[COLUMNS])
    assert (decided == by_hand(model, NEW[COLUMNS])).all()
    assert balanced_accuracy_score(NEW["label"], decided) > 0.7


def test_another_process_decides_the_same(limited: tuple[Any, Path]) -> None:
    """The file has its columns in another order, and one that was never seen."""
    found, folder = limited
    NEW[[*"edcba", "part"]].to_csv(folder / "new.csv", index=False)
    words = ("predict", folder / "run", "new.csv", "--output", "decided.csv")
    assert run_program(*words, cwd=folder).returncode == 0
    decided = pd.read_csv(folder / "decided.csv")
    expected = found.predict(NEW[COLUMNS])
    assert decided.iloc[:, 0].tolist() == expected.tolist()
    assert 0 < (expected == "bad").sum() < len(expected)
    # At the default threshold rows are decided otherwise: the equality says something.
    assert (found.best_pipeline_.estimator_.predict(NEW[COLUMNS]) != expected).any()


def test_the_script_decides_the_same(limited: tuple[Any, Path]) -> None:
    found, folder = limited
    ROWS.drop(columns="part").to_csv(folder / "rows.csv", index=False)
    NEW[COLUMNS].to_csv(folder / "fresh.csv", index=False)
    content = (folder / "run" / "pipeline.py").read_text()
    content = content.replace('TARGET = "target"', 'TARGET = "label"')
    (folder / "pipeline.py").write_text(content.replace('"target": {', '"label": {'))
    words = ("pipeline.py", "rows.csv", "fresh.csv", "made.csv")
    assert run_python(*words, cwd=folder).returncode == 0
    expected = found.predict(NEW[COLUMNS])
    assert pd.read_csv(folder / "made.csv").iloc[:, 0].tolist() == expected.tolist()


def test_a_session_of_onnx_decides_the_same(limited: tuple[Any, Path]) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("skl2onnx")
    found, folder = limited
    ROWS.drop(columns="part").to_csv(folder / "known.csv", index=False)
    words = ("export", folder / "run", "--data", "known.csv", "--onnx", "model.onnx")
    told = run_program(*words, cwd=folder)
    assert told.returncode == 0, told.stderr
    assert "the same predictions on 400 rows" in told.stdout
    session = runtime.InferenceSession(folder / "model.onnx")
    labels, chances = session.run(None, {"columns": NEW[COLUMNS].to_numpy(float)})
    assert labels.tolist() == found.predict(NEW[COLUMNS]).tolist()
    assert np.abs(chances - found.predict_proba(NEW[COLUMNS])).max() < 1e-9


def test_groups_have_thresholds_of_the_ensemble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decided_ensembles, "WITHIN_LIMITS", -1e9)
    monkeypatch.setattr(EnsembleFit, "_objection", lambda *_: None)
    limits = ["fpr <= 0.1", "fpr_gap[part] <= 0.1"]
    rows, new = (one.assign(part=(one["part"] == "left") * 1) for one in (ROWS, NEW))
    columns = [*"abcde", "part"]
    model = search(tmp_path, rows, columns, constraints=limits, group_thresholds=True)
    assert model.ensemble_ is not None
    decided = load(tmp_path / "run").predict(new[columns])
    assert (decided == model.predict(new[columns])).all()
    told = json.loads((tmp_path / "run" / "model.json").read_text())
    assert set(told["group_thresholds"]) == {"0", "1"}
