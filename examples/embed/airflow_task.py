"""An Airflow DAG: search, decide, predict, in three tasks that pass the path of a run on.

Copy it into the folder of your DAGs (Airflow 3). Without Airflow, or run as a script, the same
functions are called one after another.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

try:
    from airflow.sdk import dag, task
except ImportError:
    dag = task = None

FOLDER = "AUTOML_RUNS"  # a folder that all workers see
LEAST_SCORE = 0.9


def search(name: str) -> str:
    """Search within a budget, and return the path of the run's folder: paths pass between tasks."""
    from sklearn.datasets import load_breast_cancer

    from automl_admm import AutomlAdmmError, AutoMLClassifier

    folder = Path(os.environ[FOLDER]) / name
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    automl = AutoMLClassifier(
        "tiny",
        cv=2,
        max_evaluations=3,  # or time_budget="20m", below the execution_timeout of the task
        constraints=["size_mb <= 5"],
        executor="inline",
        random_state=0,
        work_dir=folder,
        warm_start=True,  # a retry of the task goes on where the last one was killed
    )
    try:
        automl.fit(X, y)
    except AutomlAdmmError as problem:
        raise RuntimeError(str(problem)) from problem  # the task fails, with one line in its log
    return str(folder)


def accept(folder: str) -> str:
    """Fail on a run that is not good enough: what follows is then not run."""
    from automl_admm import read_run

    run = read_run(folder)
    score = run.validation_score
    if not run.feasible or score is None or score < LEAST_SCORE:
        raise ValueError(f"{folder}: {score} within its limits is not enough")
    print(f"{len(run.evaluations)} evaluations, validation score {score:.4f}")
    return folder


def predict(folder: str) -> int:
    """Predict with the model of the run, in whichever process this task runs."""
    from sklearn.datasets import load_breast_cancer

    from automl_admm import load

    X, _ = load_breast_cancer(return_X_y=True, as_frame=True)
    found = load(folder).predict(X)
    print(f"{len(found)} predictions")
    return len(found)


if dag is not None:

    @dag(schedule=None, catchup=False)
    def automl() -> Any:
        """Search every time it is triggered."""
        task(predict)(task(accept)(task(search)("{{ run_id | replace(':', '-') }}")))

    automl()

if __name__ == "__main__":
    if dag is None:
        print("Airflow is not installed: the tasks are called as functions")
    with TemporaryDirectory() as place:
        os.environ[FOLDER] = place
        predict(accept(search("by-hand")))
