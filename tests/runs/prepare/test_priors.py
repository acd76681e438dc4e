"""Priors of the solvers: what they learn of other tables, who is given them, and who is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

from automl_admm import AutoMLClassifier
from automl_admm.core.space import Candidate, Choice, Condition, Order, Parameter, SearchSpace
from automl_admm.report.sections.reproduction import measure
from automl_admm.report.view import read_view
from automl_admm.runs.config import RunConfig
from automl_admm.runs.prepare.preparation import prepare
from automl_admm.runs.prepare.priors import learn_priors

SPACE = SearchSpace(
    (
        Choice("start", ("raw", "steps")),
        Order("start.order", ("a", "b"), when=Condition("start", ("steps",))),
        Choice("start.model", ("tree", "line"), when=Condition("start", ("steps",))),
    ),
    (
        Parameter("start.raw.tree.depth", 0, 10, when=Condition("start", ("raw",))),
        Parameter("start.model.tree.depth", 0, 10, when=Condition("start.model", ("tree",))),
        Parameter("start.model.tree.never", 0, 10, when=Condition("start.model", ("tree",))),
        Parameter("start.model.line.C", 0, 10, when=Condition("start.model", ("line",))),
    ),
)
SMALL = """
%import components (impute, standard_scaler, quantile_transformer, pca)
%import components (logistic_regression, gaussian_nb, qda, k_neighbors)

start: impute scaler? pca? estimator
scaler: standard_scaler | quantile_transformer
estimator: logistic_regression | gaussian_nb | qda | k_neighbors
"""
TRUSTING = {"theta_solver": "gp:trust=10", "z_solver": "bo:trust=10"}


def candidate(model: str, place: float) -> Candidate:
    picks = {"start": "raw"} if model == "raw" else {"start": "steps", "start.model": model}
    theta = np.full(len(SPACE.parameters), 0.5)
    theta[[0, 1, 3]] = place
    return SPACE.candidate(SPACE.complete(picks), theta)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(80, 5, random_state=0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("grammar") / "small.lark"
    path.write_text(SMALL, "utf-8")
    return path


def test_an_arm_is_as_good_as_its_pipelines_are_in_the_mean() -> None:
    regrets = np.array([[0.0, 0.8], [0.4, 0.2], [1.0, np.nan]])
    derived = {0: candidate("tree", 0.2), 1: candidate("tree", 0.7), 2: candidate("line", 0.5)}
    found = learn_priors(regrets, np.array([0.75, 0.25]), derived, SPACE)
    tree, line = found.arms["start.model", "tree"], found.arms["start.model", "line"]
    assert (tree.good, tree.bad) == pytest.approx(
        (0.75 * 0.8 + 0.25 * 0.5, 0.75 * 0.2 + 0.25 * 0.5)
    )
    # The second table does not have it: it counts neither way.
    assert (line.good, line.bad) == pytest.approx((0.0, 0.75))
    # An order is no arm, and an alternative that was never tried has no prior.
    assert {decision for decision, _ in found.arms} == {"start", "start.model"}
    assert ("start", "raw") not in found.arms


def test_a_setting_counts_where_it_was_the_best_of_its_component() -> None:
    regrets = np.array([[0.0, 0.5, 1.0], [0.3, 0.1, 1.0], [0.2, 0.9, 0.0]])
    derived = {0: candidate("tree", 0.2), 1: candidate("tree", 0.7), 2: candidate("line", 0.5)}
    found = learn_priors(regrets, np.array([0.5, 0.3, 0.2]), derived, SPACE)
    settings = found.settings["start.model.tree"]
    # The third table tells nothing: both are bad there. `never` never differed.
    assert [(dict(one.places), one.weight) for one in settings] == [
        ({"start.model.tree.depth": 0.2}, 0.5),
        ({"start.model.tree.depth": 0.7}, 0.3),
    ]
    # One setting alone does not tell that another is worse.
    assert "start.model.line" not in found.settings
    (points,) = found.within([SPACE.parameters[3], SPACE.parameters[1]])
    assert (points.axes, points.points.tolist()) == ((1,), [[0.2], [0.7]])
    assert points.weights.tolist() == pytest.approx([0.625, 0.375])


def test_equal_settings_behind_different_steps_are_one_and_share_a_table() -> None:
    regrets = np.array([[0.0], [0.0], [0.0]])
    derived = {0: candidate("tree", 0.2), 1: candidate("tree", 0.2), 2: candidate("tree", 0.7)}
    found = learn_priors(regrets, np.ones(1), derived, SPACE).settings["start.model.tree"]
    assert [one.weight for one in found] == pytest.approx([2 / 3, 1 / 3])


def test_solvers_that_do_not_take_them_are_given_none(data: Any, small: Path) -> None:
    prepared = prepare(RunConfig(small, max_evaluations=60), *data)
    priors = prepared.problem.priors
    assert priors.arms["estimator", "gaussian_nb"].mean < 1.0
    assert priors.settings
    assert not prepared.plan.taken(priors).arms
    assert not prepared.plan.taken(priors).settings
    half = prepare(RunConfig(small, max_evaluations=60, z_solver="cmab:trust=4"), *data).plan
    assert half.taken(priors).arms == priors.arms
    assert not half.taken(priors).settings


@pytest.mark.parametrize(
    "settings",
    [
        {"portfolio": False},
        {"starts": ("impute() gaussian_nb()",)},
        {"grammar": "tiny"},
    ],
)
def test_where_there_is_no_portfolio_there_are_none(
    data: Any, small: Path, settings: dict[str, Any]
) -> None:
    config = RunConfig(**{"grammar": small, "max_evaluations": 60, **TRUSTING, **settings})
    priors = prepare(config, *data).problem.priors
    assert (priors.arms, priors.settings, priors.tables) == ({}, {}, 0)


def test_a_run_tells_them_and_a_resumed_one_has_the_same(
    data: Any, small: Path, tmp_path: Path
) -> None:
    settings = {"executor": "inline", "random_state": 0, "cv": 2, "ensemble": False, **TRUSTING}
    count = {"max_evaluations": 15}
    folder = tmp_path / "run"
    AutoMLClassifier(small, max_evaluations=14, work_dir=folder, **settings).fit(*data)
    first = json.loads((folder / "run.json").read_text("utf-8"))["priors"]
    assert first["tables"] == 22
    assert first["alternatives"] > 5
    assert first["settings"] > 2
    more = AutoMLClassifier(small, work_dir=folder, warm_start=True, **count, **settings).fit(*data)
    assert json.loads((folder / "run.json").read_text("utf-8"))["priors"] == first
    fresh = AutoMLClassifier(small, **count, **settings).fit(*data)
    assert more.cv_results_["pipeline"] == fresh.cv_results_["pipeline"]
    said = measure(read_view(folder)).priors
    assert said is not None
    assert said.startswith("From 22 other tables (learned on ")
