"""Log a run in MLflow while it goes on, and predict with the logged model."""

from __future__ import annotations

import os
import tempfile

import mlflow.pyfunc
from automl_admm_mlflow import MlflowObserver
from mlflow.tracking import MlflowClient
from sklearn.datasets import load_breast_cancer

from automl_admm import AutoMLClassifier

with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)  # MLflow puts artifacts beside the store
    store = "sqlite:///mlflow.db"
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    observer = MlflowObserver(store, experiment="breast cancer")
    search = AutoMLClassifier(
        grammar="tiny",
        max_evaluations=3,
        cv=2,
        constraints=["size_mb <= 1"],
        work_dir="run",
        random_state=0,
        callbacks=[observer],
    )
    search.fit(X, y)
    observer.wait(120)

    client = MlflowClient(store)
    experiment = client.get_experiment_by_name("breast cancer")
    runs = client.search_runs([experiment.experiment_id])
    (whole,) = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    print(f"{len(runs) - 1} evaluations in run '{whole.info.run_name}'")
    print(f"best: {whole.data.tags['best_pipeline']}")
    print(f"      {whole.data.metrics}")

    mlflow.set_tracking_uri(store)
    model = mlflow.pyfunc.load_model(f"runs:/{whole.info.run_id}/model")
    same = (model.predict(X) == search.predict(X)).sum()
    print(f"the logged model predicts the same on {same} of {len(X)} rows")
    os.chdir("/")
