"""A fit that a program logs with MLflow is not logged again by the installed plugin."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest
from sklearn.datasets import make_classification

from automl_admm import AutoMLClassifier


@pytest.fixture(scope="module")
def tracking() -> Any:
    """Import MLflow with the first test: each worker collects them, and one or two run them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("mlflow.tracking")


def count_runs(tracking: Any, store: str, experiment: str) -> int:
    """Return how many runs an experiment has, without those of evaluations."""
    client = tracking.MlflowClient(store)
    found = client.get_experiment_by_name(experiment)
    runs = [] if found is None else client.search_runs([found.experiment_id])
    return sum("mlflow.parentRunId" not in one.data.tags for one in runs)


@pytest.mark.filterwarnings("ignore")  # of MLflow
@pytest.mark.parametrize("is_own", [True, False], ids=["own observer", "plugin alone"])
def test_a_fit_is_logged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tracking: Any, is_own: bool
) -> None:
    """Hooks and callbacks of a fit are told of it as one object: by that the two are one run."""
    automl_admm_mlflow = pytest.importorskip("automl_admm_mlflow")
    store = f"sqlite:///{tmp_path / 'mlflow.db'}"
    monkeypatch.chdir(tmp_path)  # MLflow puts artifacts into the working folder
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.delenv("MLFLOW_EXPERIMENT_NAME", raising=False)
    observer = automl_admm_mlflow.MlflowObserver(experiment="own")
    X, y = make_classification(80, 4, random_state=0)
    model = AutoMLClassifier(
        "tiny",
        cv=2,
        max_evaluations=2,
        executor="inline",
        work_dir=tmp_path / "fit",
        callbacks=[observer] if is_own else [],
    )
    model.fit(X, y)
    assert observer.wait(120)
    assert automl_admm_mlflow._automatic()._observer.wait(120)
    assert count_runs(tracking, store, "own") == is_own
    assert count_runs(tracking, store, "automl-admm") == (not is_own)
