"""Any θ-solver goes with any z-solver, ours or a plugin's: every pair on a toy space."""

from __future__ import annotations

from functools import partial
from importlib import metadata
from typing import Any

import pytest

from automl_admm import Choice, Condition, Order, Parameter, SearchSpace, minimize
from automl_admm.core.evaluations import Evaluation
from automl_admm.plugins.loading import load_plugins

TOY = SearchSpace(
    decisions=(
        Choice("shape", ("round", "square", "flat")),
        Choice("finish", ("raw", "oiled"), when=Condition("shape", ("square", "flat"))),
        Order("steps", ("cut", "sand", "glue"), precedence=((0, 1),)),
    ),
    parameters=(
        Parameter("width", 1, 10),
        Parameter("depth", 0.01, 1, log=True, when=Condition("shape", ("round",))),
        Parameter("layers", 1, 6, kind="int", when=Condition("shape", ("flat",))),
        Parameter("wood", 0, 2, kind="category", values=("oak", "ash", "elm")),
    ),
)
# Every branch has its own number of parameters; few evaluations, as some solvers take a second.
EVALUATIONS = 8
SETTING = {"max_evaluations": EVALUATIONS, "random_state": 0, "constraints": ["weight <= 9"]}
OURS = "automl-admm"
# A search of their models takes long: a longer design leaves one to `smac-gp`, and what a model of
# `smac` has found serves for several proposals.
REQUESTS = {
    "smac": "smac:initial=3,retrain_after=3",
    "smac-gp": "smac-gp:initial=7,retrain_after=2",
}
PLUGINS = ("automl-admm-smac", "automl-admm-hyperopt", "automl-admm-optuna")


def keeps_precedence(evaluation: Evaluation) -> bool:
    steps = evaluation.candidate.selection.get("steps")
    return steps is not None and steps.index("cut") < steps.index("sand")


def build(values: dict[str, Any]) -> dict[str, float]:
    """Best when flat, oiled, of ash, glued before it is sanded, with a width of 6."""
    loss = 0.1 * (values["width"] - 6.0) ** 2 + 0.2 * values.get("layers", 3)
    loss += values["shape"] != "flat"
    loss += values.get("finish") != "oiled"
    loss += values["wood"] != "ash"
    loss += values["steps"].index("glue") > values["steps"].index("sand")
    return {"loss": float(loss), "weight": values["width"] * (1.0 + values.get("depth", 0.1))}


def names(kind: str) -> list[str]:
    registry = getattr(load_plugins(), kind)
    known = [record.name for record in registry]
    return [name for name in known if registry.provider(name).split()[0] in (OURS, *PLUGINS)]


def is_missing(theta: str) -> str | None:
    """Why a solver cannot be built here, if it needs what no distribution of ours requires."""
    if theta == "optuna-gp":
        return None if _has("torch") else "optuna-gp needs torch"
    return None


def _has(distribution: str) -> bool:
    return any(found.name == distribution for found in metadata.distributions())


@pytest.fixture(autouse=True)
def quick_smac(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let SMAC look for its next configuration among few: what it proposes need not be good."""
    if _has("automl-admm-smac"):
        from automl_admm_smac import maximizer, trials

        few = partial(maximizer.SettledLocalSearch, max_steps=20, n_steps_plateau_walk=1)
        monkeypatch.setattr(maximizer, "SettledLocalSearch", few)
        monkeypatch.setattr(trials, "CHALLENGERS", {"forest": 200, "process": 200})


@pytest.mark.parametrize("z", names("z_solvers"))
@pytest.mark.parametrize("theta", names("theta_solvers"))
def test_every_theta_solver_goes_with_every_z_solver(theta: str, z: str) -> None:
    if is_missing(theta):
        pytest.skip(str(is_missing(theta)))
    strategy, request = "admm:first=3,step=1", REQUESTS.get(theta, theta)
    result = minimize(build, TOY, theta_solver=request, z_solver=z, strategy=strategy, **SETTING)
    assert len(result.evaluations) == EVALUATIONS
    assert result.feasible
    assert result.constraints["weight"] <= 9.0
    assert len({e.candidate.selection for e in result.evaluations}) > 1
    assert all(map(keeps_precedence, result.evaluations))


@pytest.mark.parametrize("theta", names("theta_solvers"))
def test_every_theta_solver_searches_the_joint_space(theta: str) -> None:
    if is_missing(theta):
        pytest.skip(str(is_missing(theta)))
    request = REQUESTS.get(theta, theta)
    result = minimize(build, TOY, theta_solver=request, strategy="joint", **SETTING)
    assert len(result.evaluations) == EVALUATIONS
    assert len({e.candidate.selection for e in result.evaluations}) > 1
    assert all(map(keeps_precedence, result.evaluations))


@pytest.mark.parametrize("distribution", PLUGINS)
def test_the_table_has_the_solvers_of_a_plugin(distribution: str) -> None:
    if not _has(distribution):
        pytest.skip(f"{distribution} is not installed")
    registry = load_plugins().theta_solvers
    providers = {registry.provider(name).split()[0] for name in names("theta_solvers")}
    assert distribution in providers
