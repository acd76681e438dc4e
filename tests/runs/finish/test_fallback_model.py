"""A run whose time is up before anything was evaluated: what ships, and how it is marked."""

from __future__ import annotations

import json
import math
import time
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier

from automl_admm import (
    AutoMLClassifier,
    AutoMLRegressor,
    Constraint,
    InfeasibleError,
    Limit,
    NoSuccessError,
)
from automl_admm.core.errors import FallbackWarning
from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.protocols import Finished, Task
from automl_admm.runs.config import RunConfig
from automl_admm.runs.finish import fallback_model
from automl_admm.runs.finish.fallback_model import EarlyFallbacks, LateFallback, fall_back
from automl_admm.runs.finish.model_file import load_model
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.store.run_folder import RunFolder

# What cannot be interrupted runs in this process: the time is up when its first fit is done.
NO_TIME: dict[str, Any] = {"time_budget": 0.001, "executor": "inline", "random_state": 0}


@pytest.fixture
def rows() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=300), "b": rng.choice(["x", "y"], 300)})
    return frame, np.where(frame["a"] + 0.3 * rng.normal(size=300) > 0.8, "yes", "no")


@pytest.mark.fault("F62", injected="no time is left for a single evaluation", expected="a model")
def test_a_pipeline_of_few_rows_ships_marked(rows: Any, tmp_path: Path, seen: Any) -> None:
    X, y = rows
    search = AutoMLClassifier("tiny", **NO_TIME, work_dir=tmp_path / "run")
    with pytest.warns(FallbackWarning, match=r"ended before a single.*marked, was fitted on 300 "):
        search.fit(X, y)
    assert search.fallback_ == "few rows"
    assert search.n_evaluations_ == 0
    assert (search.predict(X) == y).mean() > 0.9
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    manifest = json.loads((tmp_path / "run" / "model.json").read_text())
    assert run["result"]["fallback"] == manifest["fallback"] == "few rows"
    assert manifest["evaluation"] is None
    loaded = load_model(RunFolder(tmp_path / "run"))
    assert (loaded.predict(X) == search.predict(X)).all()
    seen(f"{search.best_text_} fitted on {manifest['rows']} rows, marked")


def test_where_every_pipeline_fails_a_constant_ships(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    grammar = tmp_path / "one.lark"
    grammar.write_text("%import components (linear_svm)\n\nstart: linear_svm\n")  # takes no text
    with pytest.warns(
        FallbackWarning, match=r"a constant: the class frequencies\. Give a longer time_budget\.$"
    ):
        search = AutoMLClassifier(grammar, **NO_TIME, on_infeasible="closest").fit(X, y)
    assert search.fallback_ == "constant"
    assert not search.feasible_
    assert isinstance(search.best_pipeline_.steps[-1][1], DummyClassifier)
    assert set(search.predict(X)) == {"no"}
    assert search.predict_proba(X)[0] == pytest.approx([(y == "no").mean(), (y == "yes").mean()])


def test_a_regression_falls_back_on_the_mean(tmp_path: Path) -> None:
    X = pd.DataFrame({"city": ["Ulm", "Bonn"] * 20})
    y = np.arange(40.0)
    grammar = tmp_path / "one.lark"
    grammar.write_text("%import components (ridge)\n\nstart: ridge\n")
    said = "budget ended before a single evaluation did.*a constant: the mean of the target"
    with pytest.raises(NoSuccessError, match=said):
        AutoMLRegressor(grammar, **NO_TIME).fit(X, y)
    with pytest.warns(FallbackWarning, match="the mean of the target"):
        search = AutoMLRegressor(grammar, **NO_TIME, on_infeasible="closest").fit(X, y)
    assert search.predict(X) == pytest.approx(np.full(40, 19.5))


def test_a_constant_is_never_within_limits(rows: Any, tmp_path: Path) -> None:
    """It never says yes, so that its false positive rate is 0; and precision has no value."""
    X, y = rows
    grammar = tmp_path / "one.lark"
    grammar.write_text("%import components (linear_svm)\n\nstart: linear_svm\n")
    limits = ["fpr <= 0.1", "precision >= 0.5"]
    search = AutoMLClassifier(grammar, constraints=limits, **NO_TIME, work_dir=tmp_path / "run")
    with pytest.raises(NoSuccessError, match="a constant") as raised:
        search.fit(X, y)
    outcome = raised.value.closest
    assert outcome.fallback == "constant"
    assert not outcome.result.feasible
    assert outcome.best.constraints[0] == 0.0
    assert math.isnan(outcome.best.constraints[1])
    manifest = json.loads((tmp_path / "run" / "model.json").read_text())
    assert manifest["feasible"] is False
    assert manifest["constraints"] == {"fpr <= 0.1": 0.0, "precision >= 0.5": None}
    search.set_params(on_infeasible="closest", work_dir=None)
    with pytest.warns(FallbackWarning):
        assert not search.fit(X, y).feasible_


def test_few_rows_are_measured_like_any_pipeline(rows: Any) -> None:
    X, y = rows
    too_tight = Constraint(Limit("wrong", -1.0), lambda _: 1.0)
    with pytest.raises(InfeasibleError, match="wrong <= -1, closest 1"):
        AutoMLClassifier("tiny", constraints=[too_tight], **NO_TIME).fit(X, y)


def test_a_run_that_has_the_time_knows_nothing_of_it(rows: Any) -> None:
    X, y = rows
    with warnings.catch_warnings():
        warnings.simplefilter("error", FallbackWarning)
        search = AutoMLClassifier("tiny", cv=2, max_evaluations=1, random_state=0).fit(X, y)
    assert search.fallback_ is None


class Waiting:
    """A dispatcher that only notes what it is given."""

    def __init__(self) -> None:
        self.submitted: list[Any] = []

    def make(self, kind: Any, arguments: Any, seconds: Any, *, keep: bool) -> Task:
        return Task(7, str(kind), arguments, seconds, keep=keep)

    def submit(self, task: Task) -> None:
        self.submitted.append(task)


@pytest.mark.parametrize(
    ("seconds_left", "succeeded", "begun"), [(0.0, False, 1), (0.0, True, 0), (1e6, False, 0)]
)
def test_a_constant_is_fitted_once_the_first_success_is_late(
    rows: Any, seconds_left: float, succeeded: bool, begun: int
) -> None:
    prepared, dispatch = prepare(RunConfig("tiny", time_budget=60.0), *rows), Waiting()
    late = LateFallback(prepared, cast("Any", dispatch), seconds_left)
    best = Evaluation(1, "", prepared.problem.starts[0], Status.SUCCESS) if succeeded else None
    for _ in range(3):
        late.look(best)
    assert len(dispatch.submitted) == begun
    late.take(Finished(7, Status.CRASHED))
    assert late.ready == ()


@pytest.mark.parametrize(("grammar", "kind"), [("default", LateFallback), ("tiny", EarlyFallbacks)])
def test_a_quick_first_pipeline_does_not_wait_for_a_makeshift_one(
    grammar: str, kind: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(1000, 20))).add_prefix("x")
    config = RunConfig(grammar=grammar, time_budget=5.0, begun=time.monotonic())
    prepared = prepare(config, X, np.where(X["x0"] > 0, "yes", "no"))
    monkeypatch.setattr(fallback_model, "_fit_now", lambda *_: ())
    clock = SimpleNamespace(monotonic=lambda: config.begun + 0.5)  # however busy the machine is
    monkeypatch.setattr(fallback_model, "time", clock)
    desk = SimpleNamespace(dispatch=SimpleNamespace(runs_here=False, workers=1))
    assert isinstance(fall_back(prepared, cast("Any", desk)), kind)
