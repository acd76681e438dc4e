"""Evaluations on a share of the rows: asked for by a solver, told to it alone, never the winner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from automl_admm import AutoMLClassifier, Parameter, SearchSpace, hookimpl, minimize
from automl_admm.core.errors import ConfigurationError
from automl_admm.core.space import Array, Candidate
from automl_admm.core.subproblems import AtFidelity, Observation, ThetaSubproblem
from automl_admm.pipelines.cross_validation import FoldRun
from automl_admm.plugins.records import NoOptions, ThetaSolverPlugin
from automl_admm.runs.blackbox import run_black_box
from automl_admm.runs.config import RunConfig

LINE = SearchSpace(parameters=(Parameter("x", 0, 1),))


class Rehearsing:
    """Asks for every point at a quarter first, and for the whole where that was told."""

    def __init__(self, told: list[Observation[Array]]) -> None:
        self.told = told
        self._next: Array | None = None

    def begin(self, subproblem: ThetaSubproblem) -> None:
        self._rng = np.random.default_rng(subproblem.seed)
        self._lowest = subproblem.lowest_fidelity
        self.told.extend(subproblem.history)

    def ask(self, count: int, pending: Sequence[Array]) -> list[Any]:
        if self._next is not None:
            return [self._next][:count]
        return [AtFidelity(self._rng.random(1), self._lowest)][:count]

    def tell(self, observations: Sequence[Observation[Array]]) -> None:
        self.told.extend(observations)
        for observation in observations:
            self._next = observation.point if observation.fidelity < 1.0 else None


class Provider:
    def __init__(self) -> None:
        self.told: list[Observation[Array]] = []

    @hookimpl
    def theta_solvers(self) -> list[ThetaSolverPlugin]:
        return [
            ThetaSolverPlugin(name="rehearsing", summary="twice", factory=self._make),
        ]

    def _make(self, options: NoOptions) -> Rehearsing:
        return Rehearsing(self.told)


def rough(values: dict[str, Any], fidelity: float) -> float:
    """What is learned from a share is always too good to be true."""
    return float((values["x"] - 0.3) ** 2) - (1.0 - fidelity)


def run(strategy: str = "admm") -> tuple[Any, list[Observation[Array]]]:
    provider = Provider()
    config = RunConfig(
        max_evaluations=40,
        theta_solver="rehearsing",
        strategy=strategy,
        executor="inline",
        min_fidelity=0.25,
        extra_plugins={"twice": provider},
    )
    return run_black_box(config, rough, LINE, (), {}), provider.told


@pytest.mark.parametrize("strategy", ["admm", "joint"])
def test_only_whole_evaluations_can_win(strategy: str) -> None:
    result, _ = run(strategy)
    assert {e.candidate.fidelity for e in result.evaluations} == {0.25, 1.0}
    assert min(e.loss for e in result.evaluations) < 0 < result.best.loss
    assert result.best.is_whole


def test_the_solver_that_asked_is_told_and_a_history_has_none() -> None:
    _, told = run()
    fidelities = [observation.fidelity for observation in told]
    assert fidelities.count(0.25) > 5
    whole = [o for o in told if o.fidelity == 1.0]
    assert all(o.objective >= 0 for o in whole)


def test_an_evaluation_on_a_quarter_of_the_rows_takes_a_quarter_of_the_budget() -> None:
    result, _ = run()
    spent = sum(evaluation.candidate.fidelity for evaluation in result.evaluations)
    assert 40 <= spent < 41
    assert len(result.evaluations) > 50


def test_one_point_at_two_fidelities_is_evaluated_twice() -> None:
    result, _ = run()
    thetas = [e.candidate.theta for e in result.evaluations if e.candidate.fidelity < 1.0]
    again = [e for e in result.evaluations if e.is_whole and e.candidate.theta in thetas]
    assert len(again) > 5
    assert len({e.key for e in result.evaluations}) == len(result.evaluations)


@pytest.mark.parametrize("wrong", [0.0, -1.0, 1.5])
def test_a_senseless_least_fidelity_is_refused(wrong: float) -> None:
    with pytest.raises(ConfigurationError, match="least fidelity"):
        minimize(rough, LINE, max_evaluations=1, min_fidelity=wrong)


def test_an_objective_without_low_fidelities_is_called_as_ever() -> None:
    assert minimize(lambda values: values["x"], LINE, max_evaluations=3).loss >= 0.0


def test_a_pipeline_learns_from_a_share_of_the_rows() -> None:
    from automl_admm.runs.prepare.preparation import prepare

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0).astype(int)
    prepared = prepare(RunConfig(grammar="tiny", max_evaluations=1), X, y)
    work, seen = prepared.work, []
    original = work.fit_on
    work.fit_on = lambda c, s, rows, *_: (seen.append(len(rows.y)), original(c, s, rows))[1]  # type: ignore[method-assign]
    start = prepared.grammar.pipelines.space
    candidate = start.candidate(start.complete({}), start.default_theta())
    for fidelity in (1.0, 0.2):
        part = Candidate(candidate.selection, candidate.theta, fidelity)
        FoldRun(work, part, 0, Path()).fit_and_measure(work.splits[0])
    assert seen == [225, 45]


def test_the_estimator_takes_a_least_fidelity() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X[:, 0] > 0).astype(int)
    search = AutoMLClassifier(
        "tiny", max_evaluations=4, min_fidelity=0.5, executor="inline", random_state=0
    )
    assert search.fit(X, y).score(X, y) > 0.8
