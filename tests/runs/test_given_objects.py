"""Python objects in place of names: what they become, and what is refused in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import load_iris

from automl_admm import (
    AutoMLClassifier,
    ComponentPlugin,
    MetricPlugin,
    Parameter,
    SearchSpace,
    StrategyPlugin,
    ThetaSolverPlugin,
    minimize,
    read_run,
)
from automl_admm.core.errors import AutomlAdmmError, ConfigurationError, StoreError
from automl_admm.execution.inline_executor import InlineExecutor
from automl_admm.plugins.given_parts import GivenParts
from automl_admm.runs.given_objects import take_objects
from automl_admm.search.protocol import Book, Proposal
from automl_admm.search.starts import draw_candidate, evaluate_starts

SPACE = SearchSpace(parameters=(Parameter("x", 0.0, 1.0),))
FEW = {"max_evaluations": 3, "random_state": 0}
GRAMMAR = "%import components (twice, decision_tree)\nstart: twice decision_tree\n"


class Middle:
    """A θ-solver that goes half of the way to the corner, and keeps what it was asked."""

    def __init__(self, share: float = 0.5) -> None:
        self.share, self.asked = share, 0

    def begin(self, subproblem: Any) -> None:
        self.point = subproblem.start

    def ask(self, count: int, pending: Sequence[Any]) -> list[Any]:
        self.asked += 1
        self.point = self.point * self.share
        return [self.point]

    def tell(self, observations: object) -> None: ...


class Slotted(Middle):
    __slots__ = ()

    def __setattr__(self, name: str, value: object) -> None:
        if name.startswith("_"):
            raise AttributeError(name)
        super().__setattr__(name, value)


class Ridgeless(TransformerMixin, BaseEstimator):
    """A transformer of no module that a child could import: tests are no package."""

    def __init__(self, factor: float = 2.0) -> None:
        self.factor = factor

    def fit(self, X: Any, y: Any = None) -> Ridgeless:
        self.width_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        return np.asarray(X) * self.factor


def twice(kind: type[Any] = Ridgeless) -> ComponentPlugin:
    return ComponentPlugin(
        name="twice",
        summary="more of it",
        role="transformer",
        factory=lambda values, context: kind(values["factor"]),
        parameters=(Parameter("factor", 1.0, 3.0),),
    )


def draw(problem: Any, solvers: Any) -> Iterator[Any]:
    book, rng = Book.of(problem), np.random.default_rng(problem.seed)
    yield from evaluate_starts(problem, book)
    while True:
        book.receive((yield Proposal(draw_candidate(problem.space, rng), "draw")))


def square(values: dict[str, Any]) -> float:
    return float(values["x"] ** 2)


RECORD = ThetaSolverPlugin(name="middle", summary="s", factory=lambda options: Middle())


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (Middle, "own-middle"),
        (partial(Middle, 0.9), "own-middle"),
        (lambda: Middle(0.5), "own-theta-solver"),
        (Middle(), "own-middle"),
        (RECORD, "middle"),
    ],
    ids=["class", "partial", "lambda", "object", "record"],
)
def test_a_solver_may_be_an_object_a_factory_or_a_record(given: Any, name: str) -> None:
    settings = take_objects({"theta_solver": given})
    assert settings["theta_solver"] == name
    found = minimize(square, SPACE, theta_solver=given, strategy="joint", **FEW)
    assert found.best["x"] in (0.25, 0.125, 0.45, 0.405)


def test_an_object_serves_one_run_and_then_says_so() -> None:
    solver = Middle()
    minimize(square, SPACE, theta_solver=solver, strategy="joint", **FEW)
    assert solver.asked > 0  # the object itself, no copy: its state can be read
    for used in (solver, copy.deepcopy(solver)):
        with pytest.raises(ConfigurationError, match=r"has served a run.* theta_solver=lambda: …"):
            minimize(square, SPACE, theta_solver=used, strategy="joint", **FEW)


def test_an_object_whose_run_was_refused_is_still_fresh() -> None:
    solver = Middle()
    with pytest.raises(ConfigurationError, match="is no limit"):
        minimize(square, SPACE, theta_solver=solver, constraints=["x"], **FEW)
    minimize(square, SPACE, theta_solver=solver, strategy="joint", **FEW)


def test_a_clone_has_an_object_of_its_own_and_factories_are_shared() -> None:
    solver = Middle()
    search = AutoMLClassifier(theta_solver=solver, z_solver=Middle)
    copied = clone(search)
    assert copied.theta_solver is not solver
    assert copied.z_solver is Middle
    assert search.theta_solver is solver


def test_a_strategy_and_an_executor_may_be_functions() -> None:
    made = []

    def here(work: Any, setting: Any) -> InlineExecutor:
        made.append(type(work).__name__)
        return InlineExecutor(work, setting)

    found = minimize(square, SPACE, strategy=draw, executor=here, **FEW)
    assert made == ["BlackBoxWork"]
    assert len(found.evaluations) == 3
    record = StrategyPlugin(name="drawing", summary="s", search=lambda p, s, o: draw(p, s))
    again = minimize(square, SPACE, strategy=record, executor=InlineExecutor, **FEW)
    assert again.best == found.best


def test_a_strategy_that_fails_leaves_the_best_so_far(caplog: pytest.LogCaptureFixture) -> None:
    def breaks_off(problem: Any, solvers: Any) -> Iterator[Any]:
        yield from evaluate_starts(problem, Book.of(problem))
        raise ZeroDivisionError("no share")

    found = minimize(square, SPACE, strategy=breaks_off, **FEW)
    assert len(found.evaluations) == 1
    assert found.stopped_by.endswith("failed: ZeroDivisionError: no share")
    assert f"{found.stopped_by}. The search ended there" in caplog.text
    with pytest.warns(UserWarning, match="failed: ZeroDivisionError: no share. The search ended"):
        AutoMLClassifier(strategy=breaks_off, grammar="tiny", cv=2, executor="inline", **FEW).fit(
            *load_iris(return_X_y=True)
        )


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"theta_solver": lambda step: Middle(share=step)}, "called without arguments: missing"),
        ({"z_solver": Slotted()}, "takes no attributes"),
        ({"strategy": lambda problem: None}, "cannot be called with problem, solvers: too many"),
        ({"executor": object.__new__(InlineExecutor)}, "was made without the work of the run"),
        ({"components": "twice"}, "components must be a list of ComponentPlugin, not 'twice'"),
        ({"components": iter(())}, "components must be a list, not an iterator"),
        ({"components": [Ridgeless]}, "and <class .*Ridgeless'> is none"),
        ({"constraints": [square]}, "defines 'square', and no limit is on it"),
        ({"constraints": [square, "squared <= 1"]}, "defines 'square', and no limit is on it"),
    ],
)
def test_what_cannot_be_used_is_refused_in_one_line(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as error:
        take_objects(settings)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("setting", ["theta_solver", "z_solver", "strategy", "executor"])
def test_what_is_no_part_at_all_is_told_by_the_checks_of_settings(setting: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{setting} must be a text such as"):
        minimize(square, SPACE, **{setting: 3}, **FEW)


def test_a_record_with_the_name_of_an_installed_one_is_refused() -> None:
    record = ThetaSolverPlugin(name="gp", summary="s", factory=lambda options: Middle())
    with pytest.raises(AutomlAdmmError, match=r"'gp' is provided twice.* Give yours another name"):
        minimize(square, SPACE, theta_solver=record, **FEW)


def test_a_definition_is_used_by_gaps_and_ratios_too() -> None:
    for text in ("square <= 1", "square_gap[sex] <= 0.1", "square_ratio[sex] >= 0.8"):
        settings = take_objects({"constraints": [square, text]})
        assert settings["constraints"] == (text,)
        assert isinstance(settings["extra_plugins"]["constraints"], GivenParts)


def longest(evaluated: Any) -> float:
    return float(len(evaluated.pipeline.steps))


def options(**more: Any) -> dict[str, Any]:
    return {
        "grammar": GRAMMAR,
        "components": [twice()],
        "constraints": [longest, "longest <= 9"],
        "scoring": MetricPlugin(name="right", summary="s", factory=lambda: _right),
        "cv": 2,
        "max_evaluations": 1,
        "random_state": 0,
        **more,
    }


def _right(estimator: Any, X: Any, y: Any) -> float:
    return float(np.mean(estimator.predict(X) == y))


def test_components_of_a_notebook_reach_the_children_and_come_back() -> None:
    """The children of `local` know neither this module nor a lambda, as with a notebook."""
    local = type("Twice", (Ridgeless,), {"__module__": "__main__", "__qualname__": "Twice"})
    X, y = load_iris(return_X_y=True)
    search = AutoMLClassifier(**options(components=[twice(local)])).fit(X, y)
    step = search.best_pipeline_.named_steps["twice"]
    assert type(step).__name__ == "Twice"
    assert search.best_score_ > 0.8
    with pytest.raises(ConfigurationError, match=r"objects of __main__\.Twice, which no other"):
        AutoMLClassifier(**options(components=[twice(local)], work_dir="never")).fit(X, y)
    assert not Path("never").exists()


def test_the_run_folder_tells_what_the_objects_were(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    more = {"work_dir": tmp_path / "run", "executor": InlineExecutor, "theta_solver": Middle}
    search = AutoMLClassifier(**options(**more)).fit(X, y)
    content = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert content["given_objects"] == {
        "theta_solver": f"the class {Middle.__module__}.Middle",
        "executor": "the class automl_admm.execution.inline_executor.InlineExecutor",
        "scoring": "the record 'right'",
        "constraints": "the record 'longest'",
        "components": "the record 'twice'",
    }
    assert content["settings"]["grammar"] == "a text given in Python"
    with pytest.raises(StoreError, match="there is no component 'twice'") as told:
        read_run(tmp_path / "run")
    assert "\n" not in str(told.value)
    assert "read_run(path, components=[…])" in str(told.value)
    run = read_run(tmp_path / "run", components=[twice()])
    assert list(run.evaluations["status"]) == ["success"]
    assert run.validation_score == search.best_score_
    again = clone(search).set_params(warm_start=True, max_evaluations=2).fit(X, y)
    assert again.n_evaluations_ == 2
