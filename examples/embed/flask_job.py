"""A web service that searches in the background: start, watch, cancel, predict.

A job is a search in a thread of the server; its evaluations run in processes of their own, so that
the server keeps answering. Run it to see the client below talk to it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from threading import Lock, Thread
from typing import Any

import pandas as pd
from flask import Flask, jsonify, request
from sklearn.datasets import load_breast_cancer

from automl_admm import AutomlAdmmError, AutoMLClassifier


@dataclass
class Job:
    """One search: the estimator, and what is known of it so far."""

    search: AutoMLClassifier
    state: str = "running"
    evaluations: int = 0
    best: float | None = None
    problem: str | None = None
    is_cancelled: bool = False
    lock: Lock = field(default_factory=Lock)

    def run(self, X: pd.DataFrame, y: pd.Series) -> None:
        """Search to the end; an error is a state of the job."""
        try:
            self.search.fit(X, y)
        except AutomlAdmmError as problem:
            self.state, self.problem = "failed", str(problem)
        else:
            self.state = "cancelled" if self.is_cancelled else "done"

    def evaluation_finished(self, info: Any, evaluation: Any) -> None:
        """Count an evaluation; the search calls this in its own thread."""
        with self.lock:
            self.evaluations += 1
            if evaluation.is_ranked:
                score = info.score_of(evaluation.loss)
                self.best = score if self.best is None else max(self.best, score)

    def should_stop(self, info: Any, evaluations: int, incumbent: Any) -> bool:
        """End the search a moment after somebody cancelled it, also in the middle of a fit."""
        return self.is_cancelled

    def describe(self) -> dict[str, Any]:
        """Return the job as JSON."""
        with self.lock:
            known = {"state": self.state, "evaluations": self.evaluations, "best": self.best}
        return known if self.problem is None else {**known, "problem": self.problem}


def create_app() -> Flask:
    """Make the service; its jobs live as long as its process."""
    app, jobs = Flask(__name__), list[Job]()

    @app.post("/jobs")
    def start() -> Any:
        asked = request.get_json()
        job = Job(AutoMLClassifier(**asked["options"]))
        job.search.set_params(callbacks=[job])
        rows, target = pd.DataFrame(asked["rows"]), pd.Series(asked["target"])
        jobs.append(job)
        # A daemon: a server that goes down does not wait for its searches.
        Thread(target=job.run, args=(rows, target), daemon=True).start()
        return jsonify(id=len(jobs) - 1), 202

    @app.get("/jobs/<int:number>")
    def status(number: int) -> Any:
        return jsonify(jobs[number].describe()) if number < len(jobs) else ("no such job", 404)

    @app.delete("/jobs/<int:number>")
    def cancel(number: int) -> Any:
        jobs[number].is_cancelled = True  # the best so far is fitted, then the job ends
        return "", 202

    @app.post("/jobs/<int:number>/predictions")
    def predict(number: int) -> Any:
        job = jobs[number]
        if job.state not in {"done", "cancelled"}:
            return jsonify(job.describe()), 409
        rows = pd.DataFrame(request.get_json()["rows"])
        return jsonify(predictions=job.search.predict(rows).tolist())

    return app


def wait_for(client: Any, number: int, reached: Any) -> dict[str, Any]:
    """Ask for the status of a job until it is what is waited for."""
    while not reached(found := client.get(f"/jobs/{number}").get_json()):
        time.sleep(0.1)
    return dict(found)


def main() -> None:
    """Let a job end, cancel another one, and predict with both."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    data = {"rows": X.to_dict("records"), "target": y.tolist()}
    options = {"grammar": "tiny", "cv": 2, "n_jobs": 1, "random_state": 0}
    client = create_app().test_client()
    for budget in ({"max_evaluations": 2}, {"time_budget": "1h"}):
        asked = {**data, "options": {**options, **budget}}
        number = client.post("/jobs", json=asked).get_json()["id"]
        early = client.post(f"/jobs/{number}/predictions", json={"rows": data["rows"][:3]})
        assert early.status_code == 409, "it has no model yet"
        if "time_budget" in budget:
            wait_for(client, number, lambda found: found["evaluations"] > 0)
            client.delete(f"/jobs/{number}")
        ended = wait_for(client, number, lambda found: found["state"] != "running")
        print(f"job {number}: {ended}")
        told = client.post(f"/jobs/{number}/predictions", json={"rows": data["rows"][:3]})
        print(f"predictions: {told.get_json()['predictions']}")


if __name__ == "__main__":
    main()
