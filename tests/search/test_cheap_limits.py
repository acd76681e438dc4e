"""Limits whose values need no evaluation reach the solvers as functions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from automl_admm import (
    AutoMLClassifier,
    Choice,
    Condition,
    Constraint,
    Limit,
    Parameter,
    SearchSpace,
    hookimpl,
    minimize,
)
from automl_admm.core.errors import ConfigurationError, NoSuccessError, UnknownNameError
from automl_admm.core.space import Array
from automl_admm.core.subproblems import Observation, ThetaSubproblem
from automl_admm.plugins import foreign_calls
from automl_admm.plugins.loading import load_plugins
from automl_admm.plugins.records import NoOptions, ThetaSolverPlugin
from automl_admm.runs.blackbox import run_black_box
from automl_admm.runs.config import RunConfig

SPACE = SearchSpace(
    decisions=(Choice("kind", ("thin", "thick")),),
    parameters=(
        Parameter("length", 0, 10),
        Parameter("wall", 1, 5, kind="int", when=Condition("kind", ("thick",))),
    ),
)


def weight(values: dict[str, Any]) -> float:
    return float(values["length"] * values.get("wall", 1))


def objective(values: dict[str, Any]) -> dict[str, float]:
    return {"loss": (values["length"] - 8) ** 2, "weight": weight(values), "bend": 1.0}


class Asking:
    def __init__(self, problems: list[ThetaSubproblem]) -> None:
        self._problems = problems

    def begin(self, subproblem: ThetaSubproblem) -> None:
        self._problems.append(subproblem)
        self._rng = np.random.default_rng(subproblem.seed)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Array]:
        return [self._rng.random(len(self._problems[-1].parameters)) for _ in range(count)]

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        for told in observations:
            cheap = self._problems[-1].cheap
            assert cheap[0] is not None
            assert cheap[0](told.point) == pytest.approx(told.constraints[0])
            assert cheap[1] is None


class Provider:
    def __init__(self) -> None:
        self.problems: list[ThetaSubproblem] = []

    @hookimpl
    def theta_solvers(self) -> list[ThetaSolverPlugin]:
        return [ThetaSolverPlugin(name="asking", summary="asks", factory=self._make)]

    def _make(self, options: NoOptions) -> Asking:
        return Asking(self.problems)


@pytest.mark.parametrize("strategy", ["admm", "joint"])
def test_the_function_of_a_point_gives_what_an_evaluation_measures(strategy: str) -> None:
    provider = Provider()
    config = RunConfig(
        max_evaluations=60,
        theta_solver="asking",
        strategy=strategy,
        executor="inline",
        extra_plugins={"asking": provider},
    )
    limits = ["weight <= 6", "bend <= 2"]
    result = run_black_box(config, objective, SPACE, limits, {"weight": weight})
    assert result.feasible
    assert provider.problems
    assert all(len(problem.cheap) == 2 for problem in provider.problems)


def test_a_cheap_function_without_a_limit_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="wieght"):
        minimize(
            objective,
            SPACE,
            constraints=["weight <= 6"],
            max_evaluations=2,
            cheap={"wieght": weight},
        )


def test_ctpe_makes_use_of_it() -> None:
    result = minimize(
        objective,
        SPACE,
        constraints=["weight <= 6"],
        max_evaluations=40,
        theta_solver="ctpe",
        strategy="joint",
        cheap={"weight": weight},
        random_state=0,
    )
    assert result.constraints["weight"] <= 6.0
    assert result.loss < 10.0


def test_pipelines_that_a_cheap_limit_excludes_are_not_in_the_log_and_do_not_ship() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0).astype(int)
    few = Constraint(Limit("steps", 3), lambda evaluated: len(evaluated.pipeline.steps), cheap=len)
    search = AutoMLClassifier(
        "tiny",
        max_evaluations=10,
        cv=2,
        constraints=[few],
        theta_solver="ctpe",
        executor="inline",
        random_state=0,
    )
    assert len(search.fit(X, y).best_pipeline_.steps) <= 3
    assert search.n_evaluations_ == 10
    assert set(search.cv_results_["status"]) <= {"success", "stopped"}


def test_a_cheap_function_that_fails_at_once_is_named() -> None:
    with pytest.raises(
        ConfigurationError, match=r"cheap function of the limit on 'weight'.*KeyErr"
    ):
        minimize(
            objective,
            SPACE,
            constraints=["weight <= 6"],
            max_evaluations=2,
            cheap={"weight": lambda values: values["no such thing"]},
        )


def hangs(values: Any) -> float:
    while True:
        time.sleep(0.01)


HUNG = (
    r"^the cheap function of the limit on 'weight' failed: "
    r"TimeoutError: it did not come back within [\d.]+ s\. "
)


def test_a_cheap_function_that_hangs_is_left_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foreign_calls, "LEAST_SECONDS", 0.1)
    settings: dict[str, Any] = {"constraints": ["weight <= 6"], "cheap": {"weight": hangs}}
    with pytest.raises(ConfigurationError, match=HUNG):
        minimize(objective, SPACE, time_budget=0.1, **settings)


def test_a_cheap_function_of_pipelines_that_hangs_is_left_when_the_time_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foreign_calls, "LEAST_SECONDS", 0.1)
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40) % 2
    limit = Constraint(Limit("weight", 3), lambda evaluated: 2.0, cheap=hangs)
    search = AutoMLClassifier("tiny", constraints=[limit], time_budget=1, cv=2, executor="inline")
    with pytest.raises(ConfigurationError, match=HUNG):
        search.fit(X, y)


class Stopped(BaseException):
    """A plain one, which passes by `except Exception`."""


def test_a_cheap_function_that_raises_no_exception_is_named_or_unknown() -> None:
    settings: dict[str, Any] = {"constraints": ["weight <= 6"], "max_evaluations": 6}
    called: list[int] = []

    def stops(values: dict[str, Any]) -> float:
        called.append(1)
        if len(called) > allowed:
            raise Stopped
        return weight(values)

    allowed = 0
    with pytest.raises(ConfigurationError, match=r"on 'weight' failed: .*it raised Stopped"):
        minimize(objective, SPACE, cheap={"weight": stops}, **settings)
    called.clear()
    allowed = 3
    found = minimize(objective, SPACE, cheap={"weight": stops}, **settings)
    assert (found.stopped_by, len(found.evaluations)) == ("evaluations", 6)


def test_a_cheap_function_that_fails_now_and_then_costs_no_solver_its_place(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def moody(values: dict[str, Any]) -> float:
        if values["length"] > 7:
            raise ValueError("too long for me")
        return weight(values)

    minimize(
        objective,
        SPACE,
        constraints=["weight <= 6"],
        max_evaluations=30,
        theta_solver="ctpe",
        cheap={"weight": moody},
        random_state=0,
    )
    assert "random proposals" not in caplog.text


def heavy(values: dict[str, Any]) -> float:
    return 9.0 if values["kind"] == "thick" else values["length"]


@pytest.mark.parametrize("strategy", ["admm", "joint"])
@pytest.mark.parametrize("theta_solver", ["gp", "ctpe", "random"])
def test_what_a_cheap_limit_excludes_is_neither_evaluated_nor_counted(
    strategy: str, theta_solver: str
) -> None:
    evaluated: list[float] = []

    def measured(values: dict[str, Any]) -> dict[str, float]:
        evaluated.append(heavy(values))
        return {"loss": abs(values["length"] - 8), "heavy": evaluated[-1]}

    result = minimize(
        measured,
        SPACE,
        constraints=["heavy <= 6"],
        max_evaluations=30,
        theta_solver=theta_solver,
        z_solver="random",
        strategy=strategy,
        executor="inline",
        cheap={"heavy": heavy},
        random_state=0,
    )
    assert len(evaluated) == len(result.evaluations) == 30
    assert max(evaluated) <= 6.0
    assert result.loss < 2.5


SOLVERS = load_plugins()


@pytest.mark.parametrize(
    "solver",
    [
        *({"z_solver": record.name, "theta_solver": "random"} for record in SOLVERS.z_solvers),
        *(
            {"theta_solver": name, "strategy": strategy}
            for name in ("tpe", "trust-region", "hyperopt", "optuna")
            for strategy in ("admm", "joint")
            if name in SOLVERS.theta_solvers
        ),
    ],
    ids=lambda given: "-".join(given.values()),
)
def test_every_solver_goes_on_where_a_cheap_limit_excludes_most(
    solver: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Three of the five kinds are excluded altogether; of another limit nothing is known before."""
    kinds = ("a", "b", "c", "d", "e")
    space = SearchSpace((Choice("kind", kinds),), (Parameter("x", 0, 1), Parameter("y", 0, 1)))

    def dear(values: dict[str, Any]) -> float:
        return float(kinds.index(values["kind"])) + (values["x"] > 0.7)

    result = minimize(
        lambda v: {"loss": v["x"] + v["y"], "dear": dear(v), "sum": v["x"] + v["y"]},
        space,
        constraints=["dear <= 1", "sum >= 0.3"],
        max_evaluations=24,
        cheap={"dear": dear},
        random_state=0,
        **solver,
    )
    assert len(result.evaluations) == 24
    assert all(evaluation.constraints[0] <= 1.0 for evaluation in result.evaluations)
    assert result.feasible
    assert "random proposals" not in caplog.text


@pytest.mark.parametrize("strategy", ["admm", "joint"])
def test_a_space_that_is_excluded_altogether_ends_with_the_limit(strategy: str) -> None:
    with pytest.raises(NoSuccessError, match=r"nothing was evaluated: all .* by 'weight <= -1'"):
        minimize(
            objective,
            SPACE,
            constraints=["weight <= -1"],
            max_evaluations=30,
            theta_solver="random",
            z_solver="random",
            strategy=strategy,
            cheap={"weight": weight},
        )
