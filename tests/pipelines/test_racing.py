"""An evaluation that is clearly behind stops early; one that may win never does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from automl_admm.core.evaluations import Evaluation, Status
from automl_admm.core.space import Candidate
from automl_admm.pipelines.racing import is_behind
from automl_admm.runs.config import RunConfig
from automl_admm.runs.pipelines import run_pipelines
from automl_admm.runs.prepare.preparation import Preparation, prepare
from automl_admm.runs.prepare.race import race_against

GRAMMAR = """
%import components (gaussian_nb, decision_tree)
start: estimator
estimator: gaussian_nb | decision_tree
"""


def prepared_for(tmp_path: Path, **more: Any) -> Preparation:
    path = tmp_path / "grammar.lark"
    path.write_text(GRAMMAR)
    settings = {
        "executor": "inline",
        "theta_solver": "random",
        "z_solver": "random",
        "max_evaluations": 2,
        "starts": ("gaussian_nb()", "decision_tree(max_depth=1)"),
    }
    return prepare(
        RunConfig(grammar=path, **(settings | more)), *load_breast_cancer(return_X_y=True)
    )


def test_a_winner_is_seldom_stopped() -> None:
    """Pipelines as good as the rival: at each look, at most one of twenty is given up."""
    rng, given_up = np.random.default_rng(0), 0
    for _ in range(2000):
        hardness = 0.3 + 0.05 * rng.normal(size=4)
        rival, own = (hardness + 0.02 * rng.normal(size=4) for _ in range(2))
        is_better = own.mean() <= rival.mean()
        given_up += is_better and any(is_behind(own[:done], rival) for done in (1, 2, 3))
    assert given_up / 2000 < 0.05


def test_a_hopeless_one_is_stopped_after_the_first_fold() -> None:
    assert is_behind([0.5], [0.20, 0.22, 0.18, 0.21])
    assert not is_behind([0.15], [0.20, 0.22, 0.18, 0.21])


@pytest.mark.parametrize("rival", [[], [0.2], [0.2, 0.2, 0.2]])
def test_without_a_spread_nothing_is_stopped(rival: list[float]) -> None:
    assert not is_behind([0.9], rival)


def test_all_folds_are_run_by_the_end() -> None:
    assert not is_behind([0.9, 0.9], [0.2, 0.3])


def test_one_that_is_behind_is_measured_on_fewer_folds_and_told_so(tmp_path: Path) -> None:
    result = run_pipelines(prepared_for(tmp_path)).result
    first, second = sorted(result.evaluations, key=lambda one: one.number)
    assert len(first.details["scores"]) == 4
    assert (second.status, second.folds_left) == (Status.SUCCESS, 3)
    assert second.message == "clearly behind, stopped after 1 of 4 folds"
    assert second.loss > first.loss
    assert not second.is_ranked
    assert result.best == first


def test_its_forecast_is_near_the_loss_of_all_folds(tmp_path: Path) -> None:
    work = prepared_for(tmp_path).work
    candidate = next(iter(_starts(tmp_path)))
    whole = work.evaluate(candidate, 0, tmp_path)
    gaps = (0.1, 0.11, 0.09, 0.1)
    rival = [score + gap for score, gap in zip(whole.details["scores"], gaps, strict=True)]
    raced = work.evaluate(candidate, 0, tmp_path, rival)
    assert raced.details["folds_left"] == 3
    assert raced.loss == pytest.approx(whole.loss, abs=0.011)
    rows = np.load(tmp_path / "predictions.npz")["rows"]
    assert sorted(rows) == sorted(work.splits[0][1])


def test_one_that_is_not_behind_is_measured_as_without_a_race(tmp_path: Path) -> None:
    work = prepared_for(tmp_path).work
    candidate = next(iter(_starts(tmp_path)))
    whole = work.evaluate(candidate, 0, tmp_path)
    lower = [score - 0.01 for score in whole.details["scores"]]
    for rival in (lower, lower[:2], ()):
        raced = work.evaluate(candidate, 0, tmp_path, rival)
        assert (raced.loss, raced.details["scores"]) == (whole.loss, whole.details["scores"])
        assert "folds_left" not in raced.details


def _starts(tmp_path: Path) -> tuple[Candidate, ...]:
    return prepared_for(tmp_path).problem.starts


def ended(**details: Any) -> Evaluation:
    scores = {"scores": [0.9, 0.91, 0.92, 0.9]}
    return Evaluation(
        1,
        "k",
        Candidate((), ()),
        Status.SUCCESS,
        loss=0.1,
        constraints=(1.0,),
        details=scores | details,
    )


def test_nobody_races_one_outside_the_limits_or_for_a_certificate(tmp_path: Path) -> None:
    limited = prepared_for(tmp_path, constraints=("size_mb <= 0.5",))
    assert race_against(limited, None) == {}
    assert race_against(limited, ended()) == {}
    inside = replace(ended(), constraints=(0.1,))
    assert len(race_against(limited, inside)["rival"]) == 4
    certified = prepared_for(tmp_path, constraints=("fpr <= 0.5",), certify=0.9)
    assert race_against(certified, replace(ended(), constraints=(0.1,))) == {}
    decided = prepared_for(tmp_path, constraints=("fpr <= 0.5",))
    assert race_against(decided, replace(ended(), constraints=(0.1,))) == {}


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    result = run_pipelines(prepared_for(tmp_path, racing=False)).result
    assert [len(one.details["scores"]) for one in result.evaluations] == [4, 4]


def rare(tmp_path: Path, **more: Any) -> Preparation:
    """One row in eight is positive: at a threshold of half hardly any is called so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    y = np.where(X[:, 0] + 1.5 * rng.normal(size=800) > 2.1, "yes", "no")
    path = tmp_path / "grammar.lark"
    path.write_text(GRAMMAR)
    config = RunConfig(
        grammar=path, executor="inline", positive="yes", starts=("gaussian_nb()",), **more
    )
    return prepare(config, X, y)


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "f1"])
def test_one_whose_threshold_is_chosen_later_races_at_its_best_one(
    tmp_path: Path, scoring: str
) -> None:
    """A rival that is this very pipeline has its scores at the threshold chosen for it."""
    prepared = rare(tmp_path, scoring=scoring)
    (candidate,) = prepared.problem.starts[:1]
    whole = prepared.work.evaluate(candidate, 0, tmp_path)
    assert whole.details["default_score"] < np.mean(whole.details["scores"]) - 0.02
    raced = prepared.work.evaluate(candidate, 0, tmp_path, whole.details["scores"])
    assert "folds_left" not in raced.details
    assert (raced.loss, raced.details["scores"]) == (whole.loss, whole.details["scores"])


def test_one_that_is_behind_at_every_threshold_is_stopped(tmp_path: Path) -> None:
    prepared = rare(tmp_path, scoring="balanced_accuracy")
    (candidate,) = prepared.problem.starts[:1]
    raced = prepared.work.evaluate(candidate, 0, tmp_path, (0.96, 0.97, 0.95, 0.96))
    assert raced.details["folds_left"] == 3
